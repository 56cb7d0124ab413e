//go:build unix

package store

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mappedMarks are the counters mapped into the memory of every process. The
// mapping, 4 KB, stays for the life of the process: a reader must never find it
// gone.
type mappedMarks struct {
	counters []atomic.Uint64
}

func openMarks(dir string) (marks, error) {
	file, err := openMarksFile(dir)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the mapping stays
	memory, err := unix.Mmap(int(file.Fd()), 0, marksSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map generation file: %w", err)
	}
	// A mapping starts at a page boundary, so its numbers are aligned.
	return &mappedMarks{unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&memory[0])), marksCount)}, nil
}

// of adds two counters that only grow, so the sum shows a change of either.
func (m *mappedMarks) of(owner string) uint64 {
	return m.counters[0].Load() + m.counters[markSlot(owner)].Load()
}

func (m *mappedMarks) bump(owner string) { m.counters[markSlot(owner)].Add(1) }
