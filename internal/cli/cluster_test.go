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
	tokenQuota      = 200 // a minute, over all nodes
	respondentQuota = 60
	// headroom is by how much a busy machine may miss what is promised, once.
	headroom = 4
)

// nodes are two Formularies on a PostgreSQL that is two, behind a load balancer.
type nodes struct {
	t        *testing.T
	db       *pair
	place    storetest.Place
	addrs    [2]string
	a, b     *program
	balancer *balancer
	through  *program // the way over the balancer, each time as somebody else
	f        survey
	store    *store.Store
	app      clitest.App
	promises []*promise
}

// promise is something that is said to happen within a time, and how long it took
// each time.
type promise struct {
	what   string
	within time.Duration
	took   []time.Duration
}

// Several nodes are one service.
func TestNodes(t *testing.T) {
	t.Parallel()
	n := &nodes{t: t, db: newPair(t)}
	n.place = storetest.Place{Engine: "postgres", Data: t.TempDir(), URL: n.db.urls}
	for i := range n.addrs {
		n.addrs[i] = "127.0.0.1:" + quietPort(t)
	}
	n.balancer = newBalancer(t, n.addrs[:]...)
	n.through = &program{t: t, url: n.balancer.URL, client: &http.Client{
		Transport: visitors{&http.Transport{MaxIdleConnsPerHost: 64}, new(atomic.Uint32)}, Timeout: patience,
	}}
	for _, step := range []struct {
		name string
		run  func(*nodes, *testing.T)
	}{
		{"migration", (*nodes).migration},
		{"codes", (*nodes).codes},
		{"refusals", (*nodes).refusals},
		{"deaf", (*nodes).deaf},
		{"cut off", (*nodes).cutOff},
		{"sessions", (*nodes).sessions},
		{"limits", (*nodes).limits},
		{"restarts", (*nodes).restarts},
		{"killed", (*nodes).killed},
		{"hung", (*nodes).hung},
		{"hung for ever", (*nodes).hungForEver},
	} {
		if step.name == "hung for ever" && !long {
			continue // it takes its time, and make faults takes it
		}
		begun := time.Now()
		if !t.Run(step.name, func(t *testing.T) { step.run(n, t) }) || t.Failed() {
			t.Fatal("what follows needs this")
		}
		t.Logf("%s took %v", step.name, time.Since(begun).Round(time.Millisecond))
	}
	n.a.stop()
	n.b.stop()
	n.kept()
}

// launch starts a node where it has its place.
func (n *nodes) launch(i int) *program {
	name := string(rune('a' + i))
	place := n.place
	place.URL += "&application_name=node_" + name
	return launchWith(n.t, place, nil, "--addr="+n.addrs[i], "--base-url="+n.balancer.URL, "--trusted-proxies=127.0.0.1",
		fmt.Sprint("--rate-per-token=", tokenQuota), fmt.Sprint("--rate-per-respondent=", respondentQuota))
}

// over is the way over the balancer, for one test.
func (n *nodes) over(t *testing.T) *program {
	through := *n.through
	through.t = t
	return &through
}

// within notes how long something took, and fails when it took much longer than is
// promised.
func (n *nodes) within(t *testing.T, what string, begun time.Time, promised time.Duration) {
	t.Helper()
	took := time.Since(begun)
	if took > headroom*promised {
		t.Errorf("%s: %v, promised are %v", what, took, promised)
	}
	i := slices.IndexFunc(n.promises, func(p *promise) bool { return p.what == what })
	if i < 0 {
		i = len(n.promises)
		n.promises = append(n.promises, &promise{what: what, within: promised})
	}
	n.promises[i].took = append(n.promises[i].took, took)
}

// kept says how the promises were kept. Where there is time for it they were looked at
// several times, and hold as they are.
func (n *nodes) kept() {
	for _, p := range n.promises {
		slices.Sort(p.took)
		middle, longest := p.took[len(p.took)/2], p.took[len(p.took)-1]
		if long && middle > p.within {
			n.t.Errorf("%s: %v, promised are %v", p.what, middle, p.within)
		}
		result := fmt.Sprintf("promised within %v: %v", p.within, middle.Round(100*time.Microsecond))
		if n := len(p.took); n > 1 {
			result += fmt.Sprintf(" (the median of %d), %v (the longest)", n, longest.Round(100*time.Microsecond))
		}
		figure(n.t, "two nodes: "+p.what, "%s", result)
	}
}

