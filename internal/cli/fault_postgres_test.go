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
	// someAnswers are waited for before the next thing happens.
	someAnswers = 100
)

// While PostgreSQL is away, however it went, submissions are refused with
// 503001; when it is back, so is the service, by itself. Clients that send the
// same key until they are answered make one response each time.
func TestPostgresStops(t *testing.T) {
	t.Parallel()
	server := newCluster(t)
	server.start()
	place := storetest.Place{Engine: "postgres", Data: t.TempDir(), URL: server.url}
	f := openSurvey(t, place, 0)
	p := launch(t, place)

	var taken, refused atomic.Int64
	done := make(chan struct{})
	acknowledged := make([]map[string]string, submitters) // ids by key
	var all sync.WaitGroup
	for client := range submitters {
		acknowledged[client] = map[string]string{}
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				key := fmt.Sprintf("%d-%d", client, n)
				id := p.submitUntilTaken(f, client, key, &refused)
				if id == "" {
					return
				}
				acknowledged[client][key] = id
				taken.Add(1)
			}
		})
	}
	finish := sync.OnceFunc(func() { close(done); all.Wait() })
	t.Cleanup(finish)
	more := func(what string, counter *atomic.Int64, n int64) {
		t.Helper()
		enough := counter.Load() + n
		p.eventually(what, func() bool { return counter.Load() >= enough || t.Failed() })
	}
	resets := times(5, 50)
	for range resets {
		server.reset()
		more("taking submissions after its connections were reset", &taken, someAnswers/5)
	}
	figure(t, fmt.Sprintf("%d × all connections to PostgreSQL reset", resets), "%d submissions taken meanwhile, %d refused with 503 and sent again", taken.Load(), refused.Load())
	for _, way := range []struct {
		name   string
		signal os.Signal
	}{
		{"fast", syscall.SIGINT}, {"immediate", syscall.SIGQUIT}, {"killed", syscall.SIGKILL},
	} {
		more("taking submissions before PostgreSQL is stopped", &taken, someAnswers)
		controls, err := p.openPage(f.page)
		if err != nil {
			t.Fatal(err)
		}
		server.stop(way.signal)
		more("refusing while PostgreSQL is away ("+way.name+")", &refused, someAnswers)
		p.eventually("saying that it is not ready ("+way.name+")", func() bool {
			return p.get("/readyz", "").status == http.StatusServiceUnavailable
		})
		if a := p.get("/healthz", ""); a.status != http.StatusOK {
			t.Errorf("/healthz while PostgreSQL is away: %s", a)
		}
		if a := p.sendPage(f.page, controls, "page"); !a.unavailablePage() {
			t.Errorf("the page while PostgreSQL is away: %s", a)
		}
		server.start()
		more("taking submissions again ("+way.name+")", &taken, someAnswers)
		if t.Failed() {
			break
		}
	}
	finish()
	p.eventually("ready again", func() bool { return p.get("/readyz", "").status == http.StatusOK })

	found := map[string]string{} // ids by key
	for id, key := range p.stored(f) {
		if earlier, twice := found[key]; twice {
			t.Errorf("%s made %s and %s", key, earlier, id)
		}
		found[key] = id
	}
	keys := 0
	for _, ids := range acknowledged {
		keys += len(ids)
		for key, id := range ids {
			if found[key] != id {
				t.Errorf("%s was acknowledged as %s, what is there is %q", key, id, found[key])
			}
		}
	}
	if len(found) != keys {
		t.Errorf("%d keys made %d responses", keys, len(found))
	}
	p.stop()
	figure(t, "PostgreSQL stopped (fast, immediate, kill -9) and started", "%d keys made %d responses; %d refusals with 503 meanwhile", keys, len(found), refused.Load())
}

