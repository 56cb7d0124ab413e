package db

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// userTimeout makes the system give up on a connection whose data the other side
// does not acknowledge.
func userTimeout(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		// Best effort: the limits on statements hold without it.
		_ = windows.SetsockoptInt(windows.Handle(fd), windows.IPPROTO_TCP, windows.TCP_MAXRT, int(statementLimit.Seconds()))
	})
}
