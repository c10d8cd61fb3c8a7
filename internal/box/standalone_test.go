package box

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// An app on its own keeps a record that its own death does not spoil: what it
// had answered, and what it had only taken.
func TestStandaloneAppRecords(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record")
	p, err := StartApp(t.Context(), AppOptions{Version: "v9", Instance: "one", Latency: time.Millisecond, OnTerm: TermIgnore, Record: record})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill(); <-p.Exited() })

	ask := func(c rawConn, path, id string) {
		t.Helper()
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: app\r\nX-Cutwatch-Id: %s\r\n\r\n", path, id); err != nil {
			t.Fatal(err)
		}
	}
	c := dial(t, p.Addr())
	ask(c, "/", "a")
	if r, err := c.read(); err != nil || r.StatusCode != http.StatusOK || r.Header.Get("X-Version") != "v9" || r.Header.Get("X-Instance") != "one" {
		t.Fatalf("answer %+v, %v", r, err)
	}
	events := func() (list []string) {
		data, err := os.ReadFile(record)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			list = append(list, line[:strings.LastIndexByte(line, ' ')])
		}
		return list
	}
	// An answer is in the record once it is written, which its client may see first.
	eventually(t, "the answer is in the record", func() bool { return len(events()) == 3 })
	ask(dial(t, p.Addr()), "/slow?seconds=60", "b")
	p.Terminate() // is ignored
	eventually(t, "the slow request is there", func() bool { return len(events()) == 4 })
	p.Kill()
	<-p.Exited()
	if diff := cmp.Diff([]string{"took a", "answering a", "answered a", "took b"}, events()); diff != "" {
		t.Errorf("record, want (-) and got (+):\n%s", diff)
	}
}

func TestStandaloneAppWithoutItsRecord(t *testing.T) {
	_, err := StartApp(t.Context(), AppOptions{Version: "v", Instance: "i", OnTerm: TermExit, Record: filepath.Join(t.TempDir(), "no", "folder")})
	if err == nil || !strings.Contains(err.Error(), "record") {
		t.Errorf("got %v, want an error that names the record", err)
	}
}
