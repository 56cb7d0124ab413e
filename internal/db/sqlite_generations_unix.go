//go:build unix

package db

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mappedGenerations are the counters mapped into the memory of every process. The
// mapping, 4 KB, stays for the life of the process, because it must not be unmapped while
// it is read.
type mappedGenerations struct {
	counters []atomic.Uint64
}

func openGenerations(dir string) (generations, error) {
	file, err := openGenerationsFile(dir)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the mapping stays
	memory, err := unix.Mmap(int(file.Fd()), 0, generationsSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map generation file: %w", err)
	}
	// A mapping starts at a page boundary, so its numbers are aligned.
	return &mappedGenerations{unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&memory[0])), generationsCount)}, nil
}

// of adds two counters that only grow, so the sum shows a change of either.
func (m *mappedGenerations) of(owner string) uint64 {
	return m.counters[0].Load() + m.counters[GenerationSlot(owner)].Load()
}

func (m *mappedGenerations) invalidate(owner string) { m.counters[GenerationSlot(owner)].Add(1) }
