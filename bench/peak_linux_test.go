package main

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

func TestPeak(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: &exec.Cmd{Process: self}}
	const size = 64 << 20
	block, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < size; i += os.Getpagesize() {
		block[i] = 1
	}
	if err := syscall.Munmap(block); err != nil {
		t.Fatal(err)
	}
	before, err := p.peak()
	if err != nil || before < size {
		t.Fatalf("the peak is %d: %v", before, err)
	}
	if err := p.resetPeak(); err != nil {
		t.Fatal(err)
	}
	if after, err := p.peak(); err != nil || after > before-size/2 {
		t.Errorf("the peak was %d and is %d: %v", before, after, err)
	}
}
