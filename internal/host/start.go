package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/cutwatch/cutwatch/internal/config"
	"github.com/cutwatch/cutwatch/internal/deploy/marker"
	"github.com/cutwatch/cutwatch/internal/format"
	"github.com/cutwatch/cutwatch/internal/host/sidecar"
)

// useRun is what to do where no probe can be started beside the step.
const useRun = "use mode: run instead, in a step with background: true, or with command to have it deploy"

// engine connects to the runner's engine and finds the own container.
func (s Surroundings) engine(ctx context.Context) (*sidecar.Engine, *sidecar.Self, error) {
	e, err := sidecar.Dial(ctx, s.Socket)
	if err != nil {
		return nil, nil, err
	}
	self, err := e.FindSelf(ctx, s.Place, s.Workspace())
	if err != nil {
		return e, nil, err
	}
	return e, self, nil
}

// CheckLoopback refuses addresses on the loopback of the action's container,
// where that has a network of its own. Whether it has is asked of the engine,
// and guessed from the container's name where there is none.
func (s Surroundings) CheckLoopback(ctx context.Context, cfg *config.Config) error {
	gateway := Gateway(s.Routes)
	wrong := CheckLoopback(cfg, gateway)
	if wrong == nil {
		return nil
	}
	e, self, err := s.engine(ctx)
	if e != nil {
		defer e.Close()
	}
	if err == nil {
		if self.OwnNetwork() {
			return wrong
		}
		return nil
	}
	if s.Dockerenv && ownName.MatchString(s.Place.Hostname) {
		return wrong
	}
	return nil
}

// ownName is the name that an engine gives to a container with a network of its own.
var ownName = regexp.MustCompile(`^[0-9a-f]{12}$`)

// StartSibling starts a probe in a container beside ours. get reads the action's
// inputs, which make up cfg. Its error is a [config.InputError] where the user
// can do something about it.
func (s Surroundings) StartSibling(ctx context.Context, cfg *config.Config, get func(string) string, log Log) (Probe, error) {
	e, self, err := s.engine(ctx)
	switch {
	case errors.Is(err, sidecar.ErrNoEngine), errors.Is(err, sidecar.ErrNoSelf):
		return nil, &config.InputError{Input: ModeInput, Problem: fmt.Sprintf("start runs the probe in a container beside this one, and cannot here (%v); %s", format.Clean(err.Error(), 300), useRun)}
	case err != nil:
		return nil, fmt.Errorf("the Docker engine cannot be asked for the own container: %w", err)
	}
	defer e.Close()
	key := s.Key(cfg.ID)
	key.Workspace = self.Workspace
	if err := s.clear(ctx, e, key, log); err != nil {
		return nil, err
	}
	inputs, files, err := s.task(cfg, get)
	if err != nil {
		return nil, err
	}
	program, err := s.program()
	if err != nil {
		return nil, err
	}
	environment := s.environment()
	if payload, ok := handOver(cfg, environment, log); ok {
		files = append(files, payload)
	}
	p, err := e.Start(ctx, self, sidecar.Options{
		Key: key, Command: []string{program, "probe", sidecar.Dir},
		Task: marker.Task{Inputs: inputs, Strict: true, ReportDir: cfg.ReportDir, Environment: environment}, Files: files,
	})
	if err != nil {
		return nil, err
	}
	return Sibling{p}, nil
}

// program is the path of the own program.
func (s Surroundings) program() (string, error) {
	if s.Program != "" {
		return s.Program, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("the own program is not known: %w", err)
	}
	return path, nil
}

// clear removes what earlier jobs left running on this machine for this
// workspace. A probe of this very job is none of that: its verdict would be
// lost. Under act, all jobs have one and the same run.
func (s Surroundings) clear(ctx context.Context, e *sidecar.Engine, key sidecar.Key, log Log) error {
	found, err := e.Leftovers(ctx, key)
	if err != nil {
		return fmt.Errorf("the Docker engine cannot be asked for probes that were left: %w", err)
	}
	for _, p := range found {
		if p.Key == key && s.Getenv("ACT") != "true" {
			return &config.InputError{Input: "id", Problem: Named(key.ID) + " was started before in this job, and has not been finished; give each probe of a job an id of its own"}
		}
		log.note("removing a probe that an earlier job left: %s, from %s", format.Clean(p.Name, 80), p.Created.UTC().Format(time.RFC3339))
		if err := p.Remove(ctx); err != nil {
			return fmt.Errorf("a probe that an earlier job left cannot be removed: %w", err)
		}
	}
	return nil
}

// givenInputs are the inputs of the config as they were given.
func givenInputs(get func(string) string) map[string]string {
	out := map[string]string{}
	for _, in := range config.Inputs() {
		if v := get(in.Name); v != "" {
			out[in.Name] = v
		}
	}
	return out
}

