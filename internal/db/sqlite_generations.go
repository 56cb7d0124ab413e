package db

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
)

// generations tell a process that cached values of an owner are out of date, also when
// another process on the same data directory changed them: a command beside the
// server takes effect with the server's next request. They are counters in a
// file. Where the platform can map a file into memory (sqlite_generations_unix.go),
// checking one costs a memory read; elsewhere the file is read
// (sqlite_generations_file.go). Counter 0 belongs to all owners, the others are shared
// by hash of the owner's ID.
type generations interface {
	// of returns a number that differs once anything of the owner has changed.
	of(owner string) uint64
	// invalidate invalidates what any process cached for the owner.
	invalidate(owner string)
}

const (
	generationsFile  = "formulary.marks"
	generationsCount = 512
	generationsSize  = generationsCount * 8
)

// openGenerationsFile opens the file of counters and makes sure that all its bytes
// exist on disk, so that changing a counter later cannot fail on a full disk.
// Missing bytes are appended: two processes that start at once may make the file
// longer than it has to be, but never reset a counter.
func openGenerationsFile(dir string) (*os.File, error) {
	name := filepath.Join(dir, generationsFile)
	end, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open generation file: %w", err)
	}
	defer end.Close()
	info, err := end.Stat()
	if err != nil {
		return nil, fmt.Errorf("resize generation file: %w", err)
	}
	if missing := generationsSize - info.Size(); missing > 0 {
		if _, err := end.Write(make([]byte, missing)); err != nil {
			return nil, fmt.Errorf("resize generation file: %w", err)
		}
	}
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open generation file: %w", err)
	}
	return file, nil
}

// GenerationSlot returns the index of the counter of an owner. Owners with the same slot
// are invalidated together.
func GenerationSlot(owner string) uint32 {
	if owner == AllOwners {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(owner))
	return 1 + h.Sum32()%(generationsCount-1)
}
