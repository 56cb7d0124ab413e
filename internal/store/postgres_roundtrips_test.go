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
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// What every request reads takes one round trip to PostgreSQL.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	storage := storetest.Postgres(t)
	var trips atomic.Int64
	storage.URL = countTrips(t, storage.URL, &trips)
	s := storetest.Open(t, storage)
	ada := addUser(t, s, "ada@example.com")
	f, err := s.CreateForm(ctx, ada.ID, form.Header{Title: "x", Language: "en"}, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	app := newApp(t, s, ada.ID)
	access, _ := connectApp(t, s, ada.ID, app)
	session := account.NewSecret(account.SessionKey, ada.ID, time.Now())
	if err := s.AddSession(ctx, store.NewSession{Secret: session}, time.Now()); err != nil {
		t.Fatal(err)
	}
	reads := map[string]func() error{}
	for name, read := range map[string]func() error{
		"who is behind a token":   func() error { _, err := s.AccessToken(ctx, access); return err },
		"who is behind a session": func() error { _, _, err := s.Session(ctx, session.Ref()); return err },
		"an application":          func() error { _, _, err := s.AppCredentials(ctx, app.ID); return err },
		"a page of forms": func() error {
			return thirdError(s.Forms(ctx, ada.ID, store.FormFilter{}, store.NewestFirst, store.Page{Limit: 20}))
		},
		"a filtered page of forms": func() error {
			return thirdError(s.Forms(ctx, ada.ID, store.FormFilter{Status: "draft"}, "title", store.Page{Limit: 20}))
		},
		"a form":                 func() error { _, _, err := s.FormDraft(ctx, ada.ID, f.ID); return err },
		"a form for respondents": func() error { _, err := s.PublicForm(ctx, f.ID); return err },
		"a page of responses": func() error {
			return thirdError(s.Responses(ctx, ada.ID, f.ID, store.ResponseFilter{}, store.Page{Limit: 20}))
		},
		"the feed": func() error {
			_, err := s.Feed(ctx, ada.ID, f.ID, store.ResponseFilter{}, store.FeedPage{After: "", Limit: 100})
			return err
		},
		"the feed, with a token that is known": func() error {
			if _, err := s.AccessToken(ctx, access); err != nil {
				return err
			}
			_, err := s.Feed(ctx, ada.ID, f.ID, store.ResponseFilter{}, store.FeedPage{After: "", Limit: 100})
			return err
		},
	} {
		// The first reads prepare statements, a connection that was idle for a second
		// is pinged, and nothing is cached until the store listens. So the fewest round
		// trips count.
		fewest := int64(100)
		for deadline := time.Now().Add(10 * time.Second); fewest > 1 && time.Now().Before(deadline); {
			before := trips.Load()
			if err := read(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			fewest = min(fewest, trips.Load()-before)
		}
		// Cached values may need none.
		if fewest > 1 {
			t.Errorf("%s takes %d round trips", name, fewest)
		}
		reads[name] = read
	}
	delete(reads, "the feed, with a token that is known") // not cached any more after a pause
	// After a pause, cached values are read again too. The listening connection sends
	// messages of its own.
	for deadline := time.Now().Add(20 * time.Second); len(reads) > 0 && time.Now().Before(deadline); {
		time.Sleep(store.ClusterCacheLife + 10*time.Millisecond)
		for name, read := range reads {
			before := trips.Load()
			if err := read(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			switch took := trips.Load() - before; {
			case took == 0:
				t.Fatalf("%s is still cached after a pause", name)
			case took == 1:
				delete(reads, name)
			}
		}
	}
	for name := range reads {
		t.Errorf("after a pause, %s takes more than one round trip", name)
	}
}

// Submissions that arrive while others are stored are batched.
func TestSubmissionsAreBatched(t *testing.T) {
	t.Parallel()
	storage := storetest.Postgres(t)
	s := storetest.Open(t, storage)
	owner := addUser(t, s, "ada@example.com").ID
	p := openForm(t, s, owner, small)
	release := blockWrites(t, storage)
	const users = 200
	var come, all sync.WaitGroup
	come.Add(users)
	for i := range users {
		all.Go(func() {
			come.Done()
			if _, err := submit(s, p, i); err != nil {
				t.Error(err)
			}
		})
	}
	come.Wait()
	release()
	all.Wait()
	// Each row has the ID of the transaction that inserted it.
	rows, err := s.Rows(ctx, 2, "SELECT CAST(COUNT(*) AS TEXT), CAST(COUNT(DISTINCT CAST(xmin AS TEXT)) AS TEXT) FROM response")
	if err != nil {
		t.Fatal(err)
	}
	if commits, err := strconv.Atoi(rows[0][1]); rows[0][0] != strconv.Itoa(users) || err != nil || commits > users/2 {
		t.Errorf("%s responses in %s transactions (%v)", rows[0][0], rows[0][1], err)
	}
}

// thirdError returns the third of three results.
func thirdError[A any](_ A, _ int64, err error) error { return err }

// countTrips starts a proxy that counts how often the server is ready for the next
// query. It uses one connection, so that nothing else is counted.
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

// forward forwards messages: a type byte, the length, and the body.
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
