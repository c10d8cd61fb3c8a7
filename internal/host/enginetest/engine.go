// Package enginetest is a Docker engine in memory, for tests of what goes wrong
// with one: it answers the few calls of the API that a probe's life takes, and
// fails them when told to.
package enginetest

import (
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/moby/moby/api/types/container"
)

// Engine is an engine that listens at a Unix socket.
type Engine struct {
	Socket string
	// OnStart and OnFile are called when a container starts, and when a file
	// is copied into one that runs; OnSignal when one is sent a signal.
	OnStart  func(*Container)
	OnFile   func(c *Container, name string)
	OnSignal func(c *Container, signal string)

	server *httptest.Server
	mu     sync.Mutex
	all    []*Container // the oldest first
	fails  map[string]int
	calls  []string
}

// Container is one container. Its methods may be called from the engine's hooks.
type Container struct {
	ID, Name string
	Config   container.Config
	Host     container.HostConfig
	Networks []string
	Mounts   []container.MountPoint

	mu      sync.Mutex
	files   map[string][]byte
	logs    string
	running bool
	code    int
	ended   chan struct{}
}

// New starts an engine.
func New(t testing.TB) *Engine {
	t.Helper()
	dir, err := os.MkdirTemp("", "engine") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{Socket: filepath.Join(dir, "s"), fails: map[string]int{}}
	listener, err := net.Listen("unix", e.Socket)
	if err != nil {
		t.Fatal(err)
	}
	e.server = httptest.NewUnstartedServer(e.handler())
	e.server.Listener.Close()
	e.server.Listener = listener
	e.server.Start()
	t.Cleanup(func() {
		e.Stop()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return e
}

// Stop makes the engine go away, with all calls that are under way.
func (e *Engine) Stop() {
	_ = e.server.Listener.Close() // Close does it again, and says what is wrong
	e.server.CloseClientConnections()
	for _, c := range e.Containers() {
		c.Exit(137) // lets the calls that wait for it return
	}
	e.server.Close()
}

// Fail has calls fail with a status from now on: call is like "POST start".
func (e *Engine) Fail(call string, status int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fails[call] = status
}

// Calls are the calls so far that changed something, like "POST start".
func (e *Engine) Calls() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.calls)
}

// Containers are those that there are.
func (e *Engine) Containers() []*Container {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.all)
}

// Add adds a container that runs.
func (e *Engine) Add(c *Container) *Container {
	c.files, c.ended, c.running = map[string][]byte{}, make(chan struct{}), true
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.ID == "" {
		c.ID = fmt.Sprintf("%064x", len(e.all)+0xabc)
	}
	e.all = append(e.all, c)
	return c
}

// File is a file of the container's.
func (c *Container) File(name string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	data, ok := c.files[path.Clean(name)]
	return data, ok
}

// Put writes a file of the container's.
func (c *Container) Put(name string, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[path.Clean(name)] = data
}

// Print adds to the container's log.
func (c *Container) Print(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logs += text
}

// Exit ends the container.
func (c *Container) Exit(code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		c.running, c.code = false, code
		close(c.ended)
	}
}

// Running tells whether it runs.
func (c *Container) Running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running
}
