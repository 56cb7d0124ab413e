package e2e

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"formulary/internal/form"
	"formulary/internal/store"
)

// acceptedTextsFor returns the hostile texts that a place in a form accepts.
func acceptedTextsFor(t testing.TB, place string, put func(*form.FormInput, string)) []string {
	t.Helper()
	var list []string
	for _, text := range allHostile() {
		in := form.FormInput{Header: form.Header{Title: "T", Language: "en"}, Definition: &form.Definition{Fields: []*form.Field{{Kind: "short_text", Label: "L"}}}}
		put(&in, text)
		if in.Normalize() == nil {
			list = append(list, text)
		}
	}
	if len(list) < 150 {
		t.Errorf("only %d hostile texts can be %s", len(list), place)
	}
	return list
}

// readTexts returns the texts or values of the matching elements.
func (b *tab) readTexts(selector string) []string {
	b.t.Helper()
	return run(b, chromedp.Evaluate[[]string](fmt.Sprintf(`Array.from(document.querySelectorAll(%q), (e) => e.value ?? e.textContent)`, selector)))
}

// wantShownVerbatim fails the test unless each of the texts is the whole content of a
// matching element.
func (b *tab) wantShownVerbatim(selector string, want []string) {
	b.t.Helper()
	b.wantIncluded(selector, b.readTexts(selector), want)
}

// wantIncluded is wantShownVerbatim for texts that were read from several pages.
func (b *tab) wantIncluded(selector string, texts, want []string) {
	b.t.Helper()
	got := map[string]bool{}
	for _, text := range texts {
		got[normalizeSpaces(text)] = true
	}
	for _, text := range want {
		if !got[normalizeSpaces(text)] {
			b.t.Errorf("%s at %s does not show %q as it is", selector, b.location().Path, text)
			return
		}
	}
}

// normalizeSpaces joins the parts of a text that are separated by whitespace that
// browsers do not keep.
func normalizeSpaces(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\u00a0\ufeff\u2028\u2029", r) }), " ")
}

// createHostileForm publishes a form in which every text is hostile, with a response
// whose answers are hostile too.
func createHostileForm(d ownerDB) (id, response string, labels, answers []string) {
	d.t.Helper()
	labels = acceptedTextsFor(d.t, "a question", func(p *form.FormInput, text string) { p.Definition.Fields[0].Label = text })
	options := acceptedTextsFor(d.t, "an option", func(p *form.FormInput, text string) {
		p.Definition.Fields[0] = &form.Field{Kind: "dropdown", Label: "L", Options: []form.Option{{Label: text}}}
	})
	in := form.FormInput{Header: form.Header{Title: hostile[0], Description: hostile[1], Language: "en"}, Availability: form.Availability{Sites: form.AnySite}, Definition: &form.Definition{}}
	add := func(f *form.Field) { in.Definition.Fields = append(in.Definition.Fields, f) }
	all := map[string]any{}
	for i, text := range labels {
		f := &form.Field{Key: fmt.Sprintf("q%d", i), Kind: "short_text", Label: text}
		if i > 0 && i%9 == 0 {
			f.ShowIf = &form.Condition{Field: fmt.Sprintf("q%d", i-1), Op: "not_equals", Value: text + "!"}
		}
		if i%17 == 0 {
			f.Jumps = []*form.Jump{{If: &form.Condition{Field: f.Key, Op: "equals", Value: text + "!"}, To: "away"}}
		}
		add(f)
		if _, err := form.KindOf("short_text").Validate(f, text); err == nil {
			all[f.Key] = text
			answers = append(answers, text)
		}
		if i%40 == 39 {
			add(&form.Field{Key: fmt.Sprintf("p%d", i), Kind: "page_break", Label: text})
		}
	}
	var list []form.Option
	for i, text := range options {
		list = append(list, form.Option{Value: fmt.Sprintf("v%d", i), Label: text})
	}
	for _, kind := range []string{"dropdown", "single_choice", "multiple_choice"} {
		add(&form.Field{Key: kind, Kind: kind, Label: kind, Options: slices.Clone(list)})
	}
	add(&form.Field{Key: "grid", Kind: "matrix", Label: hostile[2], Rows: slices.Clone(list[:20]), Options: slices.Clone(list[20:25])})
	in.Definition.Endings = []*form.Ending{{Key: "away", Title: hostile[3], Text: hostile[4]}}
	path := d.publish(in)
	all["dropdown"], all["grid"] = "v3", map[string]any{"v1": "v21"}
	allValues := []string{}
	for _, o := range list {
		allValues = append(allValues, o.Value)
	}
	all["multiple_choice"] = allValues
	all["single_choice"] = "v4"
	return strings.TrimPrefix(path, "/f/"), d.addResponse(path, all, time.Now()), labels, answers
}

