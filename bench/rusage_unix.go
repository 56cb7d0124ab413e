//go:build unix

package main

import (
	"fmt"
	"syscall"
	"time"
)

// ownCPU returns the CPU time of this program.
func ownCPU() (time.Duration, error) {
	var self syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &self); err != nil {
		return 0, fmt.Errorf("CPU time: %w", err)
	}
	return time.Duration(self.Utime.Nano() + self.Stime.Nano()), nil
}
