//go:build !linux && !darwin && !freebsd && !windows

package cli

// machineMemory returns 0: the physical memory is unknown.
func machineMemory() uint64 { return 0 }
