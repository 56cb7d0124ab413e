package db

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"sync/atomic"
)

// fileGenerations read and write the counters' file at every call, for platforms
// without a mapping. It is compiled everywhere, so that the tests on Linux run
// what Windows runs.
//
// A process cannot add to a number in a file atomically, so a change writes a
// random number instead: whatever two processes write at once, a third finds a
// number that it has not seen before.
type fileGenerations struct {
	file *os.File
	// own counts the changes made by this process, which must see them even when
	// the file cannot be written.
	own [generationsCount]atomic.Uint64
}

func openFileGenerations(dir string) (*fileGenerations, error) {
	file, err := openGenerationsFile(dir)
	if err != nil {
		return nil, err
	}
	return &fileGenerations{file: file}, nil
}

func (m *fileGenerations) of(owner string) uint64 {
	slot := GenerationSlot(owner)
	all, err := m.read(0)
	one, err2 := m.read(slot)
	if err != nil || err2 != nil {
		// Changes made elsewhere cannot be seen: nothing cached is valid.
		m.own[0].Add(1)
	}
	return all + one + m.own[0].Load() + m.own[slot].Load()
}

func (m *fileGenerations) read(slot uint32) (uint64, error) {
	var number [8]byte
	_, err := m.file.ReadAt(number[:], int64(slot)*8)
	return binary.LittleEndian.Uint64(number[:]), err
}

// invalidate writes to the file as well as it can: after a failed write other processes
// learn of the change when their cached values expire.
func (m *fileGenerations) invalidate(owner string) {
	slot := GenerationSlot(owner)
	m.own[slot].Add(1)
	var number [8]byte
	binary.LittleEndian.PutUint64(number[:], rand.Uint64())
	_, _ = m.file.WriteAt(number[:], int64(slot)*8)
}
