//go:build !linux && !darwin && !windows

package db

import "syscall"

// userTimeout does nothing where the system has no such option: keep-alive probes
// and the limits on statements end a connection that hangs.
func userTimeout(_, _ string, _ syscall.RawConn) error { return nil }
