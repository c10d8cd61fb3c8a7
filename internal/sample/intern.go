package sample

import "strings"

// maxInterned bounds an interner: what it does not know any more is kept as it comes.
const maxInterned = 4096

// interner keeps one copy of a text that comes again and again, so that a
// million samples in memory do not hold a million copies of "HTTP/1.1".
type interner map[string]string

func (in interner) text(s string) string {
	if kept, ok := in[s]; ok {
		return kept
	}
	if len(in) < maxInterned {
		s = strings.Clone(s)
		in[s] = s
	}
	return s
}

func (in interner) line(l *Line) {
	s := l.Sample
	if s == nil {
		return
	}
	s.Lane = Lane(in.text(string(s.Lane)))
	s.Class = Class(in.text(string(s.Class)))
	for _, field := range []*string{&s.Remote, &s.Proto, &s.Version, &s.Instance, &s.By, &s.Edge, &s.Reconnect} {
		if *field != "" {
			*field = in.text(*field)
		}
	}
}
