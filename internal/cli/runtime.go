package cli

import (
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// tuner adjusts the Go runtime for serving. Its settings belong to the whole
// process, so Main passes a real one, once, and tests that serve many times in
// one process pass none.
type tuner func(*slog.Logger)

const (
	// The live heap is small, so collecting seldom costs little memory.
	servingGCPercent = 400

	// Part of the limit that remains for SQLite's memory, which the Go runtime
	// does not manage, and on a machine for other programs and the file cache.
	containerPercent = 90
	machinePercent   = 75
	// Below this the garbage collector would run all the time.
	minMemoryLimit = 64 << 20
)

// tuneRuntime sets what the environment does not: GOGC, GOMAXPROCS, GOMEMLIMIT.
func tuneRuntime(log *slog.Logger) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(servingGCPercent)
	}
	// A goroutine that waits for the disk keeps its processor, so there is one
	// more of them than the machine has.
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
	source := "GOMEMLIMIT"
	if os.Getenv("GOMEMLIMIT") == "" {
		var bytes int64
		bytes, source = memoryLimit(os.DirFS("/"), machineMemory())
		if bytes > 0 {
			debug.SetMemoryLimit(bytes)
		}
	}
	log.Info("runtime", "gomaxprocs", runtime.GOMAXPROCS(0), "memory_limit", debug.SetMemoryLimit(-1), "memory_limit_from", source)
}

// memoryLimit returns how many bytes the Go runtime should stay below, and where
// that comes from: the limit of the container, or what the machine has (0 if that
// is not known).
func memoryLimit(root fs.FS, machine uint64) (bytes int64, source string) {
	container := cgroupLimit(root)
	switch {
	case container < machine || machine == 0 && container != noLimit:
		bytes, source = int64(container/100*containerPercent), "container"
	case machine > 0:
		bytes, source = int64(min(machine, math.MaxInt64)/100*machinePercent), "machine"
	default:
		return 0, "none"
	}
	return max(bytes, minMemoryLimit), source
}

// noLimit is more than any cgroup says: version 1 says nearly 2⁶³ for none.
const noLimit = uint64(math.MaxUint64)

// cgroupLimit returns the least memory limit of the groups that this process is
// in, on Linux. A container may see its own group as the root or under the host's
// name, so every group on the path counts, and those that cannot be read do not.
func cgroupLimit(root fs.FS) uint64 {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return noLimit
	}
	least := noLimit
	for line := range strings.Lines(string(text)) {
		// hierarchy:controllers:path
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[0] == "0" && parts[1] == "":
			least = min(least, groupLimit(root, "sys/fs/cgroup", parts[2], "memory.max"))
		case slices.Contains(strings.Split(parts[1], ","), "memory"):
			least = min(least, groupLimit(root, "sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes"))
		}
	}
	return least
}

// groupLimit returns the least limit of a group and its parents.
func groupLimit(root fs.FS, mount, group, file string) uint64 {
	least := noLimit
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		if text, err := fs.ReadFile(root, path.Join(mount, group, file)); err == nil {
			// "max" is no number, and no limit.
			if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 && n < math.MaxInt64/2 {
				least = min(least, n)
			}
		}
		if group == "/" {
			return least
		}
	}
}
