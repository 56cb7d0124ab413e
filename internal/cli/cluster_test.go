package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

const (
	tokenQuota      = 200 // requests per minute over all nodes
	respondentQuota = 60
	// headroom is the factor by which a single measurement may exceed its limit on a
	// busy machine.
	headroom = 4
)

// nodes are two Formulary nodes on a replicated PostgreSQL, behind a load balancer.
type nodes struct {
	t        *testing.T
	db       *postgresPair
	storage  storetest.Storage
	addrs    [2]string
	a, b     *program
	balancer *balancer
	balanced *program // client of the balancer, with a new address for each request
	f        survey
	store    *store.Store
	app      clitest.App
	webhooks webhookNodes
	delays   []*delay
}

// delay is something that must happen within a time, and the times measured.
type delay struct {
	name  string
	limit time.Duration
	took  []time.Duration
}

// TestNodes: several nodes act as one service.
func TestNodes(t *testing.T) {
	t.Parallel()
	n := &nodes{t: t, db: newPostgresPair(t)}
	n.storage = storetest.Storage{Engine: "postgres", Data: t.TempDir(), URL: n.db.urls}
	for i := range n.addrs {
		n.addrs[i] = "127.0.0.1:" + stablePort(t)
	}
	n.balancer = newBalancer(t, n.addrs[:]...)
	n.balanced = &program{t: t, url: n.balancer.URL, client: &http.Client{
		Transport: distinctClients{&http.Transport{MaxIdleConnsPerHost: 64}, new(atomic.Uint32)}, Timeout: waitTimeout,
	}}
	for _, step := range []struct {
		name string
		run  func(*nodes, *testing.T)
	}{
		{"migration", (*nodes).checkMigration},
		{"codes", (*nodes).checkCodes},
		{"refusals", (*nodes).checkRefusals},
		{"deaf", (*nodes).checkHungListener},
		{"cut off", (*nodes).checkCutListener},
		{"sessions", (*nodes).checkSessions},
		{"limits", (*nodes).checkLimits},
		{"restarts", (*nodes).checkRestarts},
		{"webhooks", (*nodes).addWebhooks},
		{"killed", (*nodes).checkPrimaryKilled},
		{"hung", (*nodes).checkPrimaryHangs},
		{"hung for ever", (*nodes).checkPrimaryHangsForever},
		{"takeover", (*nodes).checkTakeover},
	} {
		if !fullRun && (step.name == "hung for ever" || step.name == "takeover") {
			continue // slow; only "make faults" runs it
		}
		startedAt := time.Now()
		if !t.Run(step.name, func(t *testing.T) { step.run(n, t) }) || t.Failed() {
			t.Fatal("later steps depend on this one")
		}
		t.Logf("%s took %v", step.name, time.Since(startedAt).Round(time.Millisecond))
	}
	n.a.stop()
	n.b.stop()
	n.reportDelays()
}

// launch starts node i at its address.
func (n *nodes) launch(i int) *program {
	name := string(rune('a' + i))
	storage := n.storage
	storage.URL += "&application_name=node_" + name
	return launchWith(n.t, storage, webhookEnv, "--addr="+n.addrs[i], "--base-url="+n.balancer.URL, "--trusted-proxies=127.0.0.1",
		fmt.Sprint("--rate-per-token=", tokenQuota), fmt.Sprint("--rate-per-respondent=", respondentQuota))
}

// viaBalancer returns a client of the balancer for one subtest.
func (n *nodes) viaBalancer(t *testing.T) *program {
	balanced := *n.balanced
	balanced.t = t
	return &balanced
}

// recordDelay records how long something took since startedAt, and fails if it took far
// longer than the limit.
func (n *nodes) recordDelay(t *testing.T, name string, startedAt time.Time, limit time.Duration) {
	t.Helper()
	took := time.Since(startedAt)
	if took > headroom*limit {
		t.Errorf("%s: %v, promised are %v", name, took, limit)
	}
	i := slices.IndexFunc(n.delays, func(p *delay) bool { return p.name == name })
	if i < 0 {
		i = len(n.delays)
		n.delays = append(n.delays, &delay{name: name, limit: limit})
	}
	n.delays[i].took = append(n.delays[i].took, took)
}