// A migration that is killed half-way has not happened; two nodes that start at
// once run it once.
func (n *nodes) migration(t *testing.T) {
	db := n.db.primary
	const gate = 4711
	for _, sql := range []string{
		fmt.Sprintf(`CREATE FUNCTION wait_at_gate() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(%d); END $$`, gate),
		`CREATE EVENT TRIGGER gate ON ddl_command_start WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION wait_at_gate()`,
	} {
		db.exec(sql)
	}
	keeper := db.connect()
	defer keeper.Close(context.Background())
	if _, err := keeper.Exec(context.Background(), "SELECT pg_advisory_lock($1)", gate); err != nil {
		t.Fatal(err)
	}
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	migrate := exec.Command(file, "migrate", "--database-url="+n.place.URL)
	migrate.SysProcAttr = diesWithTest(syscall.SIGKILL)
	if err := migrate.Start(); err != nil {
		t.Fatal(err)
	}
	db.eventually("half-way", fmt.Sprintf("SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = %d AND NOT granted", gate), 1)
	migrate.Process.Kill()
	migrate.Wait()
	keeper.Close(context.Background())
	db.eventually("rid of the transaction", "SELECT COUNT(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()", 0)
	if tables := db.number("SELECT COUNT(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"); tables != 0 {
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
	if twice := db.number("SELECT COUNT(*) FROM (SELECT name FROM migration GROUP BY name HAVING COUNT(*) > 1) AS twice"); twice != 0 {
		t.Errorf("%d migrations ran twice", twice)
	}
	if apps := db.number("SELECT COUNT(*) FROM app"); apps != 1 {
		t.Errorf("two nodes that start at once made %d applications for the API page", apps)
	}
	// What the tests after this need.
	n.f = openSurvey(n.t, n.place, 0)
	n.store = storetest.Open(n.t, n.place)
	n.app = n.addApp(t)
}

func (n *nodes) addApp(t *testing.T) clitest.App {
	t.Helper()
	app := clitest.App{Redirect: "https://nodes.example.com/cb"}
	said := clitest.Command(t, n.place, "", "app", "add", "Nodes", "--owner="+ada, "--redirect-uri="+app.Redirect, "--json")
	if err := json.Unmarshal([]byte(said), &app); err != nil {
		t.Fatal(err)
	}
	return app
}

// codes issues codes for an application to act for somebody.
func (n *nodes) issue(t *testing.T, email string, app clitest.App, many int) []account.Secret {
	t.Helper()
	ctx, now := context.Background(), time.Now()
	person, err := n.store.UserByEmail(ctx, email)
	if err != nil {
		t.Fatal(err)
	}
	codes := make([]account.Secret, many)
	for i := range codes {
		codes[i] = account.NewSecret(account.Code, person.ID, now)
	}
	ticket := store.ConsentRequest{AppID: app.ID, RedirectURI: app.Redirect, Scopes: account.DefaultScopes()}
	if err := n.store.AddCodes(ctx, ticket, codes, now.Add(time.Hour), now); err != nil {
		t.Fatal(err)
	}
	return codes
}

// redeem exchanges a code at a node.
func redeem(p *program, app clitest.App, code string) (answer, clitest.Token) {
	a := p.form("/api/oauth2/token", app.Exchange(code))
	var token clitest.Token
	if a.err == nil {
		a.err = json.Unmarshal([]byte(a.text), &token)
	}
	return a, token
}

func (n *nodes) token(t *testing.T, email string, app clitest.App) clitest.Token {
	t.Helper()
	a, token := redeem(n.a, app, n.issue(t, email, app, 1)[0].Text)
	if a.err != nil || a.status != http.StatusOK {
		t.Fatalf("no token: %s", a)
	}
	return token
}

// form posts fields, as somebody who is signed in where there are cookies.
func (p *program) form(path string, fields url.Values, cookies ...*http.Cookie) answer {
	r, err := http.NewRequest(http.MethodPost, p.url+path, strings.NewReader(fields.Encode()))
	if err == nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for _, c := range cookies {
			r.AddCookie(c)
		}
	}
	return p.do(r, err)
}

