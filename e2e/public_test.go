package e2e

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"formulary/internal/cli/clitest"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// everyKind is a form with each kind of question.
const everyKind = `{"fields": [
	{"key": "nick", "kind": "short_text", "label": "Your nickname?", "required": true, "help": "As your friends call you"},
	{"kind": "long_text", "label": "Story"}, {"kind": "email", "label": "Mail"}, {"kind": "url", "label": "Site"}, {"kind": "phone", "label": "Phone"},
	{"kind": "number", "label": "Age", "unit": "years"}, {"kind": "slider", "label": "Loud"}, {"kind": "rating", "label": "Stars"}, {"kind": "scale", "label": "Recommend", "low": "Never", "high": "Surely"},
	{"key": "shirt", "kind": "yes_no", "label": "A shirt?"}, {"kind": "consent", "label": "Rules", "text": "I have read them"},
	{"key": "size", "kind": "single_choice", "label": "Which size?", "options": [{"value": "s", "label": "Small"}, {"value": "m", "label": "Medium"}], "other": true,
	 "show_if": {"field": "shirt", "op": "equals", "value": true}},
	{"kind": "multiple_choice", "label": "Bring", "options": [{"label": "Cake"}, {"label": "Salad"}], "other": true},
	{"kind": "dropdown", "label": "Town", "options": [{"label": "Bonn"}]}, {"kind": "ranking", "label": "Rank", "options": [{"label": "Dance"}, {"label": "Talk"}]},
	{"kind": "matrix", "label": "Days", "rows": [{"label": "Friday"}], "options": [{"label": "Noon"}, {"label": "Evening"}]},
	{"kind": "date", "label": "Day"}, {"kind": "time", "label": "Hour"}, {"kind": "datetime", "label": "Start"},
	{"kind": "name", "label": "Name"}, {"kind": "address", "label": "Address"}, {"kind": "country", "label": "Country"},
	{"kind": "hidden", "key": "source"}, {"kind": "statement", "label": "Nearly done", "text": "One more page."},
	{"kind": "page_break", "label": "Second page"}, {"key": "last", "kind": "short_text", "label": "Anything else?"}]}`

// ownerDB accesses the database directly as the owner of forms.
type ownerDB struct {
	t     testing.TB
	db    *store.Store
	owner string
}

func openOwnerDB(t testing.TB, s *clitest.Service) ownerDB {
	t.Helper()
	db := storetest.Open(t, s.Storage)
	owner, err := db.UserByEmail(context.Background(), ada)
	if err != nil {
		t.Fatal(err)
	}
	return ownerDB{t, db, owner.ID}
}

// withT returns a copy for a subtest.
func (d ownerDB) withT(t testing.TB) ownerDB {
	d.t = t
	return d
}

// publish creates and publishes a form and returns its path.
func (d ownerDB) publish(in form.FormInput) string {
	d.t.Helper()
	ctx := context.Background()
	if err := in.Normalize(); err != nil {
		d.t.Fatalf("%v %+v", err, fault.Wrap(err).Details)
	}
	f, err := d.db.CreateFormFrom(ctx, d.owner, in, store.IdempotencyKey{}, time.Now())
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.db.Publish(ctx, d.owner, store.FormRevision{ID: f.ID}, store.IdempotencyKey{}, time.Now()); err != nil {
		d.t.Fatal(err)
	}
	return "/f/" + f.ID
}

// close closes a form.
func (d ownerDB) close(path string) {
	d.t.Helper()
	if _, err := d.db.CloseForm(context.Background(), d.owner, strings.TrimPrefix(path, "/f/"), 0, time.Now()); err != nil {
		d.t.Fatal(err)
	}
}

// readStored returns the answers of all responses, oldest first.
func (d ownerDB) readStored(path string) []map[string]any {
	d.t.Helper()
	list, err := d.db.ResponsesAfter(context.Background(), d.owner, strings.TrimPrefix(path, "/f/"), "", 1000)
	if err != nil {
		d.t.Fatal(err)
	}
	all := []map[string]any{}
	for _, r := range list {
		answers, err := r.Answers()
		if err != nil {
			d.t.Fatal(err)
		}
		all = append(all, answers)
	}
	return all
}

