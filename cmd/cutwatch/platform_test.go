package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cutwatch/cutwatch/internal/box/appapi"
)

// secretToken is the token of the scripts' platform.
const secretToken = "dop_v1_9c2e6b7f41d85a30"

// appOfScripts is the id of its app.
const appOfScripts = "c2a93513-8d9b-4223-9d61-5e7272c81cf5"

// platformStep is between two phases of a deployment on the scripts' platform.
const platformStep = 300 * time.Millisecond

// servePlatform is `platform [KIND]`: App Platform's API over the script's service,
// whose app is "shop". It sets DIGITALOCEAN_API_URL and DIGITALOCEAN_ACCESS_TOKEN.
// Its deployments succeed unless KIND is "failing"; it refuses the token where
// KIND is "refusing", and answers the request to deploy with an error that
// repeats the token where it is "echoing" (nothing is done) or "losing" (it is).
func servePlatform(ts *testscript.TestScript, neg bool, args []string) {
	kind := ""
	if len(args) > 0 {
		kind = args[0]
	}
	s := ts.Value(serviceKey{}).(*service)
	o := appapi.Options{App: appapi.App{ID: appOfScripts, Name: "shop", LiveURL: s.url, DrainSeconds: 30}, Token: secretToken, Deploy: played(s.control, kind)}
	if kind == "refusing" {
		o.Token = "another"
	}
	a, err := appapi.Start(o)
	ts.Check(err)
	ts.Defer(func() { a.Close() }) //nolint:errcheck // the script is over
	echo := appapi.Fault{Method: http.MethodPost, Status: http.StatusBadRequest, Message: "no deploy for " + secretToken}
	switch kind {
	case "losing":
		echo.Status, echo.Done = http.StatusServiceUnavailable, true
		fallthrough
	case "echoing":
		a.Break(echo)
	}
	ts.Setenv("DIGITALOCEAN_API_URL", a.URL())
	ts.Setenv("DIGITALOCEAN_ACCESS_TOKEN", secretToken)
}

// played plays the platform's deployments: the service changes its version.
func played(control, kind string) func(context.Context, *appapi.Deployment) {
	return func(_ context.Context, d *appapi.Deployment) {
		for _, phase := range []string{appapi.Building, appapi.Deploying} {
			time.Sleep(platformStep)
			d.Enter(phase)
		}
		time.Sleep(platformStep)
		if kind == "failing" {
			d.Fail("DeployContainerExitNonZero", "the container of "+secretToken+" exited with 1")
			return
		}
		if _, err := changeVersion(control); err != nil {
			d.Fail("NoControl", err.Error())
			return
		}
		d.Enter(appapi.Active)
	}
}

// redeploy is a deploy that only asks the scripts' platform for it, as many do.
func redeploy() {
	r, err := http.NewRequest(http.MethodPost, os.Getenv("DIGITALOCEAN_API_URL")+"v2/apps/"+appOfScripts+"/deployments", strings.NewReader(`{"force_build":false}`))
	if err == nil {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("DIGITALOCEAN_ACCESS_TOKEN"))
		var resp *http.Response
		if resp, err = http.DefaultClient.Do(r); err == nil && resp.StatusCode != http.StatusOK {
			err = errors.New(resp.Status)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// keepssecret is `keepssecret CODE PROGRAM ARGS ...`: exits, of a program that
// shows the platform's token nowhere: not in what it prints or writes to files
// of the script's folder, and not in the list of processes.
func keepssecret(ts *testscript.TestScript, neg bool, args []string) {
	w := watchProcesses(secretToken)
	exits(ts, neg, args)
	if seen := w.stop(); seen != "" {
		ts.Fatalf("the token is among the arguments of a process: %s", seen)
	}
	for _, stream := range []string{"stdout", "stderr"} {
		if strings.Contains(ts.ReadFile(stream), secretToken) {
			ts.Fatalf("the token is in %s", stream)
		}
	}
	checked, err := searchFiles(ts.MkAbs("."), secretToken)
	ts.Check(err)
	ts.Logf("the token is in none of %d files", checked)
}

// processes looks at the arguments of all processes again and again.
type processes struct {
	secret string
	done   chan struct{}
	wg     sync.WaitGroup
	seen   string
	looks  int
}

func watchProcesses(secret string) *processes {
	w := &processes{secret: secret, done: make(chan struct{})}
	w.wg.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			w.look()
			select {
			case <-tick.C:
			case <-w.done:
				return
			}
		}
	})
	return w
}

func (w *processes) look() {
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		panic(err) // the pattern is wrong
	}
	for _, path := range lines {
		line, err := os.ReadFile(path) // of one that is gone: nothing
		if err == nil && strings.Contains(string(line), w.secret) {
			w.seen = path
		}
	}
	w.looks++
}

// stop returns where the secret was seen, "" for nowhere.
func (w *processes) stop() string {
	close(w.done)
	w.wg.Wait()
	return w.seen
}

// searchFiles looks for a secret in every file below a folder, in what is
// compressed as well. It returns how many it searched.
func searchFiles(dir, secret string) (n int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(path, ".txtar") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		if strings.HasSuffix(path, ".zst") {
			text = append(text, unpacked(text)...)
		}
		if strings.Contains(string(text), secret) {
			return fmt.Errorf("the token is in %s", path)
		}
		return nil
	})
	return n, err
}

// unpacked is what can be read of a stream that may be cut short.
func unpacked(packed []byte) []byte {
	r, err := zstd.NewReader(strings.NewReader(string(packed)))
	if err != nil {
		return nil
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return text
}
