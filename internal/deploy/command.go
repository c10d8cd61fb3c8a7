package deploy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"github.com/cutwatch/cutwatch/internal/sample"
)

const (
	// commandGrace is how long COMMAND has to end by itself once it was told to.
	commandGrace = 10 * time.Second
	// pipeGrace is how long the output of what COMMAND left running in the
	// background is still read after its own end.
	pipeGrace = 2 * time.Second
)

// Interrupt is the cause (context.Cause) of a run that was ended by a signal;
// COMMAND is sent the same one.
type Interrupt struct{ Signal syscall.Signal }

func (i Interrupt) Error() string {
	switch i.Signal {
	case syscall.SIGINT:
		return "got SIGINT"
	case syscall.SIGTERM:
		return "got SIGTERM"
	}
	return "got the signal " + i.Signal.String()
}

// Command is the source of a deploy that is a command: it begins when the
// command is started and is over when it exits.
type Command struct {
	path  string
	argv  []string
	io    CommandIO
	grace time.Duration
}

// CommandIO is where a command reads and writes. An *os.File is handed on as
// it is, so that what the command leaves in the background keeps it; anything
// else is fed through a pipe that is closed soon after the command's end.
type CommandIO struct {
	Stdin          io.Reader // nil: empty
	Stdout, Stderr io.Writer // nil: thrown away
	// Grace is how long the command has to end by itself once it was told to;
	// 0: 10 s.
	Grace time.Duration
}

var _ Source = (*Command)(nil)

// NewCommand is the source that runs argv, without a shell. The error says
// that argv[0] cannot be run, and is known before anything is started.
func NewCommand(argv []string, streams CommandIO) (*Command, error) {
	if len(argv) == 0 || argv[0] == "" {
		return nil, errors.New("COMMAND is empty: give the command that deploys after --")
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		reason := err
		if ee, ok := errors.AsType[*exec.Error](err); ok {
			reason = ee.Err
		}
		return nil, fmt.Errorf("COMMAND %q cannot be run: %w; name a program in PATH or the path of an executable file", argv[0], reason)
	}
	if streams.Grace == 0 {
		streams.Grace = commandGrace
	}
	return &Command{path: path, argv: argv, io: streams, grace: streams.Grace}, nil
}

// Name is "command".
func (c *Command) Name() string { return "command" }

// Run starts the command in a process group of its own and waits for it. When
// ctx is done, the group is sent the signal of an [Interrupt] that is ctx's
// cause, else SIGTERM; its grace later SIGKILL. An error means that the command
// could not be started.
func (c *Command) Run(ctx context.Context, emit Emit) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("COMMAND was not started: %w", context.Cause(ctx))
	}
	cmd := exec.Command(c.path)
	cmd.Args = c.argv
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.io.Stdin, c.io.Stdout, c.io.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = pipeGrace
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("COMMAND could not be started: %w", err)
	}
	emit(sample.Signal{Kind: sample.SignalStart, Name: "command-started"})

	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	var err, told error
	select {
	case err = <-exited:
	case <-ctx.Done():
		told = context.Cause(ctx)
		err = c.end(told, cmd.Process.Pid, exited)
	}
	outcome, message := commandOutcome(told, err)
	emit(sample.Signal{Kind: sample.SignalEnd, Name: "command-ended", Outcome: outcome, Message: message})
	return nil
}

// end tells the group to end and waits until its leader has. What is left of
// the group after the grace is killed.
func (c *Command) end(cause error, group int, exited <-chan error) error {
	sig := syscall.SIGTERM
	if i, ok := errors.AsType[Interrupt](cause); ok {
		sig = i.Signal
	}
	signalGroup(group, sig)
	grace := time.NewTimer(c.grace)
	defer grace.Stop()
	select {
	case err := <-exited:
		return err
	case <-grace.C:
		signalGroup(group, syscall.SIGKILL)
		return <-exited
	}
}

// signalGroup signals a process group. That it is gone already is no fault.
func signalGroup(group int, sig syscall.Signal) {
	_ = syscall.Kill(-group, sig) // ESRCH: gone; EPERM cannot be cured here
}

// commandOutcome says how a command ended: told is why it was told to end (nil:
// it ended by itself), err is of its Wait.
func commandOutcome(told, err error) (outcome, message string) {
	how := "exited with 0"
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case failed:
		how = exitText(exit)
	case errors.Is(err, exec.ErrWaitDelay):
		how = "exited with 0; what it left in the background still held its output"
	case err != nil:
		// The command ended well, but what it printed could not be passed on.
		how = "exited with 0; its output was not copied whole: " + err.Error()
	}
	switch {
	case errors.Is(told, context.DeadlineExceeded):
		return sample.TimedOut, "COMMAND took too long and was told to end; it " + how
	case !failed:
		return sample.Succeeded, "COMMAND " + how
	case told != nil:
		return sample.Unknown, fmt.Sprintf("COMMAND was told to end (%v); it %s", told, how)
	}
	return sample.Failed, "COMMAND " + how
}

func exitText(e *exec.ExitError) string {
	if ws, ok := e.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return fmt.Sprintf("was ended by a signal (%v)", ws.Signal())
	}
	return fmt.Sprintf("exited with %d", e.ExitCode())
}
