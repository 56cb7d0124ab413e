package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"formulary/internal/form"
)

// wardrobeForm has questions that depend on others on the same page: color on size, size on
// shirt, and nuts on a text answer.
const wardrobeForm = `{"fields": [
	{"key": "shirt", "kind": "yes_no", "label": "A shirt?"},
	{"key": "size", "kind": "single_choice", "label": "Which size?", "required": true, "options": [{"value": "s", "label": "Small"}, {"value": "m", "label": "Medium"}],
	 "show_if": {"field": "shirt", "op": "equals", "value": true}},
	{"key": "colour", "kind": "short_text", "label": "Which colour?", "required": true, "show_if": {"field": "size", "op": "equals", "value": "m"}},
	{"key": "diet", "kind": "short_text", "label": "What do you not eat?"},
	{"key": "nuts", "kind": "multiple_choice", "label": "Which nuts?", "options": [{"value": "hazel", "label": "Hazelnuts"}, {"value": "wal", "label": "Walnuts"}],
	 "show_if": {"field": "diet", "op": "contains", "value": "NUT"}}]}`

// shownQuestions is a JavaScript expression for the questions that are visible and
// enabled. Those that are only one of the two are marked.
const shownQuestions = `[...new Set(Array.from(document.querySelectorAll("form.public-form [name]"), (e) => {
	if (e.type === "hidden" || e.type === "submit" || e.name.startsWith("_")) return "";
	const isVisible = e.checkVisibility(), isEnabled = !e.matches(":disabled");
	return isVisible && isEnabled ? e.name : isVisible ? e.name + " (disabled)" : isEnabled ? e.name + " (invisible)" : "";
}).filter(Boolean))].join(" ")`

// waitForQuestions waits until exactly these questions are shown.
func (b *tab) waitForQuestions(names ...string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	var got string
	if err := waitUntil(ctx, func() bool {
		now, err := chromedp.Run(ctx, chromedp.Evaluate[string](shownQuestions))
		if err == nil {
			got = now
		}
		return got == strings.Join(names, " ")
	}); err != nil {
		b.t.Fatalf("the questions are %q, want %q\nat %s", got, names, b.describe())
	}
}

// choose clicks an option.
func (b *tab) choose(name, value string) {
	b.t.Helper()
	b.do(chromedp.Click(fmt.Sprintf(`input[name=%q][value=%q] + span`, name, value)))
}

