package scantest

import "syscall"

// diesWithTest makes a child process end when the test process does.
func diesWithTest() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
