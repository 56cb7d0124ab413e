//go:build !linux && !darwin && !freebsd && !windows

package cli

// machineMemory returns 0: it is not known how much memory the machine has.
func machineMemory() uint64 { return 0 }
