package e2e

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"formulary/internal/cli/clitest"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// everyKind asks with each kind of question.
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

// publishForm makes an open form beside the service and returns its path.
func publishForm(t testing.TB, s *clitest.Service, head form.Head, definition string) string {
	t.Helper()
	ctx := context.Background()
	db := storetest.Open(t, s.Place)
	owner, err := db.PersonByEmail(ctx, ada)
	if err != nil {
		t.Fatal(err)
	}
	var d form.Definition
	if err := json.Unmarshal([]byte(definition), &d); err != nil {
		t.Fatal(err)
	}
	if err := d.Clean(); err != nil {
		t.Fatal(err)
	}
	f, err := db.CreateForm(ctx, owner.ID, head, &d, store.Once{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Publish(ctx, owner.ID, f.ID, 0, time.Now()); err != nil {
		t.Fatal(err)
	}
	return "/f/" + f.ID
}

func TestPublicFormIsAccessible(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := publishForm(t, s, form.Head{Title: "Party", Description: "Are you coming?", Language: "en"}, everyKind)
	arabic := publishForm(t, s, form.Head{Title: "حفلة", Language: "ar"}, everyKind)
	b := openTab(t, s.URL)
	wantAllAccessible(t, b, []view{
		{name: "form", path: path, status: 200},
		{name: "form with a problem", path: path, status: 200, then: func(b *tab) {
			b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("form").noValidate = true`))
			b.wantStatus(b.press(button("Next")), 422)
		}},
		{name: "right to left", path: arabic, status: 200},
		{name: "done", path: path + "/done", status: 200},
	})
}

// A respondent fills in a form, with and without JavaScript.
func TestFillIn(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*tab){"script": func(*tab) {}, "no script": (*tab).withoutScript} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			path := publishForm(t, s, form.Head{Title: "Party", Language: "en"}, everyKind)
			b := openTab(t, s.URL)
			prepare(b)
			b.wantStatus(b.open(path), 200)
			b.fill(`input[name="nick"]`, "Ada")
			b.do(chromedp.Click(`input[name="shirt"][value="true"] + span`))
			b.wantStatus(b.press(button("Next")), 200)
			b.wantWords("Which size?")
			b.do(chromedp.Click(`input[name="size"][value="m"]`))
			b.wantStatus(b.press(button("Next")), 200)
			b.wantWords("Second page", "Page 2 of 2")
			b.fill(`input[name="last"]`, "No")
			b.wantStatus(b.press(button("Send")), 200)
			b.wantPath(path + "/done")
			b.wantWords("Thank you")
		})
	}
}
