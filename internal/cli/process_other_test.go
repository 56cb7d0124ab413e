//go:build !linux

package cli_test

import "syscall"

// diesWithTest does nothing: only Linux can end a child with its parent.
func diesWithTest(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
