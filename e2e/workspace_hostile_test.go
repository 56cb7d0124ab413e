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

// accepted are the hostile words that can stand in a place of a form.
func accepted(t testing.TB, place string, put func(*form.FormInput, string)) []string {
	t.Helper()
	var list []string
	for _, words := range everyHostile() {
		plan := form.FormInput{Header: form.Header{Title: "T", Language: "en"}, Definition: &form.Definition{Fields: []*form.Field{{Kind: "short_text", Label: "L"}}}}
		put(&plan, words)
		if plan.Normalize() == nil {
			list = append(list, words)
		}
	}
	if len(list) < 150 {
		t.Errorf("only %d hostile words can be %s", len(list), place)
	}
	return list
}

// texts are the contents of what a selector finds, or what is filled in there.
func (b *tab) texts(selector string) []string {
	b.t.Helper()
	return ask(b, chromedp.Evaluate[[]string](fmt.Sprintf(`Array.from(document.querySelectorAll(%q), (e) => e.value ?? e.textContent)`, selector)))
}

// wantWritten fails the test unless all the words are among the texts, each whole.
func (b *tab) wantWritten(selector string, want []string) {
	b.t.Helper()
	b.wantAmong(selector, b.texts(selector), want)
}

// wantAmong is wantWritten for texts that were read from several pages.
func (b *tab) wantAmong(selector string, texts, want []string) {
	b.t.Helper()
	got := map[string]bool{}
	for _, text := range texts {
		got[squeezed(text)] = true
	}
	for _, words := range want {
		if !got[squeezed(words)] {
			b.t.Errorf("%s at %s does not show %q as it is", selector, b.at().Path, words)
			return
		}
	}
}

// squeezed is a text without what pages and fields of one line do not keep.
func squeezed(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\u00a0\ufeff\u2028\u2029", r) }), " ")
}

// besieged is a published form in which every text is hostile, with an answer to
// each question that is, too.
func besieged(d desk) (id, response string, labels, answers []string) {
	d.t.Helper()
	labels = accepted(d.t, "a question", func(p *form.FormInput, words string) { p.Definition.Fields[0].Label = words })
	options := accepted(d.t, "an option", func(p *form.FormInput, words string) {
		p.Definition.Fields[0] = &form.Field{Kind: "dropdown", Label: "L", Options: []form.Option{{Label: words}}}
	})
	plan := form.FormInput{Header: form.Header{Title: hostile[0], Description: hostile[1], Language: "en"}, Availability: form.Availability{Sites: form.AnySite}, Definition: &form.Definition{}}
	add := func(f *form.Field) { plan.Definition.Fields = append(plan.Definition.Fields, f) }
	all := map[string]any{}
	for i, words := range labels {
		f := &form.Field{Key: fmt.Sprintf("q%d", i), Kind: "short_text", Label: words}
		if i > 0 && i%9 == 0 {
			f.ShowIf = &form.Condition{Field: fmt.Sprintf("q%d", i-1), Op: "not_equals", Value: words + "!"}
		}
		if i%17 == 0 {
			f.Jumps = []*form.Jump{{If: &form.Condition{Field: f.Key, Op: "equals", Value: words + "!"}, To: "away"}}
		}
		add(f)
		if _, err := form.KindOf("short_text").Validate(f, words); err == nil {
			all[f.Key] = words
			answers = append(answers, words)
		}
		if i%40 == 39 {
			add(&form.Field{Key: fmt.Sprintf("p%d", i), Kind: "page_break", Label: words})
		}
	}
	var list []form.Option
	for i, words := range options {
		list = append(list, form.Option{Value: fmt.Sprintf("v%d", i), Label: words})
	}
	for _, kind := range []string{"dropdown", "single_choice", "multiple_choice"} {
		add(&form.Field{Key: kind, Kind: kind, Label: kind, Options: slices.Clone(list)})
	}
	add(&form.Field{Key: "grid", Kind: "matrix", Label: hostile[2], Rows: slices.Clone(list[:20]), Options: slices.Clone(list[20:25])})
	plan.Definition.Endings = []*form.Ending{{Key: "away", Title: hostile[3], Text: hostile[4]}}
	path := d.publish(plan)
	all["dropdown"], all["grid"] = "v3", map[string]any{"v1": "v21"}
	chosen := []string{}
	for _, o := range list {
		chosen = append(chosen, o.Value)
	}
	all["multiple_choice"] = chosen
	all["single_choice"] = "v4"
	return strings.TrimPrefix(path, "/f/"), d.answer(path, all, time.Now()), labels, answers
}

