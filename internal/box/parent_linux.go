package box

import "syscall"

// dieWithParent has the kernel kill the child when its parent is gone.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