// platformVariables say where the APIs of platforms are, and which repository,
// commit, event and job this is about.
var platformVariables = []string{
	"DIGITALOCEAN_API_URL", "GITHUB_API_URL", "GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA", "GITHUB_REF",
	"GITHUB_EVENT_NAME", eventPath, "GITHUB_RUN_ID", "INPUT_CHECK-RUN-ID",
}

// eventPath is the variable that names the file with the event's payload.
const eventPath = "GITHUB_EVENT_PATH"

// handOver is the event's payload as a file for a container that has none of
// ours, of which environment then tells. Nobody but the platform github asks for it.
func handOver(cfg *config.Config, environment map[string]string, log Log) (sidecar.File, bool) {
	path := environment[eventPath]
	delete(environment, eventPath)
	if path == "" || cfg.Platform != config.PlatformGitHub {
		return sidecar.File{}, false
	}
	payload, err := os.ReadFile(path)
	if err != nil {
		log.note("the event's payload cannot be read, and the probe goes by the commit alone: %v", err)
		return sidecar.File{}, false
	}
	const there = sidecar.Dir + "/event.json"
	environment[eventPath] = there
	return sidecar.File{Path: there, Data: payload}, true
}

// environment is what of ours a probe is given that has another environment.
func (s Surroundings) environment() map[string]string {
	out := map[string]string{}
	for _, name := range platformVariables {
		if v := s.Getenv(name); v != "" {
			out[name] = v
		}
	}
	return out
}

// maxEarlier bounds what is copied of earlier results, in bytes.
const maxEarlier = 64 << 20

// task is the inputs for a container that has none of our files, and the files
// that come with them.
func (s Surroundings) task(cfg *config.Config, get func(string) string) (map[string]string, []sidecar.File, error) {
	inputs := givenInputs(get)
	inputs["report-dir"] = sidecar.ReportDir
	if cfg.CACert != "" && !strings.Contains(cfg.CACert, "-----BEGIN") {
		pem, err := os.ReadFile(cfg.CACert)
		if err != nil {
			return nil, nil, &config.InputError{Input: "ca-cert", Problem: err.Error()}
		}
		inputs["ca-cert"] = string(pem)
	}
	if cfg.History == "" {
		return inputs, nil, nil
	}
	inputs["history"] = sidecar.Earlier
	files := []sidecar.File{{Path: sidecar.Earlier + "/"}}
	size := 0
	err := filepath.WalkDir(cfg.History, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "result.json" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if size += len(data); size > maxEarlier {
			return fmt.Errorf("it holds over %d MB of results", maxEarlier>>20)
		}
		dir := fmt.Sprintf("%s/%d/", sidecar.Earlier, len(files))
		files = append(files, sidecar.File{Path: dir}, sidecar.File{Path: dir + "result.json", Data: data})
		return nil
	})
	if err != nil {
		return nil, nil, &config.InputError{Input: "history", Problem: fmt.Sprintf("%v; give a folder that holds result.json files, or none", err)}
	}
	return inputs, files, nil
}

// StartProcess starts a probe as a process of its own, on this machine.
func (s Surroundings) StartProcess(cfg *config.Config, inputs map[string]string) (Probe, error) {
	dir := s.MarksFolder(cfg.ID)
	if l, ok := FindLocal(dir); ok && l.Alive() {
		return nil, &config.InputError{Input: "id", Problem: Named(cfg.ID) + " runs already; finish it first, or give this one another id"}
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("the marks of an earlier probe cannot be removed: %w", err)
	}
	if err := MakeMarksFolder(dir); err != nil {
		return nil, fmt.Errorf("no folder for the probe's marks: %w", err)
	}
	program, err := s.program()
	if err != nil {
		return nil, err
	}
	p, err := StartLocal(dir, []string{program, "probe"}, marker.Task{Inputs: inputs, Strict: true, Environment: s.environment()})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Named is what a probe of that id is called in a sentence.
func Named(id string) string {
	if id == "" {
		return "a probe without an id"
	}
	return "a probe with the id " + format.Quote(id, 80)
}

// WhatItSaw is a sentence about a baseline.
func WhatItSaw(r marker.Ready) string {
	out := fmt.Sprintf("the baseline is in: %s, %s failed", format.Plural(r.Requests, "request", "requests"), format.Count(r.Failed))
	out += named(r.Versions, "version", "versions") + named(r.Instances, "instance", "instances")
	if len(r.Versions) == 0 {
		out += "; no answer named a version"
	}
	return out
}

// maxNamed is how many ids are named in a sentence.
const maxNamed = 5

func named(ids []string, one, many string) string {
	if len(ids) == 0 {
		return ""
	}
	names := make([]string, 0, maxNamed)
	for _, id := range ids[:min(len(ids), maxNamed)] {
		names = append(names, format.Name(id, 60))
	}
	out := "; " + format.Plural(len(ids), one, many) + " answered: " + strings.Join(names, ", ")
	if len(ids) > maxNamed {
		out += ", …"
	}
	return out
}