// submitUntilTaken sends a submission with its key until it is acknowledged, and
// returns its id; or nothing, when there is no use in going on.
// Half of the clients are anybody, the others are the owner's application.
func (p *program) submitUntilTaken(f survey, client int, key string, refused *atomic.Int64) string {
	path, headers := f.page, []string{"Idempotency-Key: " + key}
	if client%2 == 0 {
		path, headers = f.path, append(headers, "Authorization: Bearer "+f.token)
	}
	for deadline := time.Now().Add(2 * patience); ; time.Sleep(pause) {
		a := p.post(path, submission(key), headers...)
		if a.err == nil && a.status == http.StatusCreated {
			return a.ID
		}
		if wrong := a.unavailable(); wrong != "" {
			p.t.Errorf("%s: %s\n%s", key, wrong, p.lastWords())
			return ""
		}
		if refused.Add(1); time.Now().After(deadline) {
			p.t.Errorf("%s was never taken\n%s", key, p.lastWords())
		}
		if p.t.Failed() {
			return ""
		}
	}
}

// cluster is a PostgreSQL of a test's own, which can be stopped. It waits for the
// disk before it says that something is there, as PostgreSQL does by itself.
type cluster struct {
	t    *testing.T
	bin  string
	dir  string
	url  string
	port string
	as   *syscall.SysProcAttr
	cmd  *exec.Cmd
	over chan struct{} // closed when the process has ended
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := newPlace(t)
	init := c.command("initdb", "-D", c.data(), "-U", "formulary", "-A", "trust", "-E", "UTF8", "--no-sync")
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	return c
}

// newPlace is where a cluster goes, without one.
func newPlace(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, bin: findPostgres(t), as: diesWithTest(syscall.SIGQUIT), port: quietPort(t)}
	// Not t.TempDir, into whose parent nobody else may look.
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
	// PostgreSQL refuses to run as root, so root hands it to an ordinary user.
	if os.Getuid() == 0 {
		uid, gid := ordinaryUser(t)
		runAs(c.as, uid, gid)
		if err := os.Chown(c.dir, int(uid), int(gid)); err != nil {
			t.Fatal(err)
		}
	}
	c.url = "postgres://formulary@127.0.0.1:" + c.port + "/postgres?sslmode=disable"
	return c
}

func (c *cluster) data() string { return filepath.Join(c.dir, "data") }

func (c *cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = c.dir, append(os.Environ(), "HOME="+c.dir), c.as
	return cmd
}

// start runs the server until it takes connections. After a kill the children of
// the last one may be there for a moment; until then it ends at once.
func (c *cluster) start() {
	c.t.Helper()
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(pause) {
		if c.cmd == nil {
			c.cmd = c.command("postgres", "-D", c.data(), "-p", c.port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+c.dir)
			c.cmd.Stdout, c.cmd.Stderr = log, log
			if err := c.cmd.Start(); err != nil {
				c.t.Fatal(err)
			}
			c.over = make(chan struct{})
			go func(cmd *exec.Cmd, over chan struct{}) { cmd.Wait(); close(over) }(c.cmd, c.over)
		}
		if c.takes() {
			return
		}
		select {
		case <-c.over:
			c.cmd = nil
		default:
		}
	}
	text, _ := os.ReadFile(log.Name())
	c.t.Fatalf("PostgreSQL does not start\n%s", text[max(0, len(text)-4000):])
}

// takes says whether the server takes connections.
func (c *cluster) takes() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url)
	if err != nil {
		return false
	}
	conn.Close(ctx)
	return true
}

// reset ends everybody's connections.
func (c *cluster) reset() {
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

// stop ends the server: SIGINT is a fast shutdown, SIGQUIT an immediate one,
// SIGKILL is none at all.
func (c *cluster) stop(signal os.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(signal); err != nil {
		c.t.Errorf("stop PostgreSQL: %v", err)
	}
	select {
	case <-c.over:
	case <-time.After(patience):
		c.t.Errorf("PostgreSQL does not end with %v", signal)
		c.cmd.Process.Kill()
		<-c.over
	}
	c.cmd = nil
}

// findPostgres is the folder of the newest server, as in scripts/lib.sh.
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

// quietPort is one that nobody listens on, below those that the system gives to
// connections: it must still be free when the server comes back to it.
func quietPort(t *testing.T) string {
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
