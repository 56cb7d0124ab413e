package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	startLimit = 30 * time.Second
	stopLimit  = 15 * time.Second
	// tick is the unit of CPU time in /proc, which is the same on every Linux platform
	// of Go.
	tick = time.Second / 100
	// secretKey encrypts the secrets of webhooks that only the benchmark receives.
	secretKey = "the benchmark has no secrets to keep"
)

// process is a server that the benchmark started. The benchmark never ends other
// processes.
type process struct {
	cmd    *exec.Cmd
	addr   string
	server string        // URL of its PostgreSQL server, or empty
	ended  chan struct{} // closed when the process has exited
	detach func() bool
}

// startProcess starts a command, which ends with ctx at the latest.
func startProcess(ctx context.Context, cmd *exec.Cmd) (*process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		cmd.Wait() // the exit status is irrelevant: stop ends it with a signal
		close(p.ended)
	}()
	p.detach = context.AfterFunc(ctx, p.end)
	return p, nil
}

// stop ends the process and waits until it has exited.
func (p *process) stop() {
	p.detach()
	p.end()
}

// end sends SIGTERM, and SIGKILL after stopLimit. os.Process does not signal a process
// that has been waited for, so a reused process ID is never hit.
func (p *process) end() {
	p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(stopLimit):
		p.cmd.Process.Kill()
		<-p.ended
	}
}

// build builds a release binary from a module of this repository, and returns its size.
func build(ctx context.Context, module, binary string) (int64, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "formulary").Output()
	if err != nil {
		return 0, fmt.Errorf("build: find the repository: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w -funcalign=16", "-o", binary, ".")
	cmd.Dir = filepath.Join(strings.TrimSpace(string(root)), module)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build %s: %w\n%s", filepath.Base(binary), err, out)
	}
	info, err := os.Stat(binary)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// startFormulary starts the service, waits for its first response and returns how long
// that took.
func startFormulary(ctx context.Context, binary string, location location, admin string) (*process, time.Duration, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, 0, fmt.Errorf("start formulary: %w", err)
	}
	cmd := exec.Command(binary, "serve")
	// Ignore the caller's own settings for Formulary.
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "FORMULARY_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "FORMULARY_ADDR="+addr, "FORMULARY_DATA="+location.data, "FORMULARY_DATABASE_URL="+location.url,
		"FORMULARY_RATE_LIMIT=off", "FORMULARY_FORM_LIMIT=0", "FORMULARY_STORAGE_LIMIT=0", "FORMULARY_ADMIN_ADDR="+admin,
		"FORMULARY_WEBHOOK_ALLOW=127.0.0.1", "FORMULARY_TRUSTED_PROXIES=127.0.0.1", "FORMULARY_SECRET_KEY="+secretKey, "FORMULARY_SMTP_URL="+location.smtp)
	p, took, err := launch(ctx, cmd, addr, "/healthz", location.log)
	if err != nil {
		return nil, 0, err
	}
	p.server = location.url
	return p, took, nil
}

// launch starts a server that listens at an address, waits for its first response and
// returns how long that took.
func launch(ctx context.Context, cmd *exec.Cmd, addr, health, logName string) (*process, time.Duration, error) {
	name := filepath.Base(cmd.Path)
	log, err := os.OpenFile(logName, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("start %s: %w", name, err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	start := time.Now()
	p, err := startProcess(ctx, cmd)
	if err != nil {
		return nil, 0, fmt.Errorf("start %s: %w", name, err)
	}
	p.addr = addr
	if err := p.waitUntilReady(ctx, health); err != nil {
		p.stop()
		return nil, 0, fmt.Errorf("start %s: %w; its log ends with:\n%s", name, err, tail(logName))
	}
	return p, time.Since(start), nil
}

// waitUntilReady polls until the server responds.
func (p *process) waitUntilReady(ctx context.Context, health string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		_, err := fetch(ctx, p.addr, get(health, ""))
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return errors.New("it ended at once")
		case <-ctx.Done():
			return fmt.Errorf("no response: %w", err)
		case <-time.After(200 * time.Microsecond):
		}
	}
}

// freeAddr returns an address with an unused port.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// tail returns the end of a file, for error messages.
func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}

// cpu returns the user and system time of the process.
func (p *process) cpu() (time.Duration, error) { return readCPU(p.cmd.Process.Pid) }

// databaseCPU returns the CPU time of each PostgreSQL process that works for it, by
// process ID.
func (p *process) databaseCPU(ctx context.Context) (map[int]time.Duration, error) {
	used := map[int]time.Duration{}
	if p.server == "" {
		return used, nil
	}
	pids, err := backends(ctx, p.server)
	for _, pid := range pids {
		// Skip processes that have exited.
		if cpu, err := readCPU(pid); err == nil {
			used[pid] = cpu
		}
	}
	return used, err
}

func readCPU(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("CPU time: %w", err)
	}
	// The name in parentheses may contain anything. The fields after it count from 3;
	// utime and stime are 14 and 15.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return 0, errors.New("CPU time: /proc has another format")
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, errors.Join(err1, err2)
}

// otherCPU returns the CPU time of all processes except this program and the measured
// one, since boot.
func (p *process) otherCPU() (time.Duration, error) {
	all, err := cpuOfOthers()
	if err != nil {
		return 0, err
	}
	own, err := p.cpu()
	return all - own, err
}

// cpuOfOthers returns the CPU time of all processes except this program, since boot.
func cpuOfOthers() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("CPU time: %w", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	var busy time.Duration
	for i, field := range strings.Fields(first) {
		// The fields are cpu, user, nice, system, idle, iowait, irq, softirq, steal,
		// guest. Guest time is included in user time.
		if i == 0 || i == 4 || i == 5 || i > 8 {
			continue
		}
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("CPU time: %w", err)
		}
		busy += time.Duration(n) * tick
	}
	self, err := ownCPU()
	return busy - self, err
}

// memory returns the resident memory in bytes.
func (p *process) memory() (int64, error) { return p.residentBytes("VmRSS:") }

// peak returns the highest resident memory since resetPeak, in bytes.
func (p *process) peak() (int64, error) { return p.residentBytes("VmHWM:") }

func (p *process) resetPeak() error {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	return nil
}

func (p *process) residentBytes(name string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("memory: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("memory: not found in /proc")
}
