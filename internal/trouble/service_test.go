//go:build linux

package trouble

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	oldVersion, newVersion = "v1", "v2"

	// latency of a fast answer: long enough for some to be in flight at any moment.
	latency = 300 * time.Millisecond
	// overlap is how long both versions answer in a deploy.
	overlap = time.Second

	swapOrder, swapDone = "swap", "swapped"
	recordOrder         = "record"

	// stall is how far behind its time the service may be in all.
	stall = 250 * time.Millisecond
)

// site is the service: it answers with its version, and drops nothing.
type site struct {
	swapped atomic.Pointer[time.Time] // when new came; nil: not yet
	count   atomic.Int64
	record  record
}

// record is what the service did by its own account: the truth that a judgement
// is compared with. A machine that is too busy may have it drop what it is to keep.
type record struct {
	mu    sync.Mutex
	Late  time.Duration   // the worst by which an answer, or a look at the clock, came too late
	Asked map[string]bool // the ids of the requests that came
}

func (r *record) late(by time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Late = max(r.Late, by)
}

func (r *record) asked(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Asked[id] = true
}

// watch looks at the clock until the process ends.
func (r *record) watch() {
	const every = 5 * time.Millisecond
	for last := time.Now(); ; {
		time.Sleep(every)
		now := time.Now()
		r.late(now.Sub(last) - every)
		last = now
	}
}

// version is who answers a request that came now.
func (s *site) version() string {
	at := s.swapped.Load()
	switch {
	case at == nil:
		return oldVersion
	case time.Since(*at) < overlap && s.count.Add(1)%2 == 0:
		return oldVersion
	}
	return newVersion
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	s.record.asked(r.Header.Get("X-Cutwatch-Id"))
	version := s.version()
	wait := latency
	if seconds, err := strconv.ParseFloat(r.URL.Query().Get("seconds"), 64); err == nil {
		wait = time.Duration(seconds * 1e9)
	}
	select {
	case <-time.After(wait):
	case <-r.Context().Done():
		return
	}
	w.Header().Set("X-Version", version)
	w.Header().Set("X-Instance", "of-"+version)
	fmt.Fprintln(w, "hello")
	s.record.late(time.Since(began) - wait)
}

// serve is the service's process: it prints the addresses of the service and of
// a control server, takes orders on standard input, and ends with it.
func serve(ip string) error {
	probed, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		return err
	}
	control, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		return err
	}
	s := &site{record: record{Asked: map[string]bool{}}}
	go s.record.watch()
	failed := make(chan error, 2)
	go func() { failed <- http.Serve(probed, s) }()
	go func() {
		failed <- http.Serve(control, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	}()
	fmt.Println(probed.Addr(), control.Addr())
	orders := make(chan string)
	go func() {
		defer close(orders)
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			orders <- lines.Text()
		}
	}()
	for {
		select {
		case err := <-failed:
			return err
		case order, more := <-orders:
			if !more {
				return nil
			}
			if err := s.obey(order); err != nil {
				return err
			}
		}
	}
}

func (s *site) obey(order string) error {
	switch order {
	case swapOrder:
		now := time.Now()
		s.swapped.Store(&now)
		fmt.Println(swapDone)
		return nil
	case recordOrder:
		s.record.mu.Lock()
		defer s.record.mu.Unlock()
		return json.NewEncoder(os.Stdout).Encode(&s.record)
	}
	return fmt.Errorf("no order %q", order)
}

// service is the service's process as a test sees it.
type service struct {
	*conversation
	url, control string
}

// startService starts the service on an address of this machine.
func startService(t *testing.T, ip string) *service {
	t.Helper()
	cmd := exec.Command(self(t))
	cmd.Env = as(asService, ip)
	s := &service{conversation: converse(t, cmd)}
	var probed, control string
	if _, err := fmt.Sscan(s.hear(t), &probed, &control); err != nil {
		t.Fatal(err)
	}
	s.url, s.control = "http://"+probed+"/", "http://"+control+"/"
	return s
}

// swap has new take over from old.
func (s *service) swap(t *testing.T) {
	t.Helper()
	s.tell(t, swapOrder)
	if answer := s.hear(t); answer != swapDone {
		t.Fatalf("the service says %q", answer)
	}
}

// tells is the service's own account.
func (s *service) tells(t *testing.T) *record {
	t.Helper()
	s.tell(t, recordOrder)
	var r record
	if err := json.Unmarshal([]byte(s.hear(t)), &r); err != nil {
		t.Fatal(err)
	}
	return &r
}
