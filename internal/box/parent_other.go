//go:build !linux

package box

import "syscall"

// dieWithParent leaves it to the end of standard input.
func dieWithParent() *syscall.SysProcAttr { return nil }
