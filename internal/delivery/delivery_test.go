package delivery_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/delivery"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
	"formulary/internal/webhook"
)

var ctx = context.Background()

// key is the secret key of all tests.
const key = "a-secret-key-of-more-than-32-characters"

// fixture is a store with one open form, and what delivers its events.
type fixture struct {
	*store.Store
	t       *testing.T
	storage storetest.Storage
	owner   string
	form    *store.PublicForm
	config  delivery.Config
	service *delivery.Service
}

// forEachEngine runs a test on every engine. Retries follow the schedule.
func forEachEngine(t *testing.T, schedule []time.Duration, test func(t *testing.T, w *fixture)) {
	t.Helper()
	t.Parallel()
	storetest.EachReused(t, func(t *testing.T, storage storetest.Storage) {
		w := &fixture{Store: storetest.Open(t, storage), t: t, storage: storage}
		w.config = configure(t, w.Store, schedule)
		w.service = delivery.New(w.config)
		now := time.Now()
		user, err := w.AddUser(ctx, account.User{ID: id.New(id.User, now), Email: "ada@example.com", Language: "en", Password: "not a hash", CreatedAt: now})
		if err != nil {
			t.Fatal(err)
		}
		w.owner = user.ID
		w.form = w.open()
		test(t, w)
	})
}

func configure(t *testing.T, s *store.Store, schedule []time.Duration) delivery.Config {
	t.Helper()
	allowed, err := webhook.ParseAllowed([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := account.NewSealer(key)
	if err != nil {
		t.Fatal(err)
	}
	client := webhook.NewClient("test", allowed)
	t.Cleanup(client.Close)
	return delivery.Config{Store: s, Client: client, Allowed: allowed, Sealer: sealer, Log: slog.New(slog.DiscardHandler), Now: time.Now, Schedule: schedule}
}

// open creates and publishes a form.
func (w *fixture) open() *store.PublicForm {
	w.t.Helper()
	d := form.Definition{Fields: []*form.Field{{Key: "text", Kind: "short_text", Label: "Text"}}}
	if err := d.Normalize(); err != nil {
		w.t.Fatal(err)
	}
	f, err := w.CreateForm(ctx, w.owner, form.Header{Title: "Order", Language: "en"}, &d, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.Publish(ctx, w.owner, store.FormRevision{ID: f.ID}, store.IdempotencyKey{}, time.Now()); err != nil {
		w.t.Fatal(err)
	}
	p, err := w.PublicForm(ctx, f.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *fixture) submit(text string) string {
	w.t.Helper()
	r, err := w.SubmitResponse(ctx, store.Submission{Form: w.form, Answers: map[string]any{"text": text}, At: time.Now()})
	if err != nil {
		w.t.Fatal(err)
	}
	return r.ID
}

// hook creates a webhook of the fixture's form.
func (w *fixture) hook(url string, change func(*store.Webhook)) store.WebhookKey {
	w.t.Helper()
	h := store.Webhook{WebhookKey: store.WebhookKey{FormID: w.form.ID}, URL: url, Events: store.EventKinds, Status: store.WebhookActive}
	if change != nil {
		change(&h)
	}
	made, _, err := w.service.Create(ctx, w.owner, h, store.IdempotencyKey{})
	if err != nil {
		w.t.Fatal(err)
	}
	return made.WebhookKey
}

func (w *fixture) read(key store.WebhookKey) store.Webhook {
	w.t.Helper()
	h, err := w.Webhook(ctx, w.owner, key)
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

func (w *fixture) deliveries(key store.WebhookKey, status store.DeliveryStatus) []store.Delivery {
	w.t.Helper()
	list, _, err := w.Deliveries(ctx, w.owner, key, status, store.Page{Limit: 2000})
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// dispatch runs a dispatcher until the test ends or what it returns is called.
func (w *fixture) dispatch() (stop func()) {
	return run(w.t, delivery.NewDispatcher(w.config))
}

func run(t *testing.T, d *delivery.Dispatcher) (stop func()) {
	running, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		d.Run(running)
		close(done)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(stop)
	return stop
}

// until waits for a condition.
func (w *fixture) until(what string, condition func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if condition() {
			return
		}
	}
	w.t.Fatalf("never: %s", what)
}

// request is what a receiver got.
type request struct {
	id, kind string
	response map[string]any
	form     map[string]any
}

// text is the answer of the request's response.
func (r request) text() string {
	answers, _ := r.response["answers"].(map[string]any)
	text, _ := answers["text"].(string)
	return text
}

// receiver answers requests with a status: that of answer, or 204.
type receiver struct {
	t      *testing.T
	url    string
	mu     sync.Mutex
	got    []request
	answer func(http.ResponseWriter, request) int
}

func receive(t *testing.T, answer func(http.ResponseWriter, request) int) *receiver {
	t.Helper()
	r := &receiver{t: t, answer: answer}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	text, err := io.ReadAll(req.Body)
	if err != nil {
		return // it was canceled
	}
	var body struct {
		Type string
		Data struct{ Form, Response map[string]any }
	}
	if err := json.Unmarshal(text, &body); err != nil {
		r.t.Errorf("body: %v\n%s", err, text)
	}
	got := request{id: req.Header.Get("webhook-id"), kind: body.Type, response: body.Data.Response, form: body.Data.Form}
	r.mu.Lock()
	r.got = append(r.got, got)
	r.mu.Unlock()
	status := http.StatusNoContent
	if r.answer != nil {
		status = r.answer(w, got)
	}
	w.WriteHeader(status)
}

func (r *receiver) all() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]request(nil), r.got...)
}

// texts are the answers that arrived, in order.
func (r *receiver) texts() string {
	var list []string
	for _, got := range r.all() {
		list = append(list, got.text())
	}
	return strings.Join(list, " ")
}

func (r *receiver) kinds() string {
	var list []string
	for _, got := range r.all() {
		list = append(list, got.kind)
	}
	return strings.Join(list, " ")
}
