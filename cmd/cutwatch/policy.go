package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cutwatch/cutwatch/internal/config"
)

// policy is the inputs that another judgement of the same samples may change;
// what is not given is the run's own.
type policy struct {
	ExpectVersion     string `name:"expect-version" placeholder:"ID" help:"The version id that must answer at the end."`
	DrainWindow       string `name:"drain-window" placeholder:"DURATION" help:"The drain you were promised."`
	MaxDeployFailures string `name:"max-deploy-failures" placeholder:"N" help:"How many failures of the deploy's are let pass."`
	IdleRace          string `name:"idle-race" placeholder:"WORD" help:"fail or warn."`
	SilentRetry       string `name:"silent-retry" placeholder:"WORD" help:"fail or warn."`
	OnInconclusive    string `name:"on-inconclusive" placeholder:"WORD" help:"fail or warn."`
}

// given is the policy's inputs by their names, "" where not given.
func (o policy) given() map[string]string {
	return map[string]string{
		"expect-version": o.ExpectVersion, "drain-window": o.DrainWindow, "max-deploy-failures": o.MaxDeployFailures,
		"idle-race": o.IdleRace, "silent-retry": o.SilentRetry, "on-inconclusive": o.OnInconclusive,
	}
}

// policyInputs are the names of the inputs of a policy.
func policyInputs() []string {
	var names []string
	for _, in := range config.Inputs() {
		if _, ok := (policy{}).given()[in.Name]; ok {
			names = append(names, in.Name)
		}
	}
	return names
}

// change is what given inputs change of a run's, checked. Those that are "" keep
// the run's own.
func change(given map[string]string) (func(*config.Config), error) {
	// Checked within inputs that are otherwise right; the url is not used.
	checked := config.Default()
	checked.URL = "http://localhost/"
	set := func(c *config.Config) error {
		var errs []error
		for _, name := range policyInputs() {
			if value := given[name]; value != "" {
				errs = append(errs, c.Set(name, value))
			}
		}
		return errors.Join(errs...)
	}
	if err := set(checked); err != nil {
		return nil, err
	}
	if err := checked.Validate(); err != nil {
		return nil, err
	}
	return func(c *config.Config) {
		if err := set(c); err != nil {
			panic(err) // it was set before
		}
	}, nil
}

// given is an input of this step's; "" where it has its default. A runner hands
// out the defaults of an action's inputs as if they were given.
func (s *step) given(in config.Input) string {
	value := s.input(in.Name)
	if s.inAction && value == in.Default {
		return ""
	}
	return value
}

// policy is the policy inputs that this step was given, to judge a run by that
// was started with others.
func (s *step) policy() (func(*config.Config), error) {
	given := map[string]string{}
	var named []string
	for _, in := range config.Inputs() {
		if value := s.given(in); value != "" && slices.Contains(policyInputs(), in.Name) {
			given[in.Name] = value
			named = append(named, in.Name)
		}
	}
	if len(given) == 0 {
		return nil, nil
	}
	apply, err := change(given)
	if err != nil {
		return nil, err
	}
	return func(c *config.Config) {
		before := *c
		apply(c)
		changed := slices.DeleteFunc(named, func(name string) bool { return before.Get(name) == c.Get(name) })
		if len(changed) > 0 {
			s.note(fmt.Sprintf("judged by %s of this step, not of the start; cutwatch analyze takes the same as flags", strings.Join(changed, ", ")))
		}
	}, nil
}

// ownInputs are those that the step that judges reads for itself, beside its policy.
var ownInputs = []string{"id", "report-dir", "github-token", "comment", "comment-key"}

// unheard names the inputs that this step was given and that are for the start
// of a run alone, where they differ from the run's. Those that are recorded
// nowhere, being secrets, cannot be compared.
func (s *step) unheard(run *config.Config) []string {
	var out []string
	for _, in := range config.Inputs() {
		value := s.given(in)
		if value == "" || slices.Contains(ownInputs, in.Name) || slices.Contains(policyInputs(), in.Name) {
			continue
		}
		mine := config.Default()
		if err := mine.Set(in.Name, value); err == nil {
			recorded := mine.Recorded()
			if recorded.Get(in.Name) == run.Get(in.Name) {
				continue
			}
		}
		out = append(out, in.Name)
	}
	return out
}
