package cli

import "golang.org/x/sys/unix"

// machineMemory returns how much memory the machine has, or 0 if that is not known.
func machineMemory() uint64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return info.Totalram * uint64(info.Unit)
}
