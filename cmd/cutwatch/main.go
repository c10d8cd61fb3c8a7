// Cutwatch answers one question with evidence: did this deploy drop a request?
//
// Exit codes: 0 pass, 1 fail, 2 bad input, 3 inconclusive, 4 the deploy itself
// failed, 70 a fault of Cutwatch.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cutwatch/cutwatch/internal/box"
	"github.com/cutwatch/cutwatch/internal/deploy"
)

// Version is what --version prints and what samples and results are marked with.
// A release sets it by the linker (-X main.Version=…).
var Version = "0.1.0"

// Exit codes that are not a verdict's own.
const (
	exitBadInput     = 2
	exitInconclusive = 3
	exitFault        = 70
)

func main() {
	box.MaybeRunApp()
	os.Exit(mainWithSignals())
}

// mainWithSignals has the first SIGINT or SIGTERM stop the run and judge it, and
// the second leave at once.
func mainWithSignals() int {
	// A reader of ours that went away, or a limit on files, is a failed write to
	// us and must not kill the process in the middle of a deploy. A handler,
	// unlike ignoring, is not passed on to COMMAND.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGXFSZ)

	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go leaveOnSecond(signals, cancel, os.Stderr)
	return realMain(ctx, arguments(os.Args), streams{os.Stdin, os.Stdout, os.Stderr}, os.Getenv)
}

func leaveOnSecond(signals <-chan os.Signal, cancel context.CancelCauseFunc, stderr io.Writer) {
	first := <-signals
	if s, ok := first.(syscall.Signal); ok {
		cancel(deploy.Interrupt{Signal: s})
	}
	// timeout(1) and some runners signal a process and its group, which is two
	// signals for one intention.
	for same := time.Now().Add(time.Second); time.Now().Before(same); {
		<-signals
	}
	fmt.Fprintln(stderr, "\ncutwatch: a second signal: leaving at once, without a judgement; COMMAND may still be running; `cutwatch analyze` judges the samples recorded so far")
	os.Exit(exitInconclusive)
}