// wantStored fails the test unless exactly these answers (JSON) are stored.
func (d ownerDB) wantStored(path string, want ...string) {
	d.t.Helper()
	all := []map[string]any{}
	for _, text := range want {
		var answers map[string]any
		if err := json.Unmarshal([]byte(text), &answers); err != nil {
			d.t.Fatal(err)
		}
		all = append(all, answers)
	}
	if diff := cmp.Diff(all, d.readStored(path)); diff != "" {
		d.t.Errorf("stored (-want +got):\n%s", diff)
	}
}

// parseDefinition parses a form definition.
func parseDefinition(t testing.TB, definition string) *form.Definition {
	t.Helper()
	var d form.Definition
	if err := json.Unmarshal([]byte(definition), &d); err != nil {
		t.Fatal(err)
	}
	return &d
}

// publishForm publishes a form directly in the database and returns its path.
func publishForm(t testing.TB, s *clitest.Service, head form.Header, definition string) string {
	t.Helper()
	return openOwnerDB(t, s).publish(form.FormInput{Header: head, Definition: parseDefinition(t, definition)})
}

// submitUnchecked submits the page without the browser's own validation.
func (b *tab) submitUnchecked() int {
	b.t.Helper()
	return b.navigate(chromedp.Evaluate[chromedp.Void](`(() => {
		const form = document.querySelector("form"), action = document.createElement("input");
		Object.assign(action, {type: "hidden", name: "_action", value: "next"});
		form.append(action);
		HTMLFormElement.prototype.submit.call(form);
	})()`))
}

// TestBrowserBack: the back button of the browser shows the previous page with its
// answers.
func TestBrowserBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := publishForm(t, s, form.Header{Title: "Pages"}, `{"fields": [{"key": "a", "kind": "short_text", "label": "First"}, {"kind": "page_break"},
		{"key": "b", "kind": "number", "label": "Second"}, {"kind": "page_break"}, {"key": "c", "kind": "short_text", "label": "Third"}]}`)
	b := openTab(t, s.URL)
	b.wantStatus(b.open(path), 200)
	b.fill(`input[name="a"]`, "one")
	b.wantStatus(b.press(button("Next")), 200)
	b.fill(`input[name="b"]`, "2,5")
	b.wantStatus(b.press(button("Next")), 200)
	b.wantText("Third")
	for _, label := range []string{"Second", "First"} {
		b.do(chromedp.Evaluate[chromedp.Void](`setTimeout(() => history.back())`))
		b.wait(`document.body?.innerText.includes("` + label + `")`)
	}
}

// TestFillIn fills in a form with two pages, with and without JavaScript.
func TestFillIn(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := openOwnerDB(t, s)
	for _, test := range []struct {
		name    string
		prepare func(*tab)
		reveal  func(*tab) // shows the question that depends on another
	}{
		{"script", func(*tab) {}, func(b *tab) { b.wait(`!document.getElementById("q-size").hidden`) }},
		{"no script", (*tab).disableScript, func(b *tab) { b.wantStatus(b.press(button("Next")), 200) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ownerDB := all.withT(t)
			path := ownerDB.publish(form.FormInput{Header: form.Header{Title: "Party", Language: "en"}, Definition: parseDefinition(t, everyKind)})
			b := openTab(t, s.URL)
			test.prepare(b)
			b.wantStatus(b.open(path+"?source=mail"), 200)
			b.fill(`input[name="nick"]`, "Ada")
			b.choose("shirt", "true")
			test.reveal(b)
			b.wantText("Which size?")
			b.choose("size", "m")
			b.wantStatus(b.press(button("Next")), 200)
			b.wantText("Second page", "Page 2 of 2")
			b.fill(`input[name="last"]`, "No")
			b.wantStatus(b.press(button("Submit")), 200)
			b.wantPath(path + "/done")
			b.wantText("Thank you")
			ownerDB.wantStored(path, `{"nick": "Ada", "shirt": true, "size": "m", "source": "mail", "last": "No"}`)
		})
	}
}
