package markdown

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"regexp"

	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// State is the headline of the run that a comment tells of; the comment carries
// it for the next one.
type State = sample.PastRun

// A comment's first line is <!-- cutwatch:v1 key=KEY state=STATE -->. KEY is the
// beginning of a hash, since what a key is made of (names of workflows and jobs)
// may hold anything; STATE is JSON in base64, whose alphabet cannot end an HTML
// comment.
var markerLine = regexp.MustCompile(`^<!-- cutwatch:v([0-9]{1,3}) key=([0-9a-f]{32})(?: state=([A-Za-z0-9+/=]*))? -->`)

// marker is the first line of a comment.
func marker(key string, s State) string {
	data, err := json.Marshal(s)
	if err != nil { // a number that JSON cannot hold: the next comment goes without a comparison
		data = nil
	}
	return "<!-- cutwatch:v1 key=" + keyHash(key) + " state=" + base64.StdEncoding.EncodeToString(data) + " -->"
}

func keyHash(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// ParseState looks for our marker at the beginning of a comment: ours tells
// whether it is there with that key, of this or another version. The state is
// nil where it cannot be read. Anyone who may edit comments can have written it:
// it is good for figures beside ours, and for no decision.
func ParseState(body, key string) (s *State, ours bool) {
	m := markerLine.FindStringSubmatch(body)
	if m == nil || m[2] != keyHash(key) {
		return nil, false
	}
	if m[1] != "1" {
		return nil, true
	}
	return decodeState(m[3]), true
}

// maxState is the longest state that is read, in base64.
const maxState = 2048

func decodeState(text string) *State {
	if len(text) > maxState {
		return nil
	}
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var s State
	if dec.Decode(&s) != nil || !report.Sane(s) {
		return nil
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil // more than one value
	}
	return &s
}
