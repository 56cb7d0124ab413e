package respond_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/limit"
	"formulary/internal/respond"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

var ctx = context.Background()

// fixture is a service and an open form that asks for a required number n.
type fixture struct {
	t       *testing.T
	store   *store.Store
	service *respond.Service
	form    *store.PublicForm
}

func each(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	storetest.EachReused(t, func(t *testing.T, storage storetest.Storage) {
		s := storetest.Open(t, storage)
		test(t, &fixture{t, s, respond.New(respond.Config{Store: s, Now: time.Now}), openForm(t, s)})
	})
}

func openForm(t *testing.T, s *store.Store) *store.PublicForm {
	t.Helper()
	now := time.Now()
	owner, err := s.AddUser(ctx, account.User{ID: id.New(id.User, now), Email: "ada@example.com", Language: "en", Password: "not a hash", CreatedAt: now})
	if err != nil {
		t.Fatal(err)
	}
	var d form.Definition
	if err := json.Unmarshal([]byte(`{"fields": [{"key": "n", "kind": "number", "required": true}]}`), &d); err != nil {
		t.Fatal(err)
	}
	if err := d.Normalize(); err != nil {
		t.Fatal(err)
	}
	made, err := s.CreateForm(ctx, owner.ID, form.Header{Title: "Order", Language: "en"}, &d, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Publish(ctx, owner.ID, store.FormRevision{ID: made.ID}, store.IdempotencyKey{}, now); err != nil {
		t.Fatal(err)
	}
	return publicForm(t, s, made.ID)
}

func publicForm(t *testing.T, s *store.Store, id string) *store.PublicForm {
	t.Helper()
	f, err := s.PublicForm(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// close closes the form and reloads its state, as the next request would.
func (f *fixture) close() {
	f.t.Helper()
	if _, err := f.store.CloseForm(ctx, f.form.Owner, f.form.ID, 0, time.Now()); err != nil {
		f.t.Fatal(err)
	}
	f.form = publicForm(f.t, f.store, f.form.ID)
}

// submit returns the ID of the response, or the error code.
func (f *fixture) submit(in respond.Submission) (string, fault.Code) {
	f.t.Helper()
	in.Form = f.form
	r, err := f.service.Submit(ctx, in)
	if err != nil {
		if r.ID != "" {
			f.t.Errorf("a response %s beside the error %v", r.ID, err)
		}
		return "", fault.Wrap(err).Code
	}
	return r.ID, 0
}

func (f *fixture) count() int64 {
	f.t.Helper()
	made, err := f.store.Form(ctx, f.form.Owner, f.form.ID)
	if err != nil {
		f.t.Fatal(err)
	}
	return made.ResponseCount
}

func answers(n any) map[string]any { return map[string]any{"n": n} }

func TestSubmit(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		evaluated := func(n any) *form.Evaluation {
			e := f.form.Definition.Evaluate(answers(n))
			return &e
		}
		at := time.Now().Add(-time.Hour)
		for name, c := range map[string]struct {
			in   respond.Submission
			want fault.Code
		}{
			"valid":                   {respond.Submission{Answers: answers(1.0)}, 0},
			"valid, evaluated":        {respond.Submission{Evaluated: evaluated(2.0)}, 0},
			"valid, of an hour ago":   {respond.Submission{Answers: answers(3.0), At: at}, 0},
			"not a number":            {respond.Submission{Answers: answers("x")}, fault.Invalid},
			"not a number, evaluated": {respond.Submission{Evaluated: evaluated("x")}, fault.Invalid},
			"no answers":              {respond.Submission{}, fault.Invalid},
			"an unknown question":     {respond.Submission{Answers: map[string]any{"n": 1.0, "m": 1.0}}, fault.Invalid},
		} {
			if id, code := f.submit(c.in); code != c.want || (id == "") != (code != 0) {
				t.Errorf("%s: %q, %d, want %d", name, id, code, c.want)
			}
		}
		if n := f.count(); n != 3 {
			t.Errorf("%d responses, want 3", n)
		}
		r, err := f.service.Submit(ctx, respond.Submission{Form: f.form, Answers: answers(4.0), Metadata: form.Metadata{Source: "page", Seconds: 7}})
		if err != nil {
			t.Fatal(err)
		}
		stored, err := f.store.Response(ctx, f.form.Owner, f.form.ID, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		var metadata form.Metadata
		if err := json.Unmarshal([]byte(stored.Metadata), &metadata); err != nil || metadata.Source != "page" || metadata.Seconds != 7 {
			t.Errorf("metadata %s (%v)", stored.Metadata, err)
		}
		f.close()
		if id, code := f.submit(respond.Submission{Answers: answers(5.0)}); code != fault.FormNotOpen {
			t.Errorf("closed: %q, %d", id, code)
		}
	})
}

// Which error a client sees, if several apply, is part of the API.
func TestOrderOfChecks(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		key := func(body string) respond.Key { return respond.Key{Sender: "app", Value: "k", Body: body} }
		first, code := f.submit(respond.Submission{Answers: answers(1.0), Key: key("a")})
		if code != 0 {
			t.Fatal(code)
		}
		check := func(state string) {
			t.Helper()
			if again, code := f.submit(respond.Submission{Answers: answers("x"), Key: key("a")}); again != first || code != 0 {
				t.Errorf("%s: a repetition is %q, %d, want %q", state, again, code, first)
			}
			if _, code := f.submit(respond.Submission{Answers: answers("x"), Key: key("b")}); code != fault.IdempotencyKeyReused {
				t.Errorf("%s: a reused key with invalid answers: %d", state, code)
			}
		}
		check("open")
		f.close()
		check("closed")
		if _, code := f.submit(respond.Submission{Answers: answers("x")}); code != fault.FormNotOpen {
			t.Errorf("invalid answers to a closed form: %d", code)
		}
		if n := f.count(); n != 1 {
			t.Errorf("%d responses, want 1", n)
		}
	})
}

