package digitalocean

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A list of deployments that does not come is given up as soon as all else is
// before the run, and that it is waited for is said, once.
func TestPrepareSaysThatItWaits(t *testing.T) {
	s := source(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/deployments") {
			http.Error(w, `{"id":"server_error","message":"oops `+secret+`"}`, http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, `{"apps":[{"id":"1","spec":{"name":"shop"}}]}`)
	}, nil)
	s.api.pace.least, s.api.pace.most = time.Millisecond, 10*time.Millisecond
	s.api.pace.lost, s.api.pace.prepare, s.api.pace.giveUp = 20*time.Millisecond, 200*time.Millisecond, time.Hour
	var said []string
	s.Note = func(line string) { said = append(said, line) }
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := s.Prepare(ctx)
	if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "list the app's deployments (status 500: oops ***") {
		t.Errorf("it ends with %v, want the API's error before the test's limit", err)
	}
	if len(said) != 1 || !strings.Contains(said[0], "waiting for DigitalOcean's API") || !strings.Contains(said[0], "oops ***") {
		t.Errorf("said %q, want one line with the API's error and without the token", said)
	}
}
