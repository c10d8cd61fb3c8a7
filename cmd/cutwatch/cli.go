package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/report"
	"github.com/cutwatch/cutwatch/internal/run"
	"github.com/cutwatch/cutwatch/internal/verdict"
)

const description = `Did this deploy drop a request? Probes a service before, through and after a deploy and judges every failed request.

Exit codes: 0 pass, 1 fail, 2 bad input, 3 inconclusive, 4 the deploy itself failed, 70 a fault of Cutwatch. ` +
	`SIGINT or SIGTERM stops a run and judges what there is; a second one leaves at once (3).`

// cli is the grammar of the command line.
type cli struct {
	Run     runCmd     `cmd:"" help:"Probe a service, run COMMAND (the deploy) or wait for one, and judge."`
	Start   startCmd   `cmd:"" help:"Start the probe in the background and return when its baseline is in."`
	Finish  finishCmd  `cmd:"" help:"The deploy is over: wait for the cutover, end the probe and judge."`
	Ready   readyCmd   `cmd:"" help:"Wait until the baseline of a probe in another step is in."`
	Demo    demoCmd    `cmd:"" help:"Deploy a platform in a box on loopback and judge it: no account, no network."`
	Analyze analyzeCmd `cmd:"" help:"Judge recorded samples again: same input, same bytes out."`
	Merge   mergeCmd   `cmd:"" help:"Make one verdict of the results of several probes that watched one deploy."`
	Action  actionCmd  `cmd:"" help:"Be a step of a workflow: reads INPUT_* and does what mode says."`
	Probe   probeCmd   `cmd:"" hidden:"" help:"Be the probe that start starts."`

	Box boxCmd `cmd:"" hidden:"" help:"Serve a platform in a box to other hosts, for tests."`

	Version kong.VersionFlag `help:"Print the version."`
}

type streams struct {
	in       io.Reader
	out, err io.Writer
}

// program is what a command gets from its surroundings.
type program struct {
	streams
	getenv func(string) string
}

// command is one of the grammar's commands. Its exit code is meaningful where
// there is no error.
type command interface {
	main(ctx context.Context, p *program) (int, error)
}

// realMain is the program: it returns the exit code.
func realMain(ctx context.Context, args []string, s streams, getenv func(string) string) (code int) {
	defer func() {
		if broken := recover(); broken != nil {
			fmt.Fprintf(s.err, "\ncutwatch: a fault of Cutwatch: %v; please report it with what follows at https://github.com/cutwatch/cutwatch/issues; the samples recorded so far are kept in the report folder\n%s", broken, debug.Stack())
			code = exitFault
		}
	}()
	cmd, code, err := parse(args, s)
	if err != nil {
		complain(s.err, parseProblem(err))
		return exitBadInput
	}
	if cmd == nil {
		return code
	}
	code, err = cmd.main(ctx, &program{s, getenv})
	if err == nil {
		return code
	}
	complain(s.err, err.Error())
	return codeOf(err)
}

// parse makes the command of the arguments; nil where --help or --version said
// all there is to say.
func parse(args []string, s streams) (cmd command, code int, err error) {
	type exit int
	var grammar cli
	parser, err := kong.New(&grammar, kong.Name("cutwatch"), kong.Description(description),
		kong.Vars{"version": Version}, kong.Writers(s.out, s.err),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Exit(func(code int) { panic(exit(code)) })) // kong goes on to parse otherwise
	if err != nil {
		panic(err) // the grammar is wrong, whatever the arguments
	}
	defer func() {
		if broken := recover(); broken != nil {
			e, ok := broken.(exit)
			if !ok {
				panic(broken)
			}
			cmd, code, err = nil, int(e), nil
		}
	}()
	if args, err = config.Args(args); err != nil {
		return nil, 0, err
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return nil, 0, err
	}
	switch name, _, _ := strings.Cut(parsed.Command(), " "); name {
	case "run":
		return &grammar.Run, 0, nil
	case "demo":
		return &grammar.Demo, 0, nil
	case "analyze":
		return &grammar.Analyze, 0, nil
	case "start":
		return &grammar.Start, 0, nil
	case "finish":
		return &grammar.Finish, 0, nil
	case "ready":
		return &grammar.Ready, 0, nil
	case "merge":
		return &grammar.Merge, 0, nil
	case "action":
		return &grammar.Action, 0, nil
	case "probe":
		return &grammar.Probe, 0, nil
	case "box":
		return &grammar.Box, 0, nil
	}
	panic("no such command: " + parsed.Command())
}

// parseProblem is the parser's error as a sentence that names the input and the cure.
func parseProblem(err error) string {
	text := err.Error()
	if _, ours := errors.AsType[*config.InputError](err); ours {
		for _, command := range []string{"run: ", "start: ", "demo: ", "analyze: "} {
			text = strings.TrimPrefix(text, command)
		}
		return strings.TrimPrefix(text, "--")
	}
	return text + "; see cutwatch --help, or cutwatch COMMAND --help for its flags"
}

// complain says what is wrong, a line for each thing.
func complain(w io.Writer, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(w, "cutwatch: %s\n", format.Clean(strings.TrimRight(line, "\n"), 0))
	}
}

// terminalWidth is the width of a terminal; 0: w is none.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return max(width, 1) // some say 0 columns
}

// terminalOptions is how a report looks on stdout.
func (p *program) terminalOptions() report.TerminalOptions {
	width := terminalWidth(p.out)
	return report.TerminalOptions{Width: width, Color: width > 0 && p.getenv("NO_COLOR") == ""}
}

// show prints an outcome and returns its exit code. An outcome that cannot be
// printed keeps its code: a verdict is not changed by a closed pipe.
func (p *program) show(o *run.Outcome, asJSON bool) int {
	err := p.print(o, asJSON)
	if err != nil {
		complain(p.err, "the result cannot be printed: "+err.Error())
	}
	p.warnInconclusive(o.Verdict)
	return o.Verdict.ExitCode
}

func (p *program) warnInconclusive(v verdict.Verdict) {
	if v.Verdict == verdict.Inconclusive && v.ExitCode == 0 {
		complain(p.err, "warning: the run is inconclusive, and its exit code is 0 since on-inconclusive is warn")
	}
}

func (p *program) print(o *run.Outcome, asJSON bool) error {
	switch {
	case asJSON:
	case o.Analysis == nil:
		return report.TerminalSeries(p.out, p.terminalOptions(), o.Result, run.SamplesOf(o.Head.Config.ReportDir))
	default:
		return report.Terminal(p.out, p.terminalOptions(), o.Head, o.Analysis, o.Verdict)
	}
	data, err := o.Result.JSON()
	if err != nil {
		return err
	}
	_, err = p.out.Write(data)
	return err
}
