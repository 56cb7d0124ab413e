package cli_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"formulary/internal/store/storetest"
)

const (
	submitters = 8
	// someAnswers is how many responses to wait for before the next event.
	someAnswers = 100
)

// TestPostgresStops: while PostgreSQL is down, for whatever reason, submissions are
// refused with 503001. The service recovers by itself. Clients that repeat an
// idempotency key until they get a response create one response per key.
func TestPostgresStops(t *testing.T) {
	t.Parallel()
	server := newPostgresServer(t)
	server.start()
	storage := storetest.Storage{Engine: "postgres", Data: t.TempDir(), URL: server.url}
	f := openSurvey(t, storage, 0)
	p := launch(t, storage)

	var accepted, refused atomic.Int64
	done := make(chan struct{})
	acknowledged := make([]map[string]string, submitters) // ids by key
	var wg sync.WaitGroup
	for client := range submitters {
		acknowledged[client] = map[string]string{}
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				key := fmt.Sprintf("%d-%d", client, n)
				id := p.submitUntilAccepted(f, client, key, &refused)
				if id == "" {
					return
				}
				acknowledged[client][key] = id
				accepted.Add(1)
			}
		})
	}
	finish := sync.OnceFunc(func() { close(done); wg.Wait() })
	t.Cleanup(finish)
	waitForMore := func(what string, counter *atomic.Int64, n int64) {
		t.Helper()
		target := counter.Load() + n
		p.waitUntil(what, func() bool { return counter.Load() >= target || t.Failed() })
	}
	resets := shortOrFull(5, 50)
	for range resets {
		server.terminateConnections()
		waitForMore("taking submissions after its connections were reset", &accepted, someAnswers/5)
	}
	reportFigure(t, fmt.Sprintf("%d × all connections to PostgreSQL reset", resets), "%d submissions accepted meanwhile, %d refused with 503 and resent", accepted.Load(), refused.Load())
	for _, shutdown := range []struct {
		name   string
		signal os.Signal
	}{
		{"fast", syscall.SIGINT}, {"immediate", syscall.SIGQUIT}, {"killed", syscall.SIGKILL},
	} {
		waitForMore("taking submissions before PostgreSQL is stopped", &accepted, someAnswers)
		controls, err := p.openPage(f.page)
		if err != nil {
			t.Fatal(err)
		}
		server.stop(shutdown.signal)
		waitForMore("refusing while PostgreSQL is away ("+shutdown.name+")", &refused, someAnswers)
		p.waitUntil("saying that it is not ready ("+shutdown.name+")", func() bool {
			return p.get("/readyz", "").status == http.StatusServiceUnavailable
		})
		if a := p.get("/healthz", ""); a.status != http.StatusOK {
			t.Errorf("/healthz while PostgreSQL is away: %s", a)
		}
		if a := p.sendPage(f.page, controls, "page"); !a.unavailablePage() {
			t.Errorf("the page while PostgreSQL is away: %s", a)
		}
		server.start()
		waitForMore("taking submissions again ("+shutdown.name+")", &accepted, someAnswers)
		if t.Failed() {
			break
		}
	}
	finish()
	p.waitUntil("ready again", func() bool { return p.get("/readyz", "").status == http.StatusOK })

	storedNotes := map[string]string{} // ids by key
	for id, key := range p.readStored(f) {
		if earlier, ok := storedNotes[key]; ok {
			t.Errorf("%s made %s and %s", key, earlier, id)
		}
		storedNotes[key] = id
	}
	keys := 0
	for _, ids := range acknowledged {
		keys += len(ids)
		for key, id := range ids {
			if storedNotes[key] != id {
				t.Errorf("%s was acknowledged as %s, but stored is %q", key, id, storedNotes[key])
			}
		}
	}
	if len(storedNotes) != keys {
		t.Errorf("%d keys made %d responses", keys, len(storedNotes))
	}
	p.stop()
	reportFigure(t, "PostgreSQL stopped (fast, immediate, kill -9) and started", "%d idempotency keys created %d responses; %d requests got 503 meanwhile", keys, len(storedNotes), refused.Load())
}

// submitUntilAccepted repeats a submission with its key until it is acknowledged, and
// returns the response ID, or "" if the test has failed. Odd clients submit
// anonymously, even ones with the owner's token.
func (p *program) submitUntilAccepted(f survey, client int, key string, refused *atomic.Int64) string {
	path, headers := f.page, []string{"Idempotency-Key: " + key}
	if client%2 == 0 {
		path, headers = f.path, append(headers, "Authorization: Bearer "+f.token)
	}
	for deadline := time.Now().Add(2 * waitTimeout); ; time.Sleep(pollInterval) {
		a := p.post(path, submission(key), headers...)
		if a.err == nil && a.status == http.StatusCreated {
			return a.ID
		}
		if problem := a.unavailable(); problem != "" {
			p.t.Errorf("%s: %s\n%s", key, problem, p.logTail())
			return ""
		}
		if refused.Add(1); time.Now().After(deadline) {
			p.t.Errorf("%s was never taken\n%s", key, p.logTail())
		}
		if p.t.Failed() {
			return ""
		}
	}
}

