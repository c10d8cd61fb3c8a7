package probe

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Fault is a panic in a goroutine of the probe. It ends the run with an error:
// left alone it would end the process, with Go's exit code 2, which is that of
// bad input, and the deploy with it.
type Fault struct {
	Panic any
	Stack []byte
}

// Error says what to do in its first line; the stack is behind it.
func (f *Fault) Error() string {
	return fmt.Sprintf("a fault of Cutwatch in the probe: %v; please report it with what follows at https://github.com/cutwatch/cutwatch/issues\n%s", f.Panic, f.Stack)
}

// faults takes what the probe's goroutines panic with.
type faults struct {
	any   chan struct{} // closed with the first
	once  sync.Once
	first *Fault // set before any is closed
}

func newFaults() *faults { return &faults{any: make(chan struct{})} }

// guard makes do fit to be run by a goroutine.
func (f *faults) guard(do func()) func() {
	return func() {
		defer f.catch()
		do()
	}
}

// catch is to be deferred.
func (f *faults) catch() {
	broken := recover()
	if broken == nil {
		return
	}
	f.once.Do(func() {
		f.first = &Fault{Panic: broken, Stack: debug.Stack()}
		close(f.any)
	})
}

// met is the first fault, nil without one.
func (f *faults) met() error {
	select {
	case <-f.any:
		return f.first
	default:
		return nil
	}
}
