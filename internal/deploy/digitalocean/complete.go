package digitalocean

import (
	"fmt"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/format"
)

// Complete fills in what cfg leaves to the platform, and says so in sentences
// that are safe to print: url is where the app answers, drain-window is
// termination.drain_seconds. What is filled in has not been checked.
func (p *Prepared) Complete(cfg *config.Config) ([]string, error) {
	var notes []string
	app := format.Name(p.Platform.App, 60)
	if cfg.URL == "" {
		if p.Platform.URL == "" {
			return nil, &config.InputError{Input: "url", Problem: fmt.Sprintf("got nothing, and %s has no address yet; write what to probe, or let its first deployment become active", app)}
		}
		cfg.URL = p.Platform.URL
		notes = append(notes, fmt.Sprintf("probing %s, where %s answers", format.Clean(cfg.URL, 200), app))
	}
	if drain := p.Platform.DrainSeconds; cfg.DrainWindow == 0 && drain != nil {
		cfg.DrainWindow = config.Duration(time.Duration(*drain) * time.Second)
		notes = append(notes, fmt.Sprintf("drain-window is %d s, termination.drain_seconds of %s: a request that old takes longer over fails the run, unless you write another drain-window",
			*drain, format.Name(p.Platform.Component, 60)))
	}
	return notes, nil
}
