package cli_test

import "syscall"

// diesWithTest makes a child process receive the signal when the test process exits.
func diesWithTest(signal syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: signal}
}