// page opens a page as somebody who is signed in.
func (p *program) page(path string, cookies []*http.Cookie) answer {
	r, err := http.NewRequest(http.MethodGet, p.url+path, nil)
	if err == nil {
		for _, c := range cookies {
			r.AddCookie(c)
		}
	}
	return p.do(r, err)
}

// A code that is redeemed on both nodes at once is redeemed once.
func (n *nodes) codes(t *testing.T) {
	const races, atOnce = 1000, 8
	codes := make(chan string, races)
	for _, code := range n.issue(t, ada, n.app, races) {
		codes <- code.Text
	}
	close(codes)
	var won [2]atomic.Int64
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for code := range codes {
				var answers [2]answer
				var both sync.WaitGroup
				for i, node := range []*program{n.a, n.b} {
					both.Go(func() { answers[i], _ = redeem(node, n.app, code) })
				}
				both.Wait()
				winners := 0
				for i, a := range answers {
					switch {
					case a.err == nil && a.status == http.StatusOK:
						winners++
						won[i].Add(1)
					case a.err != nil || a.Code != 400102:
						t.Errorf("the loser is told: %s", a)
					}
				}
				if winners != 1 {
					t.Errorf("%d of two won", winners)
				}
			}
		})
	}
	all.Wait()
	figure(t, "a code redeemed on two nodes at once", "%d of %d times one won: %d on A, %d on B",
		won[0].Load()+won[1].Load(), races, won[0].Load(), won[1].Load())
}

// sessions: who signed in anywhere is signed in everywhere, until they sign out
// anywhere.
func (n *nodes) sessions(t *testing.T) {
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
	begun := time.Now()
	n.a.eventually("signed out", func() bool { return n.a.page("/account", cookies).status != http.StatusOK })
	n.within(t, "signed out on B, on A", begun, 100*time.Millisecond)
}

// restarts: both nodes are restarted, one after the other, and nobody notices.
func (n *nodes) restarts(t *testing.T) {
	through := n.over(t)
	load := startLoad(t, through, n.f, "restarts", submitters)
	var pages atomic.Int64
	ctx, stop := context.WithCancel(context.Background())
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				if a := through.get(n.f.page, ""); a.err != nil || a.status != http.StatusOK {
					t.Errorf("a reader got %s", a)
					return
				}
				pages.Add(1)
			}
		})
	}
	// Applications read, each time with another token so that none has too many; and
	// one goes on and on.
	tokens := make([]clitest.Token, 20)
	for i := range tokens {
		tokens[i] = n.token(t, ada, n.app)
	}
	var read, refreshed atomic.Int64
	readers.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if a := with(tokens[i%len(tokens)].Access)(through); a.err != nil || a.status != http.StatusOK && a.status != http.StatusTooManyRequests {
				t.Errorf("an application got %s", a)
				return
			}
			read.Add(1)
		}
	})
	// One grant has at most 100 live access tokens and 120 refreshes a minute.
	renewing := make([]clitest.Token, 10)
	for i := range renewing {
		renewing[i] = n.token(t, ada, n.app)
	}
	readers.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			a := through.form("/api/oauth2/refresh", n.app.Refresh(renewing[i%len(renewing)].Refresh))
			switch {
			case a.err == nil && a.status == http.StatusOK:
				refreshed.Add(1)
			case a.err == nil && a.status == http.StatusTooManyRequests:
			default:
				t.Errorf("an application that refreshes got %s", a)
				return
			}
		}
	})
	load.more(someAnswers)
	for i, node := range []**program{&n.a, &n.b} {
		(*node).stop()
		*node = n.launch(i)
		through.eventually("back behind the balancer", func() bool { return !n.balancer.away[i].Load() })
		load.more(someAnswers)
	}
	stop()
	readers.Wait()
	load.finish()
	if refused := load.refused.Load(); refused > 0 {
		t.Errorf("%d submissions were refused", refused)
	}
	figure(t, "two nodes restarted in turn, under load", "none of %d submissions, %d pages, %d calls and %d refreshes failed",
		load.taken.Load(), pages.Load(), read.Load(), refreshed.Load())
}