// Whatever stands in a form, in its answers or in a name, the workspace shows it
// and does nothing else with it.
func TestHostileWorkspace(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openDesk(t, s)
	id, response, asked, answered := besieged(d)
	page := "/forms/" + id
	b := visitor(t, s, ada)
	b.armed()
	b.inFront()
	b.prefer("light")

	for _, path := range []string{"/flow", "/share", "/summary", "/preview", "/preview?page=1", "/responses", "/responses/" + response} {
		b.wantStatus(b.open(page+path), 200)
		b.wantInert()
	}
	b.wantWritten(".response dt", asked[:len(answered)/2])
	b.wantWritten(".response dd", answered)
	b.wantStatus(b.open(page+"/summary"), 200)
	b.wantWritten(".question-summary h2", asked)
	b.wantStatus(b.open(page+"/share"), 200)
	b.do(chromedp.Click("#main details summary"))
	b.fill(`#prefill [name="q0"]`, hostile[0])
	b.wait(`document.querySelector("#prefill code").textContent.includes("q0=")`)
	b.wantInert()
	// The table shows at most 100 columns at a time.
	var cells []string
	for from := 0; from < len(asked); from += 100 {
		query := "?order=oldest"
		for i := from; i < min(from+100, len(asked)); i++ {
			query += fmt.Sprintf("&column=q%d", i)
		}
		b.wantStatus(b.open(page+"/responses"+query), 200)
		cells = append(cells, b.texts(".answers tbody td")...)
		b.wantInert()
	}
	b.wantAmong(".answers tbody td", cells, slices.DeleteFunc(slices.Clone(answered), func(words string) bool { return len([]rune(words)) > 110 }))

	// The builder draws by itself, and says what has changed.
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
	b.wantWritten(".fields .asks textarea", asked)
	for _, place := range []int{1, 10, 19, len(asked) + 9} { // with jumps, with conditions, with options
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelectorAll(".outline [data-go]")[%d].click()`, place)))
		b.wait(fmt.Sprintf(`document.querySelectorAll(".outline [data-go]")[%d].matches("[aria-current]")`, place))
		b.wantInert()
	}
	b.do(chromedp.Click(".tools .show"))
	b.wait(`(document.querySelector(".preview iframe").contentDocument?.querySelectorAll("form.answer .question").length ?? 0) > 0`)
	b.do(chromedp.Click(".tools .primary"), chromedp.WaitVisible("dialog .changes li"))
	b.wantInert()
	b.typeIn(kb.Escape)
}

// The list of forms shows hostile titles as they are, and deleting and copying
// works on them.
func TestHostileTitles(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openDesk(t, s)
	titles := accepted(t, "a title", func(p *form.FormInput, words string) { p.Title = words })
	for _, words := range titles {
		d.draft(form.FormInput{Header: form.Header{Title: words, Description: "D", Language: "en"}})
	}
	b := visitor(t, s, ada)
	b.armed()
	slices.Reverse(titles)
	for number := 1; len(titles) > 0; number++ {
		b.wantStatus(b.open(fmt.Sprintf("/?page=%d", number)), 200)
		b.wantInert()
		some := titles[:min(30, len(titles))]
		b.wantWritten(".forms h2 a", some)
		titles = titles[len(some):]
	}
	for _, words := range everyHostile()[:15] {
		b.wantStatus(b.open("/?search="+url.QueryEscape(words)), 200)
		if got := ask(b, chromedp.Value(`[name="search"]`)); squeezed(got) != squeezed(words) {
			t.Errorf("searching for %q shows %q", words, got)
		}
		b.wantInert()
	}
}

// Names of applications, on the pages that are about one.
func TestHostileApplications(t *testing.T) {
	t.Parallel()
	s := start(t)
	names := slices.DeleteFunc(everyHostile(), func(words string) bool { return len([]rune(words)) > 100 || strings.TrimSpace(words) != words })
	var good []string
	for i, words := range names {
		if i%12 == 0 && !strings.ContainsFunc(words, func(r rune) bool { return r < ' ' || r > 0x2000 }) {
			good = append(good, words)
		}
	}
	if len(good) < 10 {
		t.Fatalf("only %d names", len(good))
	}
	ids := addApps(t, s.Place, "https://shop.example/callback", good)
	b := visitor(t, s, ada)
	b.armed()
	for i, words := range good {
		b.wantStatus(b.open("/applications/"+ids[i]), 200)
		b.wantWritten("h1", []string{words})
		b.wantInert()
		b.wantStatus(b.press(button("Try it")), 200)
		b.wantWords("The whole flow works")
		b.wantWritten(".trail a", []string{words})
		b.wantInert()
	}
}
