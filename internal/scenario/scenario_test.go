package scenario

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cutwatch/cutwatch/internal/box"
	"github.com/cutwatch/cutwatch/internal/turns"
)

var (
	update = flag.Bool("update", false, "write the goldens anew")
	record = flag.Bool("record", false, "keep the samples of the scenarios that are played, and write their goldens anew")
	all    = flag.String("keep", "", "a folder for the samples of every play, good or not")
)

func TestMain(m *testing.M) {
	box.MaybeRunApp()
	os.Exit(m.Run())
}

const (
	scenarios = "../../testdata/scenarios"
	recorded  = "../../testdata/recorded"

	// atOnceEnv is how many scenarios are played side by side, atOnce unless set.
	// They wait nearly all of the time.
	atOnceEnv = "CUTWATCH_SCENARIOS_AT_ONCE"
	atOnce    = 8
	// onlyEnv is what the names must hold of the scenarios that are played; a
	// comma list. Empty: all.
	onlyEnv = "CUTWATCH_SCENARIOS"

	// limit of one play.
	limit = 60 * time.Second
)

// Every scenario comes out as its file says, and as the box's own record does.
func TestScenarios(t *testing.T) {
	if testing.Short() {
		t.Skip("plays every scenario, minutes in all")
	}
	list := loadAll(t)
	plays := make(chan *Scenario)
	room := turns.New(sideBySide(t))
	var mu sync.Mutex
	var rows []*Row
	var workers sync.WaitGroup
	for range sideBySide(t) { // t.Parallel would take as many as there are cores
		workers.Go(func() {
			for s := range plays {
				t.Run(s.Name, func(t *testing.T) {
					row := play(t, s, room)
					mu.Lock()
					defer mu.Unlock()
					rows = append(rows, row)
				})
			}
		})
	}
	for _, s := range list {
		plays <- s
	}
	close(plays)
	workers.Wait()
	if err := WriteTable(os.Stdout, rows); err != nil {
		t.Fatal(err)
	}
}

func sideBySide(t *testing.T) int {
	t.Helper()
	text := os.Getenv(atOnceEnv)
	if text == "" {
		return atOnce
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q: expected a number above 0", atOnceEnv, text)
	}
	return n
}

func loadAll(t *testing.T) []*Scenario {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(scenarios, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	var list []*Scenario
	for _, path := range paths {
		s, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if wanted(s.Name) {
			list = append(list, s)
		}
	}
	return list
}

func wanted(name string) bool {
	only := os.Getenv(onlyEnv)
	if only == "" {
		return true
	}
	for part := range strings.SplitSeq(only, ",") {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// play plays a scenario until it comes out as it must.
func play(t *testing.T, s *Scenario, room *turns.Room) (row *Row) {
	t.Helper()
	var samples string
	wrong := room.Play(t, func() (wrong string, spoiled bool) {
		row, samples = playOnce(t, s)
		if row.Good() {
			return "", false
		}
		return fmt.Sprintf("%s: %q", row.Held, row.Off), row.Held.Busy()
	})
	if wrong != "" {
		t.Errorf("not as it must be, see the table; %s", wrong)
	} else if *record {
		keep(t, s.Name, samples)
	}
	return row
}

func playOnce(t *testing.T, s *Scenario) (row *Row, samples string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	begin := time.Now()
	var progress strings.Builder
	p, err := s.Play(ctx, t.TempDir(), "test", &progress)
	if err != nil {
		t.Fatalf("%v\n%s", err, progress.String())
	}
	row, err = s.Check(p)
	if err != nil {
		t.Fatal(err)
	}
	row.Took = time.Since(begin)
	if *all != "" {
		copyTo(t, filepath.Join(*all, s.Name+".ndjson.zst"), p.Samples)
	}
	return row, p.Samples
}

func copyTo(t *testing.T, path, from string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
