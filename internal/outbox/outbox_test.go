package outbox_test

import (
	"context"
	"log/slog"
	netmail "net/mail"
	"sync"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/id"
	"formulary/internal/locale"
	"formulary/internal/mail"
	"formulary/internal/mail/mailtest"
	"formulary/internal/outbox"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

func TestMain(m *testing.M) { mailtest.Main(m) }

var ctx = context.Background()

// key is the secret key of all tests.
const key = "a-secret-key-of-more-than-32-characters"

// everything are the leases of a node that has them all.
type everything struct{}

func (everything) Holds(string) bool   { return true }
func (everything) LeaseChanges() int64 { return 0 }
func (everything) Yields() bool        { return false }

// fixture is a store, and a service that sends its mails to a server.
type fixture struct {
	*store.Store
	t       *testing.T
	server  *mailtest.Server
	owner   account.User
	config  outbox.Config
	service *outbox.Service
}

// forEachEngine runs a test on every engine.
func forEachEngine(t *testing.T, test func(t *testing.T, w *fixture)) {
	t.Helper()
	t.Parallel()
	storetest.EachReused(t, func(t *testing.T, storage storetest.Storage) {
		w := &fixture{Store: storetest.Open(t, storage), t: t, server: mailtest.Start(t, mailtest.WithoutTLS)}
		w.config = w.configure()
		w.service = outbox.New(w.config)
		w.owner = w.addUser("ada@example.com")
		test(t, w)
	})
}

func (w *fixture) configure() outbox.Config {
	w.t.Helper()
	server, err := mail.ParseServer("smtp://" + w.server.Address + "?tls=none")
	if err != nil {
		w.t.Fatal(err)
	}
	sealer, err := account.NewSealer(key)
	if err != nil {
		w.t.Fatal(err)
	}
	languages, err := locale.Load()
	if err != nil {
		w.t.Fatal(err)
	}
	writer, err := mail.NewWriter(languages)
	if err != nil {
		w.t.Fatal(err)
	}
	return outbox.Config{
		Store: w.Store, Client: mail.NewClient(server, netmail.Address{Address: "forms@example.com"}), Writer: writer, Sealer: sealer,
		BaseURL: "https://forms.example.com", Log: slog.New(slog.DiscardHandler), Now: time.Now, Leases: everything{},
		Schedule: []time.Duration{50 * time.Millisecond},
	}
}

func (w *fixture) addUser(email string) account.User {
	w.t.Helper()
	now := time.Now()
	user, err := w.AddUser(ctx, account.User{ID: id.New(id.User, now), Email: email, Language: "en", Password: "not a hash", CreatedAt: now})
	if err != nil {
		w.t.Fatal(err)
	}
	return user
}

// run runs a service. What it returns stops it; the end of the test does too.
func (w *fixture) run(s *outbox.Service) (stop func()) {
	running, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	wait.Go(func() { s.Run(running) })
	stop = func() {
		cancel()
		wait.Wait()
	}
	w.t.Cleanup(stop)
	return stop
}

func (w *fixture) enqueue(address string) {
	w.t.Helper()
	if err := w.service.Enqueue(ctx, w.owner.ID, outbox.Recipient{Address: address, Language: "de"}, mail.Test{BaseURL: w.config.BaseURL}); err != nil {
		w.t.Fatal(err)
	}
}

// waitFor waits for a condition.
func (w *fixture) waitFor(what string, holds func() bool) {
	w.t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited too long: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// waiting returns how many mails wait.
func (w *fixture) waiting() int64 {
	w.t.Helper()
	n, _, err := w.WaitingMails(ctx, w.owner.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

type received = mailtest.Received

func countTo(list []received, address string) (n int) {
	for _, r := range list {
		if r.To == address {
			n++
		}
	}
	return n
}
