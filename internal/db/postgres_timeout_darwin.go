package db

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// userTimeout makes the system give up on a connection whose data the other side
// does not acknowledge.
func userTimeout(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		// Best effort: a Unix socket has no such option.
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_RXT_CONNDROPTIME, int(statementLimit.Seconds()))
	})
}
