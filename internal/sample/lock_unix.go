//go:build unix

package sample

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the file for this writer until it is closed, or its process ends.
// A file system that knows no locks is taken as it is.
func lock(file *os.File) error {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errors.New("another run is writing to it; give each its own report-dir")
	}
	return nil
}