// reportDelays reports the delays. In the full run, which measures each several times,
// the medians must be within the limits.
func (n *nodes) reportDelays() {
	for _, p := range n.delays {
		slices.Sort(p.took)
		medianDelay, longest := p.took[len(p.took)/2], p.took[len(p.took)-1]
		if fullRun && medianDelay > p.limit {
			n.t.Errorf("%s: %v, promised are %v", p.name, medianDelay, p.limit)
		}
		result := fmt.Sprintf("limit %v: %v", p.limit, medianDelay.Round(100*time.Microsecond))
		if n := len(p.took); n > 1 {
			result += fmt.Sprintf(" (median of %d), %v (longest)", n, longest.Round(100*time.Microsecond))
		}
		reportFigure(n.t, "two nodes: "+p.name, "%s", result)
	}
}

// checkMigration: a migration that is killed halfway leaves nothing behind, and two
// nodes that start at once run it once.
func (n *nodes) checkMigration(t *testing.T) {
	db := n.db.primary
	const lockID = 4711
	for _, sql := range []string{
		fmt.Sprintf(`CREATE FUNCTION wait_at_gate() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(%d); END $$`, lockID),
		`CREATE EVENT TRIGGER gate ON ddl_command_start WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION wait_at_gate()`,
	} {
		db.exec(sql)
	}
	lockHolder := db.connect()
	defer lockHolder.Close(context.Background())
	if _, err := lockHolder.Exec(context.Background(), "SELECT pg_advisory_lock($1)", lockID); err != nil {
		t.Fatal(err)
	}
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	// On a slow machine the command can give up before it gets this far. Then it starts again.
	ctx, kill := context.WithCancel(context.Background())
	defer kill()
	var migrating sync.WaitGroup
	migrating.Go(func() {
		for ctx.Err() == nil {
			migrate := exec.CommandContext(ctx, file, "migrate", "--database-url="+n.storage.URL)
			migrate.SysProcAttr = diesWithTest(syscall.SIGKILL)
			if output, err := migrate.CombinedOutput(); ctx.Err() == nil {
				t.Logf("migrate: %v\n%s", err, output)
			}
		}
	})
	db.waitUntil("half-way", fmt.Sprintf("SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = %d AND NOT granted", lockID), 1)
	kill()
	migrating.Wait()
	lockHolder.Close(context.Background())
	db.waitUntil("rid of the transaction", "SELECT COUNT(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()", 0)
	if tables := db.queryInt("SELECT COUNT(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"); tables != 0 {
		t.Errorf("a migration that was killed left %d tables", tables)
	}
	db.exec("DROP EVENT TRIGGER gate")

	var both sync.WaitGroup
	both.Go(func() { n.a = n.launch(0) })
	both.Go(func() { n.b = n.launch(1) })
	both.Wait()
	if n.t.Failed() {
		t.FailNow()
	}
	if duplicates := db.queryInt("SELECT COUNT(*) FROM (SELECT name FROM migration GROUP BY name HAVING COUNT(*) > 1) AS twice"); duplicates != 0 {
		t.Errorf("%d migrations ran twice", duplicates)
	}
	if apps := db.queryInt("SELECT COUNT(*) FROM app"); apps != 1 {
		t.Errorf("two nodes that start at once made %d applications for the API page", apps)
	}
	// The later steps need these.
	n.f = openSurvey(n.t, n.storage, 0)
	n.store = storetest.Open(n.t, n.storage)
	n.app = n.addApp(t)
}

func (n *nodes) addApp(t *testing.T) clitest.App {
	t.Helper()
	app := clitest.App{Redirect: "https://nodes.example.com/cb"}
	output := clitest.Command(t, n.storage, "", "app", "add", "Nodes", "--owner="+ada, "--redirect-uri="+app.Redirect, "--json")
	if err := json.Unmarshal([]byte(output), &app); err != nil {
		t.Fatal(err)
	}
	return app
}

