//go:build !unix

package main

import (
	"errors"
	"time"
)

// ownCPU fails: the benchmark reads /proc, so it runs only on Linux.
func ownCPU() (time.Duration, error) {
	return 0, errors.New("CPU time: this platform does not report it")
}
