package cli_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// long says whether there is time: make faults does everything as often as it
// takes to be believed, the usual run a short form of it.
var long = os.Getenv("FORMULARY_FAULTS") != ""

// times is how often something is done.
func times(short, many int) int {
	if long {
		return many
	}
	return short
}

// figure is a line of the table in docs/reliability.md: what was done to the
// service, and what came of it.
func figure(t *testing.T, fault, format string, args ...any) {
	t.Helper()
	engine := "SQLite"
	if name := strings.ToLower(t.Name()); strings.Contains(name, "postgres") || strings.Contains(name, "nodes") || strings.Contains(name, "standby") {
		engine = "PostgreSQL"
	}
	t.Logf("FIGURE | %s | %s | %s |", fault, engine, fmt.Sprintf(format, args...))
}

// resident is the memory of the process in MB.
func (p *program) resident() int {
	p.t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/status")
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kb int
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kb); n == 1 {
			return kb >> 10
		}
	}
	p.t.Fatal("the process does not say how much memory it has")
	return 0
}
