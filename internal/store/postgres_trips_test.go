package store_test

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// What is read for every request takes one round trip to PostgreSQL.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	place := storetest.Postgres(t)
	var trips atomic.Int64
	place.URL = countTrips(t, place.URL, &trips)
	s := storetest.Open(t, place)
	ada := person(t, s, "ada@example.com")
	f, err := s.CreateForm(ctx, ada.ID, form.Header{Title: "x", Language: "en"}, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	app := account.Application{
		Account: ada.ID, ID: id.New(id.App, time.Now()), Name: "App",
		RedirectURIs: []string{"https://x/"}, Scopes: account.DefaultScopes(), CreatedAt: time.Now(),
	}
	if _, err := s.AddApp(ctx, app, "hash", store.IdempotencyKey{}); err != nil {
		t.Fatal(err)
	}
	code, access, refresh := mint(account.Code, ada.ID), mint(account.AccessToken, ada.ID), mint(account.RefreshToken, ada.ID)
	ticket := store.ConsentRequest{AppID: app.ID, RedirectURI: "https://x/", Scopes: account.DefaultScopes()}
	later := time.Now().Add(time.Hour)
	if err := s.AddCodes(ctx, ticket, []account.Secret{code}, later, time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ExchangeCode(ctx, store.CodeExchange{
		Code: keyOf(code), AppID: app.ID, RedirectURI: "https://x/", Access: access, Refresh: refresh, ExpiresAt: later,
	}, time.Now()); err != nil {
		t.Fatal(err)
	}
	session := mint(account.SessionKey, ada.ID)
	if err := s.AddSession(ctx, session, "", "", time.Now()); err != nil {
		t.Fatal(err)
	}
	reads := map[string]func() error{}
	for name, read := range map[string]func() error{
		"who is behind a token":   func() error { _, err := s.AccessToken(ctx, keyOf(access)); return err },
		"who is behind a session": func() error { _, _, err := s.Session(ctx, keyOf(session)); return err },
		"an application":          func() error { _, _, err := s.AppCredentials(ctx, app.ID); return err },
		"a page of forms": func() error {
			return third(s.Forms(ctx, ada.ID, store.FormFilter{}, store.NewestFirst, store.Page{Limit: 20}))
		},
		"a filtered page of forms": func() error {
			return third(s.Forms(ctx, ada.ID, store.FormFilter{Status: "draft"}, "title", store.Page{Limit: 20}))
		},
		"a form":                 func() error { _, _, err := s.FormDraft(ctx, ada.ID, f.ID); return err },
		"a form for respondents": func() error { _, err := s.PublicForm(ctx, f.ID); return err },
		"a page of responses": func() error {
			return third(s.Responses(ctx, ada.ID, f.ID, store.ResponseFilter{}, store.Page{Limit: 20}))
		},
		"the feed": func() error {
			_, err := s.Feed(ctx, ada.ID, f.ID, store.ResponseFilter{}, store.FeedPage{After: "", Limit: 100})
			return err
		},
		"the feed, with a token that is known": func() error {
			if _, err := s.AccessToken(ctx, keyOf(access)); err != nil {
				return err
			}
			_, err := s.Feed(ctx, ada.ID, f.ID, store.ResponseFilter{}, store.FeedPage{After: "", Limit: 100})
			return err
		},
	} {
		// The first times it is prepared; a connection that was idle for a second,
		// as on a busy machine, is asked whether it is there; and nothing is kept
		// until the store hears of changes.
		fewest := int64(100)
		for deadline := time.Now().Add(10 * time.Second); fewest > 1 && time.Now().Before(deadline); {
			before := trips.Load()
			if err := read(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			fewest = min(fewest, trips.Load()-before)
		}
		// What is kept in memory may be known already.
		if fewest > 1 {
			t.Errorf("%s takes %d round trips", name, fewest)
		}
		reads[name] = read
	}
	delete(reads, "the feed, with a token that is known") // after a pause it is not
	// After a pause everything is read again: what was kept, too. A connection that
	// listens says a word of its own now and then.
	for deadline := time.Now().Add(20 * time.Second); len(reads) > 0 && time.Now().Before(deadline); {
		time.Sleep(store.ClusterCacheLife + 10*time.Millisecond)
		for name, read := range reads {
			before := trips.Load()
			if err := read(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			switch took := trips.Load() - before; {
			case took == 0:
				t.Fatalf("%s is known after a pause, too", name)
			case took == 1:
				delete(reads, name)
			}
		}
	}
	for name := range reads {
		t.Errorf("after a pause, %s takes more than one round trip", name)
	}
}

// Submissions that come while others are stored are stored together.
func TestSubmissionsAreBatched(t *testing.T) {
	t.Parallel()
	place := storetest.Postgres(t)
	s := storetest.Open(t, place)
	owner := person(t, s, "ada@example.com").ID
	p := opened(t, s, owner, small)
	letGo := hold(t, place)
	const people = 200
	var come, all sync.WaitGroup
	come.Add(people)
	for i := range people {
		all.Go(func() {
			come.Done()
			if _, err := add(s, p, i); err != nil {
				t.Error(err)
			}
		})
	}
	come.Wait()
	letGo()
	all.Wait()
	// Each row knows the transaction that made it.
	rows, err := s.Rows(ctx, 2, "SELECT CAST(COUNT(*) AS TEXT), CAST(COUNT(DISTINCT CAST(xmin AS TEXT)) AS TEXT) FROM response")
	if err != nil {
		t.Fatal(err)
	}
	if commits, err := strconv.Atoi(rows[0][1]); rows[0][0] != strconv.Itoa(people) || err != nil || commits > people/2 {
		t.Errorf("%s responses in %s transactions (%v)", rows[0][0], rows[0][1], err)
	}
}

func mint(kind, owner string) account.Secret { return account.NewSecret(kind, owner, time.Now()) }

func keyOf(s account.Secret) account.SecretRef {
	return account.SecretRef{Account: s.Account, ID: s.ID, Hash: s.Hash}
}

// third is the error of what returns three things.
func third[A any](_ A, _ int64, err error) error { return err }

// countTrips puts a proxy before the server that counts how often it says that it
// is ready for the next question. One connection, so that nothing else is counted.
func countTrips(t *testing.T, server string, trips *atomic.Int64) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	to := u.Host
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				continue
			}
			go func() { io.Copy(up, client); up.Close() }()
			go func() { forward(client, up, trips); client.Close() }()
		}
	}()
	u.Host = l.Addr().String()
	query := u.Query()
	query.Set("pool_max_conns", "1")
	u.RawQuery = query.Encode()
	return u.String()
}

// forward passes messages on: a byte that says what it is, its length, its body.
func forward(to io.Writer, from io.Reader, trips *atomic.Int64) {
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(from, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(from, body); err != nil {
			return
		}
		if head[0] == 'Z' {
			trips.Add(1)
		}
		if _, err := to.Write(append(head, body...)); err != nil {
			return
		}
	}
}
