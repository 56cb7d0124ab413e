//go:build unix

package server

import "syscall"

// openFileLimit returns how many files the process may have open, sockets included. The
// Go runtime raises the soft limit to the hard limit at start.
func openFileLimit() (uint64, bool) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur == 0 {
		return 0, false
	}
	return uint64(limit.Cur), true
}
