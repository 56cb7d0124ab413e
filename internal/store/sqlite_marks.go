package store

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// marks are counters in a file that every process on one data folder maps into
// its memory: the server sees at once, for the price of reading a number, that a
// command beside it has changed something. The first counter is everybody's,
// the others are shared out among owners by a hash of their id.
// The mapping, 4 KB, stays for the life of the process: a reader must never find
// it gone.
type marks struct {
	counters []atomic.Uint64
}

const (
	marksFile  = "formulary.marks"
	marksCount = 512
)

func openMarks(dir string) (*marks, error) {
	const size = marksCount * 8
	file, err := os.OpenFile(filepath.Join(dir, marksFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open marks: %w", err)
	}
	defer file.Close() // the mapping stays
	// The bytes are really there, so that writing to the mapping cannot fail on a
	// full disk; where the file system has no such call, it has the size.
	if err := unix.Fallocate(int(file.Fd()), 0, 0, size); err == unix.EOPNOTSUPP {
		err = file.Truncate(size)
		if err != nil {
			return nil, fmt.Errorf("size marks: %w", err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("size marks: %w", err)
	}
	memory, err := unix.Mmap(int(file.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map marks: %w", err)
	}
	// A mapping starts at a page, so its numbers are aligned.
	return &marks{unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&memory[0])), marksCount)}, nil
}

func (m *marks) slot(owner string) *atomic.Uint64 { return &m.counters[markSlot(owner)] }

// markSlot is which counter an owner shares with others.
func markSlot(owner string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(owner))
	return 1 + h.Sum32()%(marksCount-1)
}

// of is a number that differs once anything of the owner has changed: both
// counters only grow, so their sum tells a change of either.
func (m *marks) of(owner string) uint64 {
	return m.counters[0].Load() + m.slot(owner).Load()
}

func (m *marks) bump(owner string) {
	if owner == everybody {
		m.counters[0].Add(1)
		return
	}
	m.slot(owner).Add(1)
}
