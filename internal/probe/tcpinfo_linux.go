package probe

import (
	"time"

	"golang.org/x/sys/unix"
)

// rtt is the kernel's smoothed round trip of the connection; 0 where it has none.
func (k *conn) rtt() int64 {
	if k.sys == nil {
		return 0
	}
	var info *unix.TCPInfo
	var err error
	controlErr := k.sys.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	})
	if controlErr != nil || err != nil {
		return 0
	}
	return int64(info.Rtt) * int64(time.Microsecond)
}
