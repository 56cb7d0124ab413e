//go:build unix

package cli_test

import "syscall"

// Signals that pause and resume a process.
const pauseSignal, resumeSignal = syscall.SIGSTOP, syscall.SIGCONT

func sendSignal(pid int, signal syscall.Signal) error { return syscall.Kill(pid, signal) }

// runAs makes a child process run as another user.
func runAs(child *syscall.SysProcAttr, uid, gid uint32) {
	child.Credential = &syscall.Credential{Uid: uid, Gid: gid}
}