// postgresServer is a PostgreSQL server of one test, which can be stopped. As by
// default, commits wait for the disk.
type postgresServer struct {
	t           *testing.T
	bin         string
	dir         string
	url         string
	port        string
	sysProcAttr *syscall.SysProcAttr
	cmd         *exec.Cmd
	exited      chan struct{} // closed when the process has exited
}

func newPostgresServer(t *testing.T) *postgresServer {
	t.Helper()
	c := newPostgresDir(t)
	init := c.command("initdb", "-D", c.data(), "-U", "formulary", "-A", "trust", "-E", "UTF8", "--no-sync")
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	return c
}

// newPostgresDir returns a server whose data directory is empty.
func newPostgresDir(t *testing.T) *postgresServer {
	t.Helper()
	c := &postgresServer{t: t, bin: findPostgres(t), sysProcAttr: diesWithTest(syscall.SIGQUIT), port: stablePort(t)}
	// Not t.TempDir, because other users cannot access its parent.
	var err error
	if c.dir, err = os.MkdirTemp("", "formulary-postgres."); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.cmd != nil {
			c.stop(syscall.SIGQUIT)
		}
		if err := os.RemoveAll(c.dir); err != nil {
			t.Error(err)
		}
	})
	// PostgreSQL refuses to run as root, so tests that run as root start it as another
	// user.
	if os.Getuid() == 0 {
		uid, gid := ordinaryUser(t)
		runAs(c.sysProcAttr, uid, gid)
		if err := os.Chown(c.dir, int(uid), int(gid)); err != nil {
			t.Fatal(err)
		}
	}
	c.url = "postgres://formulary@127.0.0.1:" + c.port + "/postgres?sslmode=disable"
	return c
}

func (c *postgresServer) data() string { return filepath.Join(c.dir, "data") }

func (c *postgresServer) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = c.dir, append(os.Environ(), "HOME="+c.dir), c.sysProcAttr
	return cmd
}

// start runs the server and waits until it accepts connections. After a kill, children
// of the old server may remain for a short time, during which a new one exits
// immediately.
func (c *postgresServer) start() {
	c.t.Helper()
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(pollInterval) {
		if c.cmd == nil {
			c.cmd = c.command("postgres", "-D", c.data(), "-p", c.port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+c.dir)
			c.cmd.Stdout, c.cmd.Stderr = log, log
			if err := c.cmd.Start(); err != nil {
				c.t.Fatal(err)
			}
			c.exited = make(chan struct{})
			go func(cmd *exec.Cmd, exited chan struct{}) { cmd.Wait(); close(exited) }(c.cmd, c.exited)
		}
		if c.acceptsConnections() {
			return
		}
		select {
		case <-c.exited:
			c.cmd = nil
		default:
		}
	}
	text, _ := os.ReadFile(log.Name())
	c.t.Fatalf("PostgreSQL does not start\n%s", text[max(0, len(text)-4000):])
}

// acceptsConnections reports whether a client can connect.
func (c *postgresServer) acceptsConnections() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url)
	if err != nil {
		return false
	}
	conn.Close(ctx)
	return true
}

// terminateConnections ends all client connections.
func (c *postgresServer) terminateConnections() {
	c.t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, c.url)
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"); err != nil {
		c.t.Fatal(err)
	}
}

// stop ends the server: SIGINT is a fast shutdown, SIGQUIT an immediate one, SIGKILL
// none.
func (c *postgresServer) stop(signal os.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(signal); err != nil {
		c.t.Errorf("stop PostgreSQL: %v", err)
	}
	select {
	case <-c.exited:
	case <-time.After(waitTimeout):
		c.t.Errorf("PostgreSQL does not end with %v", signal)
		c.cmd.Process.Kill()
		<-c.exited
	}
	c.cmd = nil
}

// findPostgres returns the directory of the newest server, as scripts/lib.sh does.
func findPostgres(t *testing.T) string {
	t.Helper()
	version := func(dir string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		return n
	}
	list, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(list, func(a, b string) int { return version(b) - version(a) })
	if file, err := exec.LookPath("initdb"); err == nil {
		list = append(list, filepath.Dir(file))
	}
	for _, dir := range list {
		if _, err := exec.LookPath(filepath.Join(dir, "initdb")); err != nil {
			continue
		}
		if _, err := exec.LookPath(filepath.Join(dir, "postgres")); err == nil {
			return dir
		}
	}
	t.Fatalf("PostgreSQL is not installed (looked in %s): scripts/install-test-deps postgres", strings.Join(list, ", "))
	return ""
}

func ordinaryUser(t *testing.T) (uid, gid uint32) {
	t.Helper()
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		id, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		group, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		return uint32(id), uint32(group)
	}
	t.Fatal("there is neither a user postgres nor nobody, and PostgreSQL refuses to run as root")
	return 0, 0
}

// stablePort returns an unused port below the ephemeral range, so that it is still free
// after a restart of the server.
func stablePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(20_000 + rand.IntN(10_000))
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			continue
		}
		l.Close()
		return port
	}
	t.Fatal("no port is free")
	return ""
}
