package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// pair is a PostgreSQL that takes writes and another that follows it: what the
// first one acknowledges is on the disk of both.
type pair struct {
	t              *testing.T
	primary, other *cluster
	urls           string // of both, for a program that finds the one that takes writes
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{t: t, primary: newCluster(t), other: newPlace(t)}
	p.urls = fmt.Sprintf("postgres://formulary@127.0.0.1:%s,127.0.0.1:%s/postgres?sslmode=disable&target_session_attrs=read-write", p.primary.port, p.other.port)
	p.primary.start()
	p.follow()
	return p
}

// follow makes the other one, anew, one that follows, and then waits for it with
// every commit.
func (p *pair) follow() {
	p.t.Helper()
	if err := os.RemoveAll(p.other.data()); err != nil {
		p.t.Fatal(err)
	}
	slot := "follows_" + p.other.port
	backup := p.other.command("pg_basebackup", "-D", p.other.data(), "-h", "127.0.0.1", "-p", p.primary.port, "-U", "formulary",
		"-R", "-C", "-S", slot, "-c", "fast", "--no-sync")
	if out, err := backup.CombinedOutput(); err != nil {
		p.t.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
	// Of a primary that was itself waiting, the copy must not wait for anybody.
	settings := "\nsynchronous_standby_names = ''\nwal_retrieve_retry_interval = 200ms\n"
	file, err := os.OpenFile(filepath.Join(p.other.data(), "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(settings); err != nil {
		p.t.Fatal(err)
	}
	p.other.start()
	p.primary.exec("ALTER SYSTEM SET synchronous_standby_names = '*'")
	p.primary.exec("SELECT pg_reload_conf()")
	p.primary.eventually("followed", "SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state = 'sync'", 1)
}

// promote lets the other one take writes from now on.
func (p *pair) promote() {
	p.t.Helper()
	p.other.exec("SELECT pg_promote(true, 60)")
	p.primary, p.other = p.other, p.primary
}

func (c *cluster) connect() *pgx.Conn {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url)
	if err != nil {
		c.t.Fatal(err)
	}
	return conn
}

func (c *cluster) exec(sql string, args ...any) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn := c.connect()
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql, args...); err != nil {
		c.t.Fatalf("%s: %v", sql, err)
	}
}

// number is the answer to a question.
func (c *cluster) number(sql string, args ...any) int {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn := c.connect()
	defer conn.Close(ctx)
	var n int
	if err := conn.QueryRow(ctx, sql, args...).Scan(&n); err != nil {
		c.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func (c *cluster) eventually(what, sql string, want int) {
	c.t.Helper()
	for deadline := time.Now().Add(patience); c.number(sql) != want; time.Sleep(pause) {
		if time.Now().After(deadline) {
			c.t.Fatalf("not %s after %v", what, patience)
		}
	}
}

// signal reaches the server and every process of it: those of a server that is
// killed, or that hangs, must not go on by themselves.
func (c *cluster) signal(signal syscall.Signal) {
	c.t.Helper()
	server := c.cmd.Process.Pid
	// The server first: it could make more of them.
	if err := sendSignal(server, signal); err != nil {
		c.t.Fatal(err)
	}
	for _, child := range children(c.t, server) {
		if err := sendSignal(child, signal); err != nil && err != syscall.ESRCH {
			c.t.Fatal(err)
		}
	}
}

// kill is kill -9 for the server and all its processes.
func (c *cluster) kill() {
	c.t.Helper()
	list := children(c.t, c.cmd.Process.Pid)
	c.stop(syscall.SIGKILL)
	for _, child := range list {
		// It may have followed its server by itself.
		_ = sendSignal(child, syscall.SIGKILL)
	}
}

func children(t *testing.T, parent int) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var list []int
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state parent …
		_, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after)
		if len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		pid, err := strconv.Atoi(strings.Split(name, "/")[2])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pid)
	}
	return list
}
