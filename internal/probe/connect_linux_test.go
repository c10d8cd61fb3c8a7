package probe

import (
	"fmt"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cutwatch/cutwatch/internal/sample"
)

// A listener whose queue is full drops every further SYN.
func TestConnectTimeout(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	bound, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", bound.(*unix.SockaddrInet4).Port)
	for full := false; !full; {
		c, err := net.DialTimeout("tcp", address, 200*time.Millisecond)
		if err != nil {
			full = true
			continue
		}
		defer c.Close()
	}
	p, _ := newProbe(t, settings{"url": "http://" + address, "timeout": "200ms"})
	s := newRun(t, p).sendOnce()
	if s.Class != sample.ConnectTimeout || s.Phase != sample.PhaseConnect || s.Conn != 0 || s.Remote != address {
		t.Errorf("class %q in phase %q: %+v", s.Class, s.Phase, s)
	}
	if took := s.Ended - s.Started; took < 200*ms || took > 5*sec {
		t.Errorf("gave up after %d ns", took)
	}
}
