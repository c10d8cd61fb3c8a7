package audit

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cutwatch/cutwatch/internal/analysis"
	"github.com/cutwatch/cutwatch/internal/box"
)

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func ptr[T any](v T) *T { return &v }

// sums is a match in numbers.
type sums struct{ truth, missed, invented, misattributed int }

func TestOf(t *testing.T) {
	drop := func(id, owner string) box.Truth { return box.Truth{Drops: []box.Drop{{ID: id, Owner: owner}}} }
	span := func(from, to time.Duration) box.Truth {
		return box.Truth{Spans: []box.BlindSpan{{From: from, To: to, Owner: "deploy"}}}
	}
	blind := box.Truth{Blind: []box.BlindDrop{{Port: 4001, At: ms(9000)}}}
	failed := func(id, by string, at time.Duration) analysis.Failure {
		return analysis.Failure{ID: id, Attribution: by, Started: at, Ended: at + ms(1)}
	}
	answered := failed("cw-1-5", "deploy", ms(1500))
	answered.Status = ptr(502)
	onPort := failed("cw-1-5", "background", ms(9100))
	onPort.LocalPort = 4001
	for _, c := range []struct {
		name     string
		truth    box.Truth
		failures []analysis.Failure
		run      Run
		want     sums
	}{
		{"agrees", drop("cw-1-5", "deploy"), []analysis.Failure{failed("cw-1-5", "deploy", 0)}, Run{}, sums{1, 0, 0, 0}},
		{"another's", drop("cw-1-5", "background"), []analysis.Failure{failed("cw-1-5", "deploy", 0)}, Run{}, sums{1, 0, 0, 1}},
		{"missed", drop("cw-1-5", "deploy"), nil, Run{}, sums{1, 1, 0, 1}},
		{"invented", box.Truth{}, []analysis.Failure{failed("cw-1-5", "deploy", 0)}, Run{}, sums{0, 0, 1, 0}},
		{"left unfinished", drop("cw-1-5", "deploy"), nil, Run{Left: map[string]bool{"cw-1-5": true}}, sums{0, 0, 0, 0}},
		{"another run's", drop("cw-12-5", "deploy"), nil, Run{ID: "1"}, sums{0, 0, 0, 0}},
		{"of no known run", drop("", "deploy"), nil, Run{ID: "1"}, sums{1, 1, 0, 1}},
		{"while nothing listened", span(ms(1000), ms(2000)), []analysis.Failure{failed("cw-1-5", "deploy", ms(1500))}, Run{}, sums{1, 0, 0, 0}},
		{"while nothing listened, and another's", span(ms(1000), ms(2000)), []analysis.Failure{failed("cw-1-5", "undecided", ms(1500))}, Run{}, sums{1, 0, 0, 1}},
		{"while nothing listens", span(ms(1000), math.MaxInt64), []analysis.Failure{failed("cw-1-5", "deploy", ms(9000))}, Run{}, sums{1, 0, 0, 0}},
		{"long before nothing listened", span(ms(1000), ms(2000)), []analysis.Failure{failed("cw-1-5", "deploy", ms(500))}, Run{}, sums{0, 0, 1, 0}},
		{"long after it", span(ms(1000), ms(2000)), []analysis.Failure{failed("cw-1-5", "deploy", ms(2200))}, Run{}, sums{0, 0, 1, 0}},
		{"while nothing listened, by the run's clock", box.Truth{Start: time.Unix(100, 0), Spans: span(ms(1000), ms(2000)).Spans},
			[]analysis.Failure{failed("cw-1-5", "deploy", ms(500))}, Run{Start: time.Unix(101, 0)}, sums{1, 0, 0, 0}},
		{"an answer while nothing listened", span(ms(1000), ms(2000)), []analysis.Failure{answered}, Run{}, sums{0, 0, 1, 0}},
		{"on a connection that was ended unread", blind, []analysis.Failure{onPort}, Run{}, sums{1, 0, 0, 0}},
		{"on none", blind, []analysis.Failure{failed("cw-1-5", "deploy", ms(9000))}, Run{}, sums{0, 0, 1, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := Of(c.truth, c.failures, c.run)
			got := sums{m.Truth, len(m.Missed), len(m.Invented), len(m.Misattributed)}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(sums{})); diff != "" {
				t.Errorf("want (-), got (+):\n%s\n%+v", diff, m)
			}
		})
	}
}
