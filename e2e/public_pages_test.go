package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"formulary/internal/form"
)

// teahouseForm has jumps over pages and to endings, inserted answers, a calculation,
// and a redirect to another site.
func teahouseForm(site string) string {
	return `{"fields": [
	{"key": "who", "kind": "short_text", "label": "Who are you?", "required": true},
	{"key": "what", "kind": "single_choice", "label": "What would you like?", "required": true,
	 "options": [{"value": "tea", "label": "Green tea"}, {"value": "usual", "label": "The usual"}, {"value": "nothing", "label": "Nothing"}, {"value": "shop", "label": "To the shop"}],
	 "jumps": [{"if": {"field": "what", "op": "equals", "value": "nothing"}, "to": "bye"}, {"if": {"field": "what", "op": "equals", "value": "shop"}, "to": "shop"}, {"if": {"field": "what", "op": "equals", "value": "usual"}, "to": "bill"}]},
	{"key": "cup", "kind": "page_break", "label": "{{what}} for {{who}}", "help": "Just a moment, {{ who }}."},
	{"key": "cups", "kind": "number", "label": "How many cups, {{who}}?", "required": true, "min": 1},
	{"key": "bill", "kind": "page_break", "label": "Your bill"},
	{"key": "price", "kind": "calculated", "label": "Price", "expression": "(cups > 0 ? cups : 1.0) * 2.5", "unit": "€"},
	{"key": "right", "kind": "statement", "text": "Is **{{price}}** right, {{who}}?"},
	{"key": "tip", "kind": "number", "label": "A tip?"}],
	"endings": [{"key": "thanks", "title": "Enjoy it, {{who}}", "text": "You get *{{what}}* for {{price}}.\n\nSee you **soon**.", "show_if": {"field": "price", "op": "answered"}},
		{"key": "bye", "title": "Goodbye, {{who}}"}, {"key": "shop", "redirect": "` + site + `/welcome?from=form&who={{who}}"}],
	"settings": {"submit_label": "Order", "ask_again": true}}`
}

