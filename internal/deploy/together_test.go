package deploy_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/deploy"
	"github.com/cutwatch/cutwatch/internal/sample"
)

// script is a source that tells signals at times since its start, and then ends,
// or waits for its context where it has none left and hangs.
type script struct {
	name  string
	tells []sample.Signal // At is when, since Run
	hangs bool
	err   error
}

func (s script) Name() string { return s.name }

func (s script) Run(ctx context.Context, emit deploy.Emit) error {
	begun := time.Now()
	for _, g := range s.tells {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Duration(g.At) - time.Since(begun)):
		}
		g.At = 0
		emit(g)
	}
	if s.hangs {
		<-ctx.Done()
	}
	return s.err
}

func start(at time.Duration, name string) sample.Signal {
	return sample.Signal{At: int64(at), Kind: sample.SignalStart, Name: name}
}

func end(at time.Duration, name, outcome string) sample.Signal {
	return sample.Signal{At: int64(at), Kind: sample.SignalEnd, Name: name, Outcome: outcome, Message: name + " says so"}
}

func phase(at time.Duration, name, deployment string) sample.Signal {
	return sample.Signal{At: int64(at), Kind: sample.SignalPhase, Name: name, Deployment: deployment}
}

func TestTogether(t *testing.T) {
	const s = time.Second
	command := script{name: "command", tells: []sample.Signal{start(s, "c-start"), end(3*s, "c-end", sample.Succeeded)}}
	tests := []struct {
		name         string
		lead, beside script
		want         []string // "at source kind name outcome"
		length       time.Duration
		err          bool
	}{
		{"the platform goes on after the command",
			command, script{name: "platform", tells: []sample.Signal{phase(2*s, "BUILDING", "d"), start(20*s, "DEPLOYING"), end(30*s, "ACTIVE", sample.Succeeded)}},
			[]string{"1s command start c-start ", "2s platform phase BUILDING ", "20s platform phase DEPLOYING ", "3s command phase c-end ", "30s platform end ACTIVE succeeded"}, 30 * s, false},
		{"the platform's failure outweighs the command's success",
			command, script{name: "platform", tells: []sample.Signal{phase(2*s, "BUILDING", "d"), end(9*s, "ERROR", sample.Failed)}},
			[]string{"1s command start c-start ", "2s platform phase BUILDING ", "3s command phase c-end ", "9s platform end ERROR failed"}, 9 * s, false},
		{"the command's failure outweighs the platform's success",
			script{name: "command", tells: []sample.Signal{start(s, "c-start"), end(9*s, "c-end", sample.Failed)}}, script{name: "platform", tells: []sample.Signal{start(2*s, "DEPLOYING"), end(4*s, "ACTIVE", sample.Succeeded)}},
			[]string{"1s command start c-start ", "2s platform phase DEPLOYING ", "4s platform phase ACTIVE ", "9s command end c-end failed"}, 9 * s, false},
		{"success outweighs what is not known",
			script{name: "marker", tells: []sample.Signal{start(s, "m-start"), end(9*s, "m-end", sample.Unknown)}}, script{name: "platform", tells: []sample.Signal{start(2*s, "DEPLOYING"), end(4*s, "ACTIVE", sample.Succeeded)}},
			[]string{"1s marker start m-start ", "2s platform phase DEPLOYING ", "4s platform phase ACTIVE ", "9s marker end m-end succeeded"}, 9 * s, false},
		{"a platform that shows nothing is waited for as long as grace",
			command, script{name: "platform", tells: []sample.Signal{phase(2*s, "api-lost", "")}, hangs: true},
			[]string{"1s command start c-start ", "2s platform phase api-lost ", "3s command end c-end succeeded"}, 3*s + 10*s, false},
		{"a deployment that shows within grace is followed",
			command, script{name: "platform", tells: []sample.Signal{phase(12*s, "created", "d"), start(40*s, "DEPLOYING"), end(50*s, "ACTIVE", sample.Succeeded)}},
			[]string{"1s command start c-start ", "12s platform phase created ", "40s platform phase DEPLOYING ", "3s command phase c-end ", "50s platform end ACTIVE succeeded"}, 50 * s, false},
		{"marks that never come are not waited for",
			script{name: "marker", hangs: true}, script{name: "platform", tells: []sample.Signal{start(2*s, "DEPLOYING"), end(4*s, "ACTIVE", sample.Succeeded)}},
			[]string{"2s platform start DEPLOYING ", "4s platform end ACTIVE succeeded"}, 4 * s, false},
		{"a trigger that was refused",
			script{name: "platform", err: errors.New("refused")}, script{name: "marker", hangs: true}, nil, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := deploy.Together(tt.lead, tt.beside, 10*s)
				begun := time.Now()
				b.StartedAt(begun)
				var got []string
				err := b.Run(t.Context(), func(g sample.Signal) {
					got = append(got, time.Duration(g.At).String()+" "+g.Source+" "+g.Kind+" "+g.Name+" "+g.Outcome)
				})
				if (err != nil) != tt.err {
					t.Errorf("error %v", err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("signals (-want +got):\n%s", diff)
				}
				if took := time.Since(begun); took != tt.length {
					t.Errorf("took %v, want %v", took, tt.length)
				}
			})
		})
	}
}

func TestTogetherEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		b := deploy.Together(script{name: "a", hangs: true}, script{name: "b", tells: []sample.Signal{start(time.Second, "x")}, hangs: true}, time.Second)
		n := 0
		if err := b.Run(ctx, func(sample.Signal) { n++ }); err != nil || n != 1 {
			t.Errorf("%d signals, error %v", n, err)
		}
	})
}
