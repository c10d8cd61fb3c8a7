package probe

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// A service that sends the request's secrets back, everywhere at once, gets none
// of them into the record.
func TestSecretsThatAreSentBackAreNotRecorded(t *testing.T) {
	const secret = "s3cr3tTOKENvalue"
	url := server(t, func(c *net.TCPConn) {
		requests(c, func(_ int, req *http.Request) (string, bool) {
			got := req.Header.Get("Authorization")
			body := strings.Repeat("x", maxText-len(got)-4) + got // cut within the secret
			return fmt.Sprintf("HTTP/1.1 503 no %[1]s\r\nX-Version: %[1]s\r\nServer: %[1]s\r\nLocation: /%[1]s\r\nContent-Length: %[2]d\r\n\r\n%[3]s",
				got, len(body), body), true
		})
	})
	p, rec := newProbe(t, settings{"url": url, "headers": "Authorization: Bearer " + secret})
	runUntil(t, p, func() bool { return len(rec.samples("")) >= 5 })
	seen := 0
	for _, s := range rec.samples("") {
		line, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(line), secret[:8]) {
			t.Fatalf("the record holds the secret: %s", line)
		}
		if s.Version == mark && s.Headers["server"] == mark && strings.Contains(s.Excerpt, "x") {
			seen++
		}
	}
	if seen == 0 {
		t.Error("no answer was recorded as the server gives it")
	}
}