// issueCodes creates authorization codes for an application and a user.
func (n *nodes) issueCodes(t *testing.T, email string, app clitest.App, count int) []account.Secret {
	t.Helper()
	ctx, now := context.Background(), time.Now()
	user, err := n.store.UserByEmail(ctx, email)
	if err != nil {
		t.Fatal(err)
	}
	codes := make([]account.Secret, count)
	for i := range codes {
		codes[i] = account.NewSecret(account.Code, user.ID, now)
	}
	request := store.ConsentRequest{AppID: app.ID, RedirectURI: app.Redirect, Scopes: account.DefaultScopes()}
	// In small transactions: a slow machine must not exceed the time limit of one.
	for part := range slices.Chunk(codes, 50) {
		if err := n.store.AddCodes(ctx, request, part, now.Add(time.Hour), now); err != nil {
			t.Fatal(err)
		}
	}
	return codes
}

// exchangeCode exchanges a code at a node.
func exchangeCode(p *program, app clitest.App, code string) (httpResponse, clitest.Token) {
	a := p.form("/api/oauth2/token", app.Exchange(code))
	var token clitest.Token
	if a.err == nil {
		a.err = json.Unmarshal([]byte(a.text), &token)
	}
	return a, token
}

func (n *nodes) token(t *testing.T, email string, app clitest.App) clitest.Token {
	t.Helper()
	a, token := exchangeCode(n.a, app, n.issueCodes(t, email, app, 1)[0].Text)
	if a.err != nil || a.status != http.StatusOK {
		t.Fatalf("no token: %s", a)
	}
	return token
}

// form posts a form, with the cookies of a session if given.
func (p *program) form(path string, fields url.Values, cookies ...*http.Cookie) httpResponse {
	r, err := http.NewRequest(http.MethodPost, p.url+path, strings.NewReader(fields.Encode()))
	if err == nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for _, c := range cookies {
			r.AddCookie(c)
		}
	}
	return p.do(r, err)
}

// page requests a page with the cookies of a session.
func (p *program) page(path string, cookies []*http.Cookie) httpResponse {
	r, err := http.NewRequest(http.MethodGet, p.url+path, nil)
	if err == nil {
		for _, c := range cookies {
			r.AddCookie(c)
		}
	}
	return p.do(r, err)
}

// checkCodes: a code that is exchanged on both nodes at once succeeds on one of them.
func (n *nodes) checkCodes(t *testing.T) {
	const races, atOnce = 1000, 8
	codes := make(chan string, races)
	for _, code := range n.issueCodes(t, ada, n.app, races) {
		codes <- code.Text
	}
	close(codes)
	var won [2]atomic.Int64
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for code := range codes {
				var answers [2]httpResponse
				var both sync.WaitGroup
				for i, node := range []*program{n.a, n.b} {
					both.Go(func() { answers[i], _ = exchangeCode(node, n.app, code) })
				}
				both.Wait()
				winners := 0
				for i, a := range answers {
					switch {
					case a.err == nil && a.status == http.StatusOK:
						winners++
						won[i].Add(1)
					case a.err != nil || a.Code != 400102:
						t.Errorf("the loser got: %s", a)
					}
				}
				if winners != 1 {
					t.Errorf("%d of two exchanges succeeded", winners)
				}
			}
		})
	}
	wg.Wait()
	reportFigure(t, "the same code exchanged on two nodes at once", "%d of %d times exactly one succeeded: %d on A, %d on B",
		won[0].Load()+won[1].Load(), races, won[0].Load(), won[1].Load())
}

// checkSessions: a session works on every node until the user signs out on any of them.
func (n *nodes) checkSessions(t *testing.T) {
	a := n.a.form("/signin", url.Values{"email": {ada}, "password": {clitest.Password}})
	cookies := (&http.Response{Header: a.header}).Cookies()
	if a.err != nil || a.status != http.StatusSeeOther || len(cookies) == 0 {
		t.Fatalf("sign in on A: %s", a)
	}
	for name, node := range map[string]*program{"A": n.a, "B": n.b} {
		if a := node.page("/account", cookies); a.status != http.StatusOK {
			t.Errorf("signed in on A, on %s: %s", name, a)
		}
	}
	if a := n.b.form("/signout", nil, cookies...); a.status != http.StatusSeeOther {
		t.Fatalf("sign out on B: %s", a)
	}
	startedAt := time.Now()
	n.a.waitUntil("signed out", func() bool { return n.a.page("/account", cookies).status != http.StatusOK })
	n.recordDelay(t, "a sign-out on B takes effect on A", startedAt, 100*time.Millisecond)
}
