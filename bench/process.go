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
	// tick is the unit of CPU time in /proc, the same on every Linux that Go
	// runs on.
	tick = time.Second / 100
)

// process is a server that this benchmark started, and the only kind of process
// that it ever ends.
type process struct {
	cmd    *exec.Cmd
	addr   string
	server string        // URL of the PostgreSQL server that works for it, or empty
	ended  chan struct{} // closed when it has ended
	unhook func() bool
}

// startProcess starts a command that ends with ctx at the latest.
func startProcess(ctx context.Context, cmd *exec.Cmd) (*process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		cmd.Wait() // how it ended is of no interest: stop ends it by a signal
		close(p.ended)
	}()
	p.unhook = context.AfterFunc(ctx, p.end)
	return p, nil
}

// stop ends the process and waits for it.
func (p *process) stop() {
	p.unhook()
	p.end()
}

// end asks the process to stop, and insists after a while. The process package
// of Go never signals one that has been waited for, so its number cannot be
// somebody else's by then.
func (p *process) end() {
	p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(stopLimit):
		p.cmd.Process.Kill()
		<-p.ended
	}
}

// build makes a binary as it is released, from the module in a folder of this
// repository.
func build(ctx context.Context, module, binary string) (int64, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "formulary").Output()
	if err != nil {
		return 0, fmt.Errorf("build: find the repository: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, ".")
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

// startFormulary starts the service and returns with its first answer, and how
// long that took.
func startFormulary(ctx context.Context, binary string, at place, admin string) (*process, time.Duration, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, 0, fmt.Errorf("start formulary: %w", err)
	}
	cmd := exec.Command(binary, "serve")
	// What the caller has set for a Formulary of their own is not for this one.
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "FORMULARY_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "FORMULARY_ADDR="+addr, "FORMULARY_DATA="+at.data, "FORMULARY_DATABASE_URL="+at.url,
		"FORMULARY_RATE_LIMIT=off", "FORMULARY_FORM_LIMIT=0", "FORMULARY_STORAGE_LIMIT=0", "FORMULARY_ADMIN_ADDR="+admin)
	p, took, err := launch(ctx, cmd, addr, "/healthz", at.log)
	if err != nil {
		return nil, 0, err
	}
	p.server = at.url
	return p, took, nil
}

// launch starts a server that listens at an address and returns with its first
// answer, and how long that took.
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
	if err := p.await(ctx, health); err != nil {
		p.stop()
		return nil, 0, fmt.Errorf("start %s: %w; its log ends with:\n%s", name, err, tail(logName))
	}
	return p, time.Since(start), nil
}

// await asks until there is an answer.
func (p *process) await(ctx context.Context, health string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		_, err := ask(ctx, p.addr, get(health, ""))
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return errors.New("it ended at once")
		case <-ctx.Done():
			return fmt.Errorf("no answer: %w", err)
		case <-time.After(200 * time.Microsecond):
		}
	}
}

// freeAddr is an address that nobody listened on a moment ago.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// tail is the last part of a file, for an error message.
func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}

// cpu is how much processor time the process has used, in user and system.
func (p *process) cpu() (time.Duration, error) { return cpuOf(p.cmd.Process.Pid) }

// helpers is how much the processes of its database have used, each by its number.
func (p *process) helpers(ctx context.Context) (map[int]time.Duration, error) {
	used := map[int]time.Duration{}
	if p.server == "" {
		return used, nil
	}
	pids, err := backends(ctx, p.server)
	for _, pid := range pids {
		// One that has ended meanwhile is of no interest.
		if cpu, err := cpuOf(pid); err == nil {
			used[pid] = cpu
		}
	}
	return used, err
}

func cpuOf(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("CPU time: %w", err)
	}
	// The name in parentheses may hold anything; what follows is numbered from
	// 3, and utime and stime are 14 and 15.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return 0, errors.New("CPU time: /proc has another format")
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, errors.Join(err1, err2)
}

// others is how much processor time everything but the process and this program
// has used on the machine since it started.
func (p *process) others() (time.Duration, error) {
	all, err := elsewhere()
	if err != nil {
		return 0, err
	}
	own, err := p.cpu()
	return all - own, err
}

// elsewhere is how much everything but this program has used.
func elsewhere() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("CPU time: %w", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	var busy time.Duration
	for i, field := range strings.Fields(first) {
		// cpu, user, nice, system, idle, waiting, then what is busy again; the
		// time of guests is in that of users already.
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

// memory is how much of the process is in memory, in bytes.
func (p *process) memory() (int64, error) { return p.resident("VmRSS:") }

// peak is the most of the process that was in memory since forgetPeak.
func (p *process) peak() (int64, error) { return p.resident("VmHWM:") }

func (p *process) forgetPeak() error {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	return nil
}

func (p *process) resident(name string) (int64, error) {
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
	return 0, errors.New("memory: /proc does not tell")
}
