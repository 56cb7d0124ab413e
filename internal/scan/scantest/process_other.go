//go:build !linux

package scantest

import "syscall"

// diesWithTest does nothing: only Linux can end a child with its parent.
func diesWithTest() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
