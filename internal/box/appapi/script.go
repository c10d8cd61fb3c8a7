package appapi

import (
	"context"
	"time"
)

// Step is one step of a deployment's script: a wait, and then what it says.
type Step struct {
	After   time.Duration
	Phase   string // it enters this one
	Reused  bool   // its build is an earlier one's
	Code    string // it fails with this reason
	Message string

	// Next makes another deployment, which is played by its own script at once.
	Next   *Cause
	Script []Step
}

// Play takes a deployment through a script; it returns early when ctx is done.
func (a *API) Play(ctx context.Context, d *Deployment, script []Step) {
	for _, s := range script {
		select {
		case <-time.After(s.After):
		case <-ctx.Done():
			return
		}
		if s.Reused {
			d.Reused()
		}
		if s.Phase != "" {
			d.Enter(s.Phase)
		}
		if s.Code != "" {
			d.Fail(s.Code, s.Message)
		}
		if s.Next != nil {
			next := a.add(*s.Next)
			a.plays.Go(func() { a.Play(a.ctx, next, s.Script) })
		}
	}
}

// Push makes a deployment without a request, and has it played in the
// background.
func (a *API) Push(c Cause, play func(context.Context, *Deployment)) *Deployment {
	d := a.add(c)
	a.plays.Go(func() { play(a.ctx, d) })
	return d
}
