package cli_test

import "syscall"

// Windows cannot pause processes with signals; tests that need it fail there.
const pauseSignal, resumeSignal = syscall.Signal(0), syscall.Signal(0)

func sendSignal(int, syscall.Signal) error { return syscall.EWINDOWS }

func runAs(*syscall.SysProcAttr, uint32, uint32) {}
