//go:build darwin || freebsd

package cli

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// machineMemory returns the physical memory in bytes, or 0 if it is unknown.
func machineMemory() uint64 {
	name := "hw.physmem"
	if runtime.GOOS == "darwin" {
		name = "hw.memsize"
	}
	bytes, err := unix.SysctlUint64(name)
	if err != nil {
		return 0
	}
	return bytes
}