// TestPages: jumps lead respondents over the pages, depending on their answers.
func TestPages(t *testing.T) {
	t.Parallel()
	s := start(t)
	ownerDB := openOwnerDB(t, s)
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><h1>Welcome to the shop, %s`, r.FormValue("who"))
	}))
	t.Cleanup(shop.Close)
	path := ownerDB.publish(form.FormInput{Header: form.Header{Title: "Teahouse"}, Definition: parseDefinition(t, teahouseForm(shop.URL))})
	b := openTab(t, s.URL, shop.URL)

	fillFirstPage := func(who, what string) {
		t.Helper()
		b.fill(`input[name="who"]`, who)
		b.choose("what", what)
	}

	// Through all pages, once back.
	b.wantStatus(b.open(path), 200)
	b.wantText("Teahouse")
	fillFirstPage(`Ada & "Co"`, "tea")
	b.wantStatus(b.press(button("Next")), 200)
	b.wantText(`Green tea for Ada & "Co"`, `Just a moment, Ada & "Co".`, `How many cups, Ada & "Co"?`, "Page 2 of 3")
	b.wantStatus(b.press(button("Back")), 200)
	if got := run(b, chromedp.Value(`input[name="who"]`)); got != `Ada & "Co"` {
		t.Errorf("after going back the field contains %q", got)
	}
	if b.count(`input[name="what"][value="tea"]:checked`) != 1 {
		t.Error("after going back the choice is gone")
	}
	b.fill(`input[name="who"]`, "Grace")
	b.wantStatus(b.press(button("Next")), 200)
	b.wantText("Green tea for Grace")
	b.fill(`input[name="cups"]`, "3")
	b.wantStatus(b.press(button("Next")), 200)
	b.wantText("Your bill", "Page 3 of 3", "Is 7.5 € right, Grace?")
	if got := b.text("output"); got != "7.5 €" {
		t.Errorf("the price is %q", got)
	}
	b.wantStatus(b.press(button("Order")), 200)
	b.wantPath(path + "/done")
	if got := b.text("h1"); got != "Enjoy it, Grace" {
		t.Errorf("the ending says %q", got)
	}
	b.wantText("You get Green tea for 7.5 €.")
	if got := b.text("em"); got != "Green tea" {
		t.Errorf("emphasised is %q", got)
	}

	// Another response with a jump over a page, which is not shown.
	b.wantStatus(b.press(link("Submit another response")), 200)
	b.wantPath(path)
	if got := run(b, chromedp.Value(`input[name="who"]`)); got != "" {
		t.Errorf("the new form contains %q", got)
	}
	fillFirstPage("Bob", "usual")
	b.wantStatus(b.press(button("Next")), 200)
	b.wantText("Your bill", "Page 2 of 2", "Is 2.5 € right, Bob?")
	b.wantStatus(b.press(button("Back")), 200)
	b.wantText("Who are you?")
	b.wantStatus(b.press(button("Next")), 200)
	b.fill(`input[name="tip"]`, "0.5")
	b.wantStatus(b.press(button("Order")), 200)
	b.wantText("Enjoy it, Bob", "You get The usual for 2.5 €.")

	// Straight to an ending.
	b.wantStatus(b.open(path), 200)
	fillFirstPage("Carol", "nothing")
	b.press(`button.primary`)
	b.wantPath(path + "/done")
	b.wantText("Goodbye, Carol")

	// To another site, which the content security policy of every page allows.
	b.wantStatus(b.open(path), 200)
	fillFirstPage("Dan & Eve", "shop")
	b.wantStatus(b.press(`button.primary`), 200)
	location := b.location()
	query := location.Query()
	for part, values := range map[string][2]string{
		"origin": {location.Scheme + "://" + location.Host, shop.URL},
		"path":   {location.Path, "/welcome"},
		"who":    {query.Get("who"), "Dan & Eve"},
		"from":   {query.Get("from"), "form"},
	} {
		if got, want := values[0], values[1]; got != want {
			t.Errorf("the %s of %s is %q, want %q", part, location, got, want)
		}
	}
	b.wantText("Welcome to the shop, Dan & Eve")

	ownerDB.wantStored(path,
		`{"who": "Grace", "what": "tea", "cups": 3, "price": 7.5}`,
		`{"who": "Bob", "what": "usual", "price": 2.5, "tip": 0.5}`,
		`{"who": "Carol", "what": "nothing"}`,
		`{"who": "Dan & Eve", "what": "shop"}`)
}

// TestReloadedPage: reloading a page keeps the page and the earlier answers.
func TestReloadedPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	ownerDB := openOwnerDB(t, s)
	path := ownerDB.publish(form.FormInput{Header: form.Header{Title: "Teahouse"}, Definition: parseDefinition(t, teahouseForm("https://shop.example"))})
	b := openTab(t, s.URL)
	b.wantStatus(b.open(path), 200)
	b.fill(`input[name="who"]`, "Ada")
	b.choose("what", "tea")
	b.wantStatus(b.press(button("Next")), 200)
	b.wantText("Green tea for Ada")
	b.navigate(chromedp.Reload())
	b.wantText("Green tea for Ada", "Page 2 of 3")
	b.fill(`input[name="cups"]`, "2")
	b.press(button("Next"))
	b.press(button("Order"))
	b.wait(`location.pathname.endsWith("/done")`)
	ownerDB.wantStored(path, `{"who": "Ada", "what": "tea", "cups": 2, "price": 5}`)
}

// TestOtherAnswer: selecting "Other" shows its text, and deselecting it drops the text.
func TestOtherAnswer(t *testing.T) {
	t.Parallel()
	s := start(t)
	ownerDB := openOwnerDB(t, s)
	path := ownerDB.publish(form.FormInput{Header: form.Header{Title: "Colours"}, Definition: parseDefinition(t, `{"fields": [
		{"key": "one", "kind": "single_choice", "label": "One", "other": true, "options": [{"value": "red", "label": "Red"}]},
		{"key": "some", "kind": "multiple_choice", "label": "Some", "other": true, "options": [{"value": "red", "label": "Red"}]},
		{"key": "more", "kind": "multiple_choice", "label": "More", "other": true, "options": [{"value": "red", "label": "Red"}]}]}`)})
	b := openTab(t, s.URL)
	b.wantStatus(b.open(path), 200)
	for _, key := range []string{"one", "some", "more"} {
		b.wait(`!document.querySelector('input[name="` + key + `.other"]').checkVisibility()`)
		b.do(chromedp.Click(`input[name="` + key + `"][value="_other"]`))
		b.fill(`input[name="`+key+`.other"]`, "green")
	}
	b.do(chromedp.Click(`input[name="more"][value="_other"]`))
	b.press(button("Submit"))
	b.wait(`location.pathname.endsWith("/done")`)
	ownerDB.wantStored(path, `{"one": "green", "some": ["green"]}`)
}

// TestMissingFromLink: a form that requires a value from its link says so if the value
// is missing.
func TestMissingFromLink(t *testing.T) {
	t.Parallel()
	s := start(t)
	ownerDB := openOwnerDB(t, s)
	path := ownerDB.publish(form.FormInput{Header: form.Header{Title: "Survey"}, Definition: parseDefinition(t, `{"fields": [
		{"key": "from", "kind": "hidden", "required": true}, {"key": "a", "kind": "short_text", "label": "Word"}]}`)})
	b := openTab(t, s.URL)
	b.wantStatus(b.open(path), 200)
	b.press(button("Submit"))
	b.wantText("This link is incomplete.")
	b.wantStatus(b.open(path+"?from=mail"), 200)
	b.press(button("Submit"))
	b.wait(`location.pathname.endsWith("/done")`)
	ownerDB.wantStored(path, `{"from": "mail"}`)
}