// wantSent fails the test unless exactly these requests were sent so far, apart from
// static files.
func (b *tab) wantSent(want ...string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	var got []string
	_ = waitUntil(ctx, func() bool {
		b.monitor.mu.Lock()
		defer b.monitor.mu.Unlock()
		got = nil
		for _, request := range b.monitor.sent {
			withoutQuery, _, _ := strings.Cut(request, "?")
			got = append(got, strings.Replace(withoutQuery, b.site, "", 1))
		}
		return len(got) >= len(want)
	})
	if diff := cmp.Diff(want, got); diff != "" {
		b.t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestLiveConditions: questions are shown and hidden while the respondent answers,
// without requests to the server.
func TestLiveConditions(t *testing.T) {
	t.Parallel()
	s := start(t)
	ownerDB := openOwnerDB(t, s)
	path := ownerDB.publish(form.FormInput{Header: form.Header{Title: "Party"}, Definition: parseDefinition(t, wardrobeForm)})
	b := openTab(t, s.URL)

	b.wantStatus(b.open(path), 200)
	b.waitForQuestions("shirt", "diet")
	b.choose("shirt", "true")
	b.waitForQuestions("shirt", "size", "diet")
	b.choose("size", "m")
	b.waitForQuestions("shirt", "size", "colour", "diet")
	b.fill(`input[name="colour"]`, "Red")
	b.choose("size", "s")
	b.waitForQuestions("shirt", "size", "diet")
	b.choose("size", "m")
	b.waitForQuestions("shirt", "size", "colour", "diet")

	// Hiding a question hides those that depend on it.
	b.choose("shirt", "false")
	b.waitForQuestions("shirt", "diet")
	b.choose("shirt", "true")
	b.waitForQuestions("shirt", "size", "colour", "diet")

	// Conditions on text ignore case and apply while typing.
	b.do(chromedp.Focus(`input[name="diet"]`), chromedp.KeyEvent("Peanu"))
	b.waitForQuestions("shirt", "size", "colour", "diet")
	b.do(chromedp.KeyEvent("ts"))
	b.waitForQuestions("shirt", "size", "colour", "diet", "nuts")
	b.choose("nuts", "wal")
	b.wantStatus(b.press(button("Submit")), 200)
	b.wantPath(path + "/done")
	b.wantSent("GET "+path, "GET "+path+"/rules", "POST "+path, "GET "+path+"/done")

	// Answers to hidden questions are not submitted.
	b.wantStatus(b.open(path), 200)
	b.choose("shirt", "true")
	b.choose("size", "m")
	b.fill(`input[name="colour"]`, "Blue")
	b.choose("shirt", "false")
	b.waitForQuestions("shirt", "diet")
	b.wantStatus(b.press(button("Submit")), 200)
	b.wantPath(path + "/done")
	ownerDB.wantStored(path,
		`{"shirt": true, "size": "m", "colour": "Red", "diet": "Peanuts", "nuts": ["wal"]}`,
		`{"shirt": false}`)
}

// TestConditionsWithoutScript: without JavaScript, the server shows each question when
// it is due.
func TestConditionsWithoutScript(t *testing.T) {
	t.Parallel()
	s := start(t)
	ownerDB := openOwnerDB(t, s)
	path := ownerDB.publish(form.FormInput{Header: form.Header{Title: "Party"}, Definition: parseDefinition(t, wardrobeForm)})
	b := openTab(t, s.URL)
	b.disableScript()

	b.wantStatus(b.open(path), 200)
	b.waitForQuestions("shirt", "diet")
	b.choose("shirt", "true")
	b.waitForQuestions("shirt", "diet")
	b.wantStatus(b.press(button("Submit")), 200)
	b.wantPath(path)
	b.waitForQuestions("shirt", "size", "diet")
	// The new question has autofocus, which browsers apply after rendering.
	b.wait(`(document.activeElement.name || document.activeElement.id) === "size"`)
	b.choose("size", "m")
	b.wantStatus(b.press(button("Submit")), 200)
	b.wantPath(path)
	b.waitForQuestions("shirt", "size", "colour", "diet")
	b.fill(`input[name="colour"]`, "Red")
	b.wantStatus(b.press(button("Submit")), 200)
	b.wantPath(path + "/done")

	// Changing an answer removes the answers that depended on it.
	b.wantStatus(b.open(path+"?shirt=true&size=m&colour=Red"), 200)
	b.waitForQuestions("shirt", "size", "colour", "diet")
	b.choose("shirt", "false")
	b.wantStatus(b.press(button("Submit")), 200)
	b.wantPath(path + "/done")
	ownerDB.wantStored(path, `{"shirt": true, "size": "m", "colour": "Red"}`, `{"shirt": false}`)
}

// TestSharedConditions: the condition logic of the page passes the same cases as the
// server's.
func TestSharedConditions(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../internal/form/testdata/conditions.json")
	if err != nil {
		t.Fatal(err)
	}
	var shared struct {
		Cases []struct {
			If    json.RawMessage `json:"if"`
			Holds bool            `json:"holds"`
		} `json:"cases"`
	}
	if err := json.Unmarshal(text, &shared); err != nil {
		t.Fatal(err)
	}
	if len(shared.Cases) < 30 {
		t.Fatalf("only %d cases", len(shared.Cases))
	}
	s := start(t)
	b := openTab(t, s.URL)
	b.wantStatus(b.open(publishForm(t, s, form.Header{Title: "Party"}, wardrobeForm)), 200)
	// The module that the page itself uses.
	got := run(b, chromedp.Evaluate[[]bool](`import("/static/form-logic.js").then(({ matches }) => {
		const shared = `+string(text)+`;
		return shared.cases.map((c) => matches(c.if, shared.answers));
	})`, chromedp.EvalAwaitPromise))
	if len(got) != len(shared.Cases) {
		t.Fatalf("%d results of %d cases", len(got), len(shared.Cases))
	}
	for i, c := range shared.Cases {
		if got[i] != c.Holds {
			t.Errorf("%s matches: %v, want %v", c.If, got[i], c.Holds)
		}
	}
}

// readCases are answers of each kind as prefilled links, each with a condition that
// matches and one that does not.
var readCases = []struct{ field, query, matching, notMatching string }{
	{`{"key": "a", "kind": "short_text"}`, "a=+Hello+", `{"field": "a", "op": "equals", "value": "Hello"}`, `{"field": "a", "op": "not_answered"}`},
	{`{"key": "a", "kind": "short_text"}`, "a=++", `{"field": "a", "op": "not_answered"}`, `{"field": "a", "op": "answered"}`},
	{`{"key": "a", "kind": "long_text"}`, "a=one%0Atwo", `{"field": "a", "op": "contains", "value": "TWO"}`, `{"field": "a", "op": "equals", "value": "one"}`},
	{`{"key": "a", "kind": "email"}`, "a=ada@example.com", `{"field": "a", "op": "contains", "value": "@example"}`, `{"field": "a", "op": "contains", "value": "bob"}`},
	{`{"key": "a", "kind": "url"}`, "a=https://example.com/", `{"field": "a", "op": "answered"}`, `{"field": "a", "op": "equals", "value": "x"}`},
	{`{"key": "a", "kind": "phone"}`, "a=%2B49+228+1234", `{"field": "a", "op": "contains", "value": "+49"}`, `{"field": "a", "op": "not_answered"}`},
	{`{"key": "a", "kind": "number"}`, "a=7.5", `{"field": "a", "op": "greater", "value": 7}`, `{"field": "a", "op": "equals", "value": "7.5"}`},
	{`{"key": "a", "kind": "slider"}`, "a=40", `{"field": "a", "op": "at_most", "value": 40}`, `{"field": "a", "op": "less", "value": 40}`},
	{`{"key": "a", "kind": "slider"}`, "a=40&a.none=1", `{"field": "a", "op": "not_answered"}`, `{"field": "a", "op": "answered"}`},
	{`{"key": "a", "kind": "slider"}`, "", `{"field": "a", "op": "not_answered"}`, `{"field": "a", "op": "answered"}`},
	{`{"key": "a", "kind": "slider", "required": true}`, "", `{"field": "a", "op": "not_equals", "value": 99}`, `{"field": "a", "op": "equals", "value": 99}`},
	{`{"key": "a", "kind": "rating"}`, "a=3", `{"field": "a", "op": "equals", "value": 3}`, `{"field": "a", "op": "greater", "value": 3}`},
	{`{"key": "a", "kind": "scale"}`, "a=0", `{"field": "a", "op": "answered"}`, `{"field": "a", "op": "at_least", "value": 1}`},
	{`{"key": "a", "kind": "yes_no"}`, "a=false", `{"field": "a", "op": "equals", "value": false}`, `{"field": "a", "op": "equals", "value": true}`},
	{`{"key": "a", "kind": "consent"}`, "a=true", `{"field": "a", "op": "equals", "value": true}`, `{"field": "a", "op": "equals", "value": false}`},
	{`{"key": "a", "kind": "consent"}`, "", `{"field": "a", "op": "not_equals", "value": true}`, `{"field": "a", "op": "equals", "value": true}`},
	{`{"key": "a", "kind": "single_choice", "options": [{"label": "X"}], "other": true}`, "a=_other&a.other=Mine", `{"field": "a", "op": "equals", "value": "Mine"}`, `{"field": "a", "op": "equals", "value": "_other"}`},
	{`{"key": "a", "kind": "multiple_choice", "options": [{"label": "X"}, {"label": "Y"}], "other": true}`, "a=x&a=_other&a.other=Mine", `{"field": "a", "op": "equals", "value": ["Mine", "x"]}`, `{"field": "a", "op": "contains", "value": "_other"}`},
	{`{"key": "a", "kind": "dropdown", "options": [{"label": "X"}, {"label": "Y"}]}`, "a=y", `{"field": "a", "op": "equals", "value": "y"}`, `{"field": "a", "op": "equals", "value": "x"}`},
	{`{"key": "a", "kind": "ranking", "options": [{"label": "X"}, {"label": "Y"}]}`, "a.x=2&a.y=1", `{"field": "a", "op": "contains", "value": "x"}`, `{"field": "a", "op": "contains", "value": "z"}`},
	{`{"key": "a", "kind": "matrix", "rows": [{"label": "R"}], "options": [{"label": "X"}]}`, "a.r=x", `{"field": "a", "op": "answered"}`, `{"field": "a", "op": "contains", "value": "x"}`},
	{`{"key": "a", "kind": "date"}`, "a=2026-05-31", `{"field": "a", "op": "less", "value": "2026-06-01"}`, `{"field": "a", "op": "less", "value": "2026-05-31"}`},
	{`{"key": "a", "kind": "time"}`, "a=17:30", `{"field": "a", "op": "greater", "value": "09:00"}`, `{"field": "a", "op": "greater", "value": "18:00"}`},
	{`{"key": "a", "kind": "datetime"}`, "a=2026-05-31T17:30", `{"field": "a", "op": "at_least", "value": "2026-05-31T17:30"}`, `{"field": "a", "op": "not_answered"}`},
	{`{"key": "a", "kind": "name"}`, "a.given=Ada", `{"field": "a", "op": "answered"}`, `{"field": "a", "op": "equals", "value": "Ada"}`},
	{`{"key": "a", "kind": "address"}`, "a.city=Bonn", `{"field": "a", "op": "answered"}`, `{"field": "a", "op": "contains", "value": "Bonn"}`},
	{`{"key": "a", "kind": "country"}`, "a=DE", `{"field": "a", "op": "equals", "value": "DE"}`, `{"field": "a", "op": "equals", "value": "de"}`},
	{`{"key": "a", "kind": "picture_choice", "options": [{"label": "X", "image": "PICTURE", "alt": "X"}]}`, "a=x", `{"field": "a", "op": "equals", "value": "x"}`, `{"field": "a", "op": "not_answered"}`},
	{`{"key": "a", "kind": "file"}`, "", `{"field": "a", "op": "not_answered"}`, `{"field": "a", "op": "answered"}`},
	{`{"key": "a", "kind": "signature"}`, "a=Ada", `{"field": "a", "op": "answered"}`, `{"field": "a", "op": "not_answered"}`},
	{`{"key": "a", "kind": "hidden"}`, "a=mail", `{"field": "a", "op": "equals", "value": "mail"}`, `{"field": "a", "op": "not_answered"}`},
}

// TestScriptReadsLikeServer: the script reads the controls of each kind as the server does. If
// they disagreed, the server would wait for an answer to a hidden question.
func TestScriptReadsLikeServer(t *testing.T) {
	t.Parallel()
	s := start(t)
	var fields, want []string
	query := url.Values{}
	covered := map[string]bool{}
	for i, r := range readCases {
		key := fmt.Sprintf("a%02d", i)
		rename := func(text string) string {
			return strings.ReplaceAll(strings.ReplaceAll(text, `"key": "a"`, `"key": "`+key+`"`), `"field": "a"`, `"field": "`+key+`"`)
		}
		fields = append(fields, rename(r.field),
			fmt.Sprintf(`{"key": "y%02d", "kind": "short_text", "show_if": %s}`, i, rename(r.matching)),
			fmt.Sprintf(`{"key": "n%02d", "kind": "short_text", "show_if": %s}`, i, rename(r.notMatching)))
		values, err := url.ParseQuery(r.query)
		if err != nil {
			t.Fatal(err)
		}
		for name, list := range values {
			query[key+strings.TrimPrefix(name, "a")] = list
		}
		want = append(want, fmt.Sprintf("y%02d", i))
		var f form.Field
		if err := json.Unmarshal([]byte(r.field), &f); err != nil {
			t.Fatal(err)
		}
		covered[f.Kind] = true
	}
	for _, kind := range form.Kinds() {
		if (&form.Field{Kind: kind.Name()}).HasAnswer() && !covered[kind.Name()] && !kind.Traits().Calculated {
			t.Errorf("there is no case for the kind %s", kind.Name())
		}
	}
	definition := strings.ReplaceAll(`{"fields": [`+strings.Join(fields, ",\n")+`]}`, "PICTURE", addPicture(t, s))
	path := publishForm(t, s, form.Header{Title: "Everything"}, definition)

	var byServer []string
	for _, m := range regexp.MustCompile(`id="q-([yn]\d\d)">`).FindAllStringSubmatch(s.Browser().Get(path+"?"+query.Encode()).Text, -1) {
		byServer = append(byServer, m[1])
	}
	if diff := cmp.Diff(want, byServer); diff != "" {
		t.Errorf("shown by the server (-want +got):\n%s", diff)
	}

	b := openTab(t, s.URL)
	b.wantStatus(b.open(path+"?"+query.Encode()), 200)
	const shown = `Array.from(document.querySelectorAll("[id^=q-]:not([hidden])"), (e) => e.id.slice(2)).sort()`
	byScript := run(b, chromedp.Evaluate[[]string](shown))
	slices.Sort(want)
	for i, r := range readCases {
		yes, no := fmt.Sprintf("y%02d", i), fmt.Sprintf("n%02d", i)
		if !slices.Contains(byScript, yes) {
			t.Errorf("in the script %s does not match %s, answered with %q", r.matching, r.field, r.query)
		}
		if slices.Contains(byScript, no) {
			t.Errorf("in the script %s matches %s, answered with %q", r.notMatching, r.field, r.query)
		}
	}
	// The server agrees, so the page is accepted.
	b.wantStatus(b.submitUnchecked(), 200)
	b.wantPath(path + "/done")
}

// TestLiveResults: calculations follow the answers, and questions follow the
// calculations.
func TestLiveResults(t *testing.T) {
	t.Parallel()
	s := start(t)
	ownerDB := openOwnerDB(t, s)
	path := ownerDB.publish(form.FormInput{Header: form.Header{Title: "Order", Language: "de"}, Definition: parseDefinition(t, `{"fields": [
		{"key": "pieces", "kind": "number", "label": "Pieces"},
		{"key": "price", "kind": "calculated", "label": "Price", "expression": "pieces * 2.5", "unit": "€"},
		{"key": "why", "kind": "short_text", "label": "So many?", "show_if": {"field": "price", "op": "at_least", "value": 10}}]}`)})
	b := openTab(t, s.URL)
	b.wantStatus(b.open(path), 200)
	b.fill(`input[name="pieces"]`, "3")
	b.wait(`document.querySelector("output").value === "7,5 €"`)
	b.fill(`input[name="pieces"]`, "4")
	b.wait(`document.querySelector("output").value === "10 €" && !document.getElementById("q-why").hidden`)
	b.fill(`input[name="why"]`, "A party")
	b.press(button("Absenden"))
	b.wait(`location.pathname.endsWith("/done")`)
	ownerDB.wantStored(path, `{"pieces": 4, "price": 10, "why": "A party"}`)
}
