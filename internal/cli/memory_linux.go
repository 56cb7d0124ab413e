package cli

import "golang.org/x/sys/unix"

// machineMemory returns the physical memory in bytes, or 0 if it is unknown.
func machineMemory() uint64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return info.Totalram * uint64(info.Unit)
}
