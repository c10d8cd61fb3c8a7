package config

import (
	"strconv"
	"strings"
)

// UnmarshalText parses a comma list of codes and ranges ("200,204,300-304"); "" is the empty set.
func (s *StatusSet) UnmarshalText(text []byte) error {
	given := strings.TrimSpace(string(text))
	if given == "" {
		*s = nil
		return nil
	}
	var parsed StatusSet
	for item := range strings.SplitSeq(given, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(item), "-")
		if !isRange {
			high = low
		}
		r := StatusRange{Low: statusCode(low), High: statusCode(high)}
		if r.Low == 0 || r.High == 0 || r.Low > r.High {
			return problemf("%s is not a set of status codes; write codes from 100 to 599, like 200-399 or 200,204", quote(given))
		}
		parsed = append(parsed, r)
	}
	*s = parsed
	return nil
}

// statusCode is 0 where s is no status code.
func statusCode(s string) int {
	code, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || code < 100 || code > 599 {
		return 0
	}
	return code
}

// MarshalText prints the set as it is parsed.
func (s StatusSet) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String prints the set as it is parsed.
func (s StatusSet) String() string {
	items := make([]string, len(s))
	for i, r := range s {
		items[i] = strconv.Itoa(r.Low)
		if r.High != r.Low {
			items[i] += "-" + strconv.Itoa(r.High)
		}
	}
	return strings.Join(items, ",")
}
