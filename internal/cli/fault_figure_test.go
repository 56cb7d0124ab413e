package cli_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// fullRun is set by "make faults", which repeats everything often enough for reliable
// figures. Other runs use a short form.
var fullRun = os.Getenv("FORMULARY_FAULTS") != ""

// shortOrFull returns how often to do something.
func shortOrFull(short, full int) int {
	if fullRun {
		return full
	}
	return short
}

// timesFrom is shortOrFull, unless an environment variable says how often.
func timesFrom(variable string, short, full int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	return shortOrFull(short, full)
}

// reportFigure logs a row of the table in docs/reliability.md: the fault and its
// outcome.
func reportFigure(t *testing.T, fault, format string, args ...any) {
	t.Helper()
	engine := "SQLite"
	if name := strings.ToLower(t.Name()); strings.Contains(name, "postgres") || strings.Contains(name, "nodes") || strings.Contains(name, "standby") {
		engine = "PostgreSQL"
	}
	t.Logf("FIGURE | %s | %s | %s |", fault, engine, fmt.Sprintf(format, args...))
}

// residentMB returns the resident memory of the process in MB.
func (p *program) residentMB() int {
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
