package cli

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestMemoryLimit(t *testing.T) {
	const gib = 1 << 30
	for name, c := range map[string]struct {
		files   map[string]string
		machine uint64
		want    int64
		source  string
	}{
		"container, version 2": {
			files:   map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n"},
			machine: 8 * gib, want: 536870912 / 100 * 90, source: "container",
		},
		"unit of systemd, limit of its slice": {
			files: map[string]string{
				"proc/self/cgroup": "0::/system.slice/formulary.service\n",
				"sys/fs/cgroup/system.slice/formulary.service/memory.max": "max\n",
				"sys/fs/cgroup/system.slice/memory.max":                   "2147483648\n",
			},
			machine: 8 * gib, want: 2 * gib / 100 * 90, source: "container",
		},
		"the least of several": {
			files: map[string]string{
				"proc/self/cgroup":               "0::/a/b\n",
				"sys/fs/cgroup/a/b/memory.max":   "1073741824\n",
				"sys/fs/cgroup/a/memory.max":     "805306368\n",
				"sys/fs/cgroup/other/memory.max": "1\n",
			},
			machine: 8 * gib, want: 805306368 / 100 * 90, source: "container",
		},
		"container, version 1, under the host's name": {
			files: map[string]string{
				"proc/self/cgroup":                           "13:rdma:/\n12:memory:/docker/5a3c0ffee\n11:cpu,cpuacct:/docker/5a3c0ffee\n1:name=systemd:/docker/5a3c0ffee\n0::/system.slice/docker.service\n",
				"sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n",
			},
			machine: 8 * gib, want: 268435456 / 100 * 90, source: "container",
		},
		"version 1 without a limit": {
			files: map[string]string{
				"proc/self/cgroup": "4:memory:/user.slice\n0::/user.slice\n",
				"sys/fs/cgroup/memory/user.slice/memory.limit_in_bytes": "9223372036854771712\n",
				"sys/fs/cgroup/memory/memory.limit_in_bytes":            "9223372036854771712\n",
			},
			machine: 8 * gib, want: 8 * gib / 100 * 75, source: "machine",
		},
		"a limit above what the machine has": {
			files:   map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "17179869184\n"},
			machine: 8 * gib, want: 8 * gib / 100 * 75, source: "machine",
		},
		"no cgroups":               {machine: 4 * gib, want: 4 * gib / 100 * 75, source: "machine"},
		"files without a meaning":  {files: map[string]string{"proc/self/cgroup": "nothing\n0::/\n", "sys/fs/cgroup/memory.max": "much\n"}, machine: 4 * gib, want: 4 * gib / 100 * 75, source: "machine"},
		"a path that leads out":    {files: map[string]string{"proc/self/cgroup": "0::/../../x\n", "sys/fs/cgroup/memory.max": "1073741824\n"}, machine: 4 * gib, want: gib / 100 * 90, source: "container"},
		"a very small container":   {files: map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "33554432\n"}, machine: 4 * gib, want: minMemoryLimit, source: "container"},
		"unknown machine size":     {source: "none"},
		"a container on one":       {files: map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1073741824\n"}, want: gib / 100 * 90, source: "container"},
		"a machine beyond belief":  {machine: math.MaxUint64 - 1, want: math.MaxInt64 / 100 * 75, source: "machine"},
		"no limit in version 2":    {files: map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, machine: gib, want: gib / 100 * 75, source: "machine"},
		"a group without its file": {files: map[string]string{"proc/self/cgroup": "0::/init.scope\n"}, machine: gib, want: gib / 100 * 75, source: "machine"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, text := range c.files {
				file = filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got, source := memoryLimit(os.DirFS(root), c.machine); got != c.want || source != c.source {
				t.Errorf("%d from %s, not %d from %s", got, source, c.want, c.source)
			}
		})
	}
}

func TestMachineMemory(t *testing.T) {
	if got := machineMemory(); got < minMemoryLimit {
		t.Errorf("this machine has %d bytes of memory", got)
	}
}