// Without a body, a repetition is identified by its answers.
func TestKeyOfAnswers(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		key := respond.Key{Sender: "page", Value: "k"}
		if _, err := f.service.Find(ctx, f.form, key); !errors.Is(err, fault.NotFound) {
			t.Errorf("found before it was stored: %v", err)
		}
		first, code := f.submit(respond.Submission{Answers: answers(1.0), Key: key})
		if code != 0 {
			t.Fatal(code)
		}
		if again, code := f.submit(respond.Submission{Answers: answers(1.0), Key: key}); again != first || code != 0 {
			t.Errorf("the same answers: %q, %d, want %q", again, code, first)
		}
		if _, code := f.submit(respond.Submission{Answers: answers(2.0), Key: key}); code != fault.IdempotencyKeyReused {
			t.Errorf("other answers: %d", code)
		}
		// Keys of different senders do not collide.
		if other, code := f.submit(respond.Submission{Answers: answers(1.0), Key: respond.Key{Sender: "public", Value: "k"}}); other == first || code != 0 {
			t.Errorf("another sender: %q, %d", other, code)
		}
		f.close()
		if again, code := f.submit(respond.Submission{Answers: answers(1.0), Key: key}); again != first || code != 0 {
			t.Errorf("the same answers after closing: %q, %d, want %q", again, code, first)
		}
		if r, err := f.service.Find(ctx, f.form, key); err != nil || r.ID != first {
			t.Errorf("found %q (%v), want %q", r.ID, err, first)
		}
		if _, err := f.service.Find(ctx, f.form, respond.Key{Sender: "page"}); !errors.Is(err, fault.NotFound) {
			t.Errorf("found without a key: %v", err)
		}
		if n := f.count(); n != 2 {
			t.Errorf("%d responses, want 2", n)
		}
	})
}

func TestAdmit(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	clock := func() time.Time { return now }
	s := respond.New(respond.Config{Submissions: limit.New[netip.Addr](2, time.Minute, clock), Now: clock})
	first, neighbor := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	header := map[string][]string{}
	if err := s.Admit(first, header); err != nil {
		t.Error(err)
	}
	if got := header["Ratelimit"]; len(got) != 1 || got[0] != `"respondent";r=1;t=0` {
		t.Errorf("after one of two: %q", got)
	}
	if err := s.Admit(neighbor, nil); err != nil {
		t.Error(err)
	}
	// An IPv6 /64 network counts as one client.
	err := s.Admit(first, header)
	if e := fault.Wrap(err); e.Code != fault.RateLimited || e.RetryAfter != 30 {
		t.Errorf("the third: %v", err)
	}
	if got := header["Ratelimit"]; got[0] != `"respondent";r=0;t=30` {
		t.Errorf("after the third: %q", got)
	}
	if err := s.Admit(netip.MustParseAddr("192.0.2.1"), nil); err != nil {
		t.Errorf("another client: %v", err)
	}
	unlimited := map[string][]string{}
	if err := respond.New(respond.Config{Now: clock}).Admit(first, unlimited); err != nil || len(unlimited) != 0 {
		t.Errorf("without a limit: %v, %v", unlimited, err)
	}
}
