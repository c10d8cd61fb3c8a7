// Package host is where a run lives when it is part of a workflow's job or goes
// on in the background: which job and probe are meant, how a probe is started,
// told that the deploy is over and judged, and what the runner is told.
package host

import (
	"slices"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/format"
)

// Modes of the action.
const (
	Auto   = "auto"   // start in the main step, finish in the post step
	Start  = "start"  // start a probe in the background
	Finish = "finish" // the deploy is over: judge
	Run    = "run"    // probe within this step
	Ready  = "ready"  // wait until a background step's baseline is in
	Merge  = "merge"  // one verdict from several results
)

// Names of the action's inputs that are no part of a run's config.
const (
	ModeInput      = "mode"
	CommandInput   = "command"
	OutcomeInput   = "deploy-outcome"
	JobStatusInput = "job-status"
	ResultsInput   = "results"
)

// Inputs lists the inputs of the action, in the order in which they are documented.
func Inputs() []config.Input {
	out := []config.Input{{
		Name: ModeInput, Default: Auto,
		Help: "auto (start in this step, finish in the job's post steps), start, finish, run (probe within this step), ready (wait until a background step's baseline is in), or merge (one verdict from several results).",
	}}
	for _, in := range config.Inputs() {
		if in.Name == "github-token" {
			in.Default = "${{ github.token }}" // an expression, which only a workflow can have
		}
		out = append(out, in)
		switch in.Name {
		case "expect-version":
			out = append(out, config.Input{
				Name: OutcomeInput,
				Help: "How the deploy's step ended (steps.ID.outcome): success, failure, cancelled, or skipped, which means no verdict and exit code 0.",
			})
		case "allow-no-baseline":
			out = append(out, config.Input{
				Name: CommandInput,
				Help: "With mode run: a shell line that deploys, run by sh -e once the baseline is in.",
			})
		case "history":
			out = append(out, config.Input{
				Name: ResultsInput,
				Help: "With mode merge: result.json files of probes that watched one deploy from several places, or folders that hold them, one a line.",
			})
		}
	}
	return append(out,
		config.Input{Name: JobInput, Default: "${{ job.check_run_id }}", Help: "The job's number, for links to its page. Its default knows it."},
		config.Input{Name: MatrixInput, Default: "${{ toJSON(matrix) }}", Help: "The job's leg of its matrix, so that each has a comment of its own. Its default knows it."},
		config.Input{Name: JobStatusInput, Default: "${{ job.status }}", Help: "How the job stands: a cancelled one is not held up. Its default knows it."},
	)
}

// CheckMode is the mode that was asked for.
func CheckMode(mode string) (string, error) {
	if mode == "" {
		return Auto, nil
	}
	if !slices.Contains([]string{Auto, Start, Finish, Run, Ready, Merge}, mode) {
		return "", &config.InputError{Input: ModeInput, Problem: format.Quote(mode, 80) + " is no mode; write auto, start, finish, run, ready or merge"}
	}
	return mode, nil
}
