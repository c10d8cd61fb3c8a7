package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cutwatch/cutwatch/internal/githubapi/githubtest"
)

// sideBySide is how many scripts run at once, unless -parallel says otherwise:
// they wait nearly all of the time, whatever the number of processors.
const sideBySide = "6"

// The test binary is also the programs of the scripts.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", sideBySide); err != nil { // before the flags are parsed
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"cutwatch": main,
		"swap":     swap,
		"limited":  limited,
		"redeploy": redeploy,
	})
}

// swap is `swap CONTROL`: a deploy.
func swap() {
	version, err := changeVersion(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("swapped to", version)
}

// limited is `limited BYTES COMMAND ...`: COMMAND cannot write files longer than that.
func limited() {
	size, err := strconv.ParseUint(os.Args[1], 10, 64)
	if err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size})
	}
	var path string
	if err == nil {
		path, err = exec.LookPath(os.Args[2])
	}
	if err == nil {
		err = syscall.Exec(path, os.Args[2:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(99)
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Values[serviceKey{}] = new(service)
			env.Values[githubKey{}] = new(*githubtest.Server)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve":       serve,
			"connections": connections,
			"exits":       exits,
			"judges":      judges,
			"faster":      faster,
			"isjson":      isJSON,
			"platform":    servePlatform,
			"keepssecret": keepssecret,
			"github":      startGitHub,
			"comments":    comments,
			"deployment":  deployment,
			"changed":     changed,
		},
	})
}

// serviceKey is where a script keeps its service.
type serviceKey struct{}

// serve is `serve [KIND]`: it starts the script's service and sets URL and CONTROL.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	kind := ""
	if len(args) > 0 {
		kind = args[0]
	}
	s := ts.Value(serviceKey{}).(*service)
	ts.Check(s.start(kind))
	ts.Defer(s.stop)
	ts.Setenv("URL", s.url)
	ts.Setenv("CONTROL", s.control)
}

// connections is `connections N` or `! connections 0`: how many were opened to the service.
func connections(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	if got := ts.Value(serviceKey{}).(*service).opened.Load(); (got == want) == neg {
		ts.Fatalf("%d connections were opened to the service", got)
	}
}

// exits is `exits CODE PROGRAM ARGS ...`: exec that wants that exit code, or
// one of several: `exits 0|3 ...`.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if code := exitCode(ts, args[1:]); slices.Contains(strings.Split(args[0], "|"), strconv.Itoa(code)) == neg {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// judges is exits for a verdict that needs a prober with time to measure. Where
// Cutwatch itself says that it had none, on a busy machine, it is done again.
func judges(ts *testscript.TestScript, neg bool, args []string) {
	const attempts = 5
	for i := range attempts {
		code := exitCode(ts, args[1:])
		if strconv.Itoa(code) == args[0] {
			return
		}
		if i == attempts-1 || !strings.Contains(ts.ReadFile("stdout"), "prober-trouble") {
			ts.Fatalf("exit code %d, want %s", code, args[0])
		}
	}
}

func exitCode(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

// faster is `faster DURATION COMMAND ...`: a command of the script that takes
// less than that.
func faster(ts *testscript.TestScript, neg bool, args []string) {
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	from := time.Now()
	exits(ts, false, args[1:])
	if took := time.Since(from); (took < limit) == neg {
		ts.Fatalf("took %v", took)
	}
}

// isJSON is `isjson FILE`: one JSON document and nothing else.
func isJSON(ts *testscript.TestScript, neg bool, args []string) {
	if json.Valid([]byte(ts.ReadFile(args[0]))) == neg {
		ts.Fatalf("%s: valid JSON is %v", args[0], neg)
	}
}