// TestHostileWorkspace: hostile texts in forms, responses and names are shown as text
// in the workspace and never become active.
func TestHostileWorkspace(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	id, response, labels, answers := createHostileForm(d)
	page := "/forms/" + id
	b := signedInTab(t, s, ada)
	b.detectScripts()
	b.focusTab()
	b.setColorScheme("light")

	b.wantStatus(b.open(page+"/responses"), 200)
	b.wantInert()
	d.useTable(id)
	for _, path := range []string{"/flow", "/share", "/summary", "/preview", "/preview?page=1", "/responses", "/responses/" + response} {
		b.wantStatus(b.open(page+path), 200)
		b.wantInert()
	}
	b.wantShownVerbatim(".answers dt", labels[:len(answers)/2])
	b.wantShownVerbatim(".answers dd", answers)
	b.wantStatus(b.open(page+"/summary"), 200)
	b.wantShownVerbatim(".question-summary h2", labels)
	b.wantStatus(b.open(page+"/share"), 200)
	b.fill(`#prefill [name="q0"]`, hostile[0])
	b.wait(`document.querySelector("#prefill code").textContent.includes("q0=")`)
	b.wantInert()
	// The table shows at most 100 columns.
	var cells []string
	for from := 0; from < len(labels); from += 100 {
		query := "?order=oldest"
		for i := from; i < min(from+100, len(labels)); i++ {
			query += fmt.Sprintf("&column=q%d", i)
		}
		b.wantStatus(b.open(page+"/responses"+query), 200)
		cells = append(cells, b.readTexts(".response-table tbody td")...)
		b.wantInert()
	}
	b.wantIncluded(".response-table tbody td", cells, slices.DeleteFunc(slices.Clone(answers), func(text string) bool { return len([]rune(text)) > 110 }))

	// The builder renders in the browser, and lists the changes.
	if _, err := d.db.UpdateForm(context.Background(), d.owner, store.FormRevision{ID: id}, func(p *form.FormInput) error {
		for _, f := range p.Definition.Fields[:100] {
			f.Help = f.Label
		}
		return p.Normalize()
	}, time.Now()); err != nil {
		t.Fatal(err)
	}
	b.wantStatus(b.open(page+"/build"), 200)
	b.wait(`document.querySelectorAll(".fields > li").length > 200`)
	b.wantShownVerbatim(".fields .label-row textarea", labels)
	for _, index := range []int{1, 10, 19, len(labels) + 9} { // with jumps, with conditions, with options
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelectorAll(".outline [data-outline]")[%d].click()`, index)))
		b.wait(fmt.Sprintf(`document.querySelectorAll(".outline [data-outline]")[%d].matches("[aria-current]")`, index))
		b.wantInert()
	}
	b.do(chromedp.Click(".toolbar .preview-toggle"))
	b.wait(`(document.querySelector(".preview iframe").contentDocument?.querySelectorAll("form.public-form .question").length ?? 0) > 0`)
	b.do(chromedp.Click(".toolbar .primary"), chromedp.WaitVisible("dialog .changes li"))
	b.wantInert()
	b.typeKeys(kb.Escape)
}

// TestHostileTitles: the list of forms shows hostile titles as text.
func TestHostileTitles(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	titles := acceptedTextsFor(t, "a title", func(p *form.FormInput, text string) { p.Title = text })
	for _, text := range titles {
		d.createDraft(form.FormInput{Header: form.Header{Title: text, Description: "D", Language: "en"}})
	}
	b := signedInTab(t, s, ada)
	b.detectScripts()
	slices.Reverse(titles)
	for number := 1; len(titles) > 0; number++ {
		b.wantStatus(b.open(fmt.Sprintf("/?page=%d", number)), 200)
		b.wantInert()
		page := titles[:min(30, len(titles))]
		b.wantShownVerbatim(".forms h2 a", page)
		titles = titles[len(page):]
	}
	for _, text := range allHostile()[:6] {
		b.wantStatus(b.open("/?search="+url.QueryEscape(text)), 200)
		if got := run(b, chromedp.Value(`[name="search"]`)); normalizeSpaces(got) != normalizeSpaces(text) {
			t.Errorf("searching for %q shows %q", text, got)
		}
		b.wantInert()
	}
}

// TestHostileApplications: the pages of an application show its hostile name as text.
func TestHostileApplications(t *testing.T) {
	t.Parallel()
	s := start(t)
	names := slices.DeleteFunc(allHostile(), func(text string) bool { return len([]rune(text)) > 100 || strings.TrimSpace(text) != text })
	var selected []string
	for i, text := range names {
		if i%30 == 0 && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > 0x2000 }) {
			selected = append(selected, text)
		}
	}
	if len(selected) < 5 {
		t.Fatalf("only %d names", len(selected))
	}
	ids := addApps(t, s.Storage, "https://shop.example/callback", selected)
	b := signedInTab(t, s, ada)
	b.detectScripts()
	for i, text := range selected {
		b.wantStatus(b.open("/applications/"+ids[i]), 200)
		b.wantShownVerbatim("h1", []string{text})
		b.wantInert()
		b.wantStatus(b.press(button("Try it")), 200)
		b.wantText("The OAuth flow works")
		b.wantShownVerbatim(".breadcrumb a", []string{text})
		b.wantInert()
	}
}
