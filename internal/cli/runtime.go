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

// tuner adjusts the Go runtime for serving. Runtime settings apply to the whole
// process: Main passes tuneRuntime, and tests, which serve many times in one process,
// pass nil.
type tuner func(*slog.Logger)

const (
	// The live heap is small, so collecting rarely costs little memory.
	servingGCPercent = 400

	// Percentage of the available memory that the Go runtime may use. The rest is for
	// SQLite, which the runtime does not manage, and on a machine also for other
	// programs and the file cache.
	containerPercent = 90
	machinePercent   = 75
	// Below this limit the garbage collector would run all the time.
	minMemoryLimit = 64 << 20
)

// tuneRuntime sets GC percentage, GOMAXPROCS and memory limit, unless the environment
// does.
func tuneRuntime(log *slog.Logger) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(servingGCPercent)
	}
	// A goroutine that waits for the disk blocks its processor, so use one more than
	// the machine has.
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

// memoryLimit returns the memory limit for the Go runtime in bytes, and whether it
// comes from the container or the machine. A machine size of 0 is unknown.
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

// noLimit means that there is no limit. It is above every value in a cgroup: version 1
// uses almost 2⁶³ for "no limit".
const noLimit = uint64(math.MaxUint64)

// cgroupLimit returns the lowest memory limit of the cgroups of this process, on Linux.
// A container sees its cgroup as the root or under the host's name, so every group on
// the path is tried, and unreadable ones are skipped.
func cgroupLimit(root fs.FS) uint64 {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return noLimit
	}
	lowest := noLimit
	for line := range strings.Lines(string(text)) {
		// hierarchy:controllers:path
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[0] == "0" && parts[1] == "":
			lowest = min(lowest, groupLimit(root, "sys/fs/cgroup", parts[2], "memory.max"))
		case slices.Contains(strings.Split(parts[1], ","), "memory"):
			lowest = min(lowest, groupLimit(root, "sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes"))
		}
	}
	return lowest
}

// groupLimit returns the lowest limit of a group and its parents.
func groupLimit(root fs.FS, mount, group, file string) uint64 {
	lowest := noLimit
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		if text, err := fs.ReadFile(root, path.Join(mount, group, file)); err == nil {
			// "max" does not parse and means no limit.
			if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 && n < math.MaxInt64/2 {
				lowest = min(lowest, n)
			}
		}
		if group == "/" {
			return lowest
		}
	}
}
