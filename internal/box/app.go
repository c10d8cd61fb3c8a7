package box

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// appEnv marks a process as a box app and holds its configuration.
const appEnv = "CUTWATCH_BOX_APP"

// drainNotice is the line on standard input that stands for a preStop hook.
const drainNotice = "drain"

// What an app does on SIGTERM.
const (
	TermExit     = "exit"     // exits at once, whatever is in flight
	TermGraceful = "graceful" // stops accepting, finishes what is in flight, exits
	TermIgnore   = "ignore"   // goes on until it is killed
)

// appConfig is everything an app process is told.
type appConfig struct {
	Version        string        `json:"version"`
	Instance       string        `json:"instance"`
	Seed           uint64        `json:"seed"`
	LatencyMin     time.Duration `json:"latency_min"`
	LatencyJitter  time.Duration `json:"latency_jitter"`
	OnTerm         string        `json:"on_term"`
	CloseKeepAlive bool          `json:"close_keep_alive"`
	Linger         time.Duration `json:"linger"`   // how long a graceful app that closes keep-alive waits for idle connections
	Deadline       time.Duration `json:"deadline"` // the longest that a graceful shutdown may take
	Text           bool          `json:"text,omitempty"`
	Fault          Fault         `json:"fault"`
	Record         string        `json:"record,omitempty"` // see AppOptions
}

// appReady is the line that an app prints once it accepts.
type appReady struct {
	Address string `json:"address"`
}

// appStall is the line that an app prints whenever it stood still.
type appStall struct {
	Stood time.Duration `json:"stood"`
}

const (
	pulse = 50 * time.Millisecond // between an app's looks at its clock
	stall = 50 * time.Millisecond // a look that comes later than this is told

	lastLook = time.Millisecond // how long a listener that is about to close waits for one more connection
	backlog  = 128              // how many it still accepts at most
)

// MaybeRunApp runs this process as an app of the box and exits, where its
// environment says that it is one; otherwise it returns at once. It belongs on
// the first line of main, and of every TestMain whose tests start a box.
func MaybeRunApp() {
	text := os.Getenv(appEnv)
	if text == "" {
		return
	}
	if err := runApp(text); err != nil {
		fmt.Fprintln(os.Stderr, "box app:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// app serves and counts what it has in hand, so that a shutdown knows when it
// is over. net/http's Server is not used: its Shutdown closes idle connections
// and so loses the requests that cross, which is one of the things that the
// scenes must have or not have by choice.
type app struct {
	cfg     appConfig
	started time.Time
	record  *os.File // nil: none is kept

	mu          sync.Mutex
	rng         *rand.Rand
	draining    bool // told that it will be stopped
	terminating bool // got SIGTERM, in graceful mode
	conns       int
	inFlight    int
	owed        int // of what was in flight at SIGTERM, how much still is

	changed chan struct{} // poked when conns, inFlight or owed went down
	refuses chan struct{} // closed once no more connections are accepted
}

func runApp(text string) error {
	var cfg appConfig
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		return fmt.Errorf("%s does not parse: %w", appEnv, err)
	}
	// An interrupt from the terminal goes to the whole group; the parent decides.
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)

	record, err := openRecord(cfg.Record)
	if err != nil {
		return err
	}
	a := &app{
		cfg:     cfg,
		started: time.Now(),
		record:  record,
		rng:     rand.New(rand.NewPCG(cfg.Seed, 1)),
		changed: make(chan struct{}, 1),
		refuses: make(chan struct{}),
	}
	go a.watchParent(os.Stdin)
	time.Sleep(cfg.Fault.startDelay())
	ln, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	ready := time.Now()
	if err := json.NewEncoder(os.Stdout).Encode(appReady{Address: ln.Addr().String()}); err != nil {
		return fmt.Errorf("tell the address: %w", err)
	}
	go a.accept(ln)
	go tellStalls(os.Stdout, ready)
	for range term {
		switch cfg.OnTerm {
		case TermIgnore:
			continue
		case TermGraceful:
			return a.shutdown(ln)
		}
		return nil
	}
	return nil
}

// tellStalls tells how long the process got no processor or was stopped, as
// often as that happens after last: no app answers meanwhile, and nobody meant
// it to be so.
func tellStalls(w io.Writer, last time.Time) {
	tell := json.NewEncoder(w)
	for range time.Tick(pulse) {
		now := time.Now()
		late := now.Sub(last) - pulse
		last = now
		if late < stall {
			continue
		}
		if err := tell.Encode(appStall{Stood: late}); err != nil {
			return // the parent is gone, and so is this process in a moment
		}
	}
}

// watchParent takes drain notices, and ends the process when standard input
// ends: then the parent is gone.
func (a *app) watchParent(r io.Reader) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if lines.Text() == drainNotice {
			a.mu.Lock()
			a.draining = true
			a.mu.Unlock()
		}
	}
	os.Exit(0)
}

// accept takes connections until the listener has a deadline, and then those that
// the kernel has taken already: closing over them would reset requests that
// nobody has seen.
func (a *app) accept(ln *net.TCPListener) {
	defer close(a.refuses)
	for {
		c, err := ln.Accept()
		if err != nil {
			break
		}
		a.take(c)
	}
	for range backlog {
		begin := time.Now()
		if ln.SetDeadline(begin.Add(lastLook)) != nil {
			return
		}
		if c, err := ln.Accept(); err == nil {
			a.take(c)
		} else if time.Since(begin) < 2*lastLook {
			return // it did look, and nobody was there
		}
	}
}

func (a *app) take(c net.Conn) {
	a.mu.Lock()
	a.conns++
	a.mu.Unlock()
	go a.serve(c)
}

// shutdown is a graceful one: no new connections; what is in flight is
// finished. Idle connections are left open, since closing one races with the
// next request on it: an app that closes keep-alive waits a while for that
// request and answers it with Connection: close; one that does not goes on
// serving kept connections until its debts are paid, and then cuts them.
func (a *app) shutdown(ln *net.TCPListener) error {
	if err := ln.SetDeadline(time.Now()); err != nil {
		return fmt.Errorf("stop accepting: %w", err)
	}
	<-a.refuses
	if err := ln.Close(); err != nil {
		return fmt.Errorf("close the listener: %w", err)
	}
	a.mu.Lock()
	a.draining, a.terminating = true, true
	a.owed = a.inFlight
	a.mu.Unlock()

	linger := time.NewTimer(a.cfg.Linger)
	deadline := time.NewTimer(a.cfg.Deadline)
	lingered := false
	for !a.finished(lingered) {
		select {
		case <-a.changed:
		case <-linger.C:
			lingered = true
		case <-deadline.C:
			return nil
		}
	}
	return nil
}

func (a *app) finished(lingered bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.cfg.CloseKeepAlive {
		return a.owed == 0
	}
	return a.inFlight == 0 && (a.conns == 0 || lingered)
}

// begin counts a request in; early tells that it came before SIGTERM.
func (a *app) begin() (early bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inFlight++
	return !a.terminating
}

func (a *app) end(early bool) {
	a.mu.Lock()
	a.inFlight--
	if early && a.terminating {
		a.owed--
	}
	a.mu.Unlock()
	a.poke()
}

// closing tells whether an answer given now says Connection: close.
func (a *app) closing() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.draining && a.cfg.CloseKeepAlive
}

func (a *app) latency() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cfg.LatencyMin + time.Duration(a.rng.Float64()*float64(a.cfg.LatencyJitter))
}

func (a *app) poke() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}
