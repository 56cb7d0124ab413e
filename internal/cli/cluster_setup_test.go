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

// postgresPair is a PostgreSQL primary with a synchronous standby: acknowledged commits
// are on the disk of both.
type postgresPair struct {
	t                *testing.T
	primary, standby *postgresServer
	urls             string // both hosts; clients connect to the primary
}

func newPostgresPair(t *testing.T) *postgresPair {
	t.Helper()
	p := &postgresPair{t: t, primary: newPostgresServer(t), standby: newPostgresDir(t)}
	p.urls = fmt.Sprintf("postgres://formulary@127.0.0.1:%s,127.0.0.1:%s/postgres?sslmode=disable&target_session_attrs=read-write", p.primary.port, p.standby.port)
	p.primary.start()
	p.rebuildStandby()
	return p
}

// rebuildStandby makes the standby a new copy of the primary, on which every commit
// then waits.
func (p *postgresPair) rebuildStandby() {
	p.t.Helper()
	if err := os.RemoveAll(p.standby.data()); err != nil {
		p.t.Fatal(err)
	}
	slot := "follows_" + p.standby.port
	backup := p.standby.command("pg_basebackup", "-D", p.standby.data(), "-h", "127.0.0.1", "-p", p.primary.port, "-U", "formulary",
		"-R", "-C", "-S", slot, "-c", "fast", "--no-sync")
	if out, err := backup.CombinedOutput(); err != nil {
		p.t.Fatalf("pg_basebackup: %v\n%s", err, out)
	}
	// The copy must not wait for a standby of its own.
	settings := "\nsynchronous_standby_names = ''\nwal_retrieve_retry_interval = 200ms\n"
	file, err := os.OpenFile(filepath.Join(p.standby.data(), "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(settings); err != nil {
		p.t.Fatal(err)
	}
	p.standby.start()
	p.primary.exec("ALTER SYSTEM SET synchronous_standby_names = '*'")
	p.primary.exec("SELECT pg_reload_conf()")
	p.primary.waitUntil("followed", "SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state = 'sync'", 1)
}

// promote makes the standby the primary.
func (p *postgresPair) promote() {
	p.t.Helper()
	p.standby.exec("SELECT pg_promote(true, 60)")
	p.primary, p.standby = p.standby, p.primary
}

func (c *postgresServer) connect() *pgx.Conn {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url)
	if err != nil {
		c.t.Fatal(err)
	}
	return conn
}

func (c *postgresServer) exec(sql string, args ...any) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	conn := c.connect()
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql, args...); err != nil {
		c.t.Fatalf("%s: %v", sql, err)
	}
}

// queryInt runs a query that returns one number.
func (c *postgresServer) queryInt(sql string, args ...any) int {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	conn := c.connect()
	defer conn.Close(ctx)
	var n int
	if err := conn.QueryRow(ctx, sql, args...).Scan(&n); err != nil {
		c.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func (c *postgresServer) waitUntil(what, sql string, want int) {
	c.t.Helper()
	for deadline := time.Now().Add(waitTimeout); c.queryInt(sql) != want; time.Sleep(pollInterval) {
		if time.Now().After(deadline) {
			c.t.Fatalf("not %s after %v", what, waitTimeout)
		}
	}
}

// signal signals the server and all its child processes. Otherwise the children of a
// killed or paused server would continue.
func (c *postgresServer) signal(signal syscall.Signal) {
	c.t.Helper()
	server := c.cmd.Process.Pid
	// The parent first, because it could start more children.
	if err := sendSignal(server, signal); err != nil {
		c.t.Fatal(err)
	}
	for _, child := range children(c.t, server) {
		if err := sendSignal(child, signal); err != nil && err != syscall.ESRCH {
			c.t.Fatal(err)
		}
	}
}

// kill sends SIGKILL to the server and its child processes.
func (c *postgresServer) kill() {
	c.t.Helper()
	list := children(c.t, c.cmd.Process.Pid)
	c.stop(syscall.SIGKILL)
	for _, child := range list {
		// The child may have exited with its parent.
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
			continue // the process has exited
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
