package cli_test

import "syscall"

// diesWithTest makes a child end with the signal when the test's process ends.
func diesWithTest(signal syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: signal}
}
