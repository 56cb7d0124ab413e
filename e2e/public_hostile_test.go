package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"formulary/internal/form"
)

const (
	// enough is how many hostile words have to get through in each place; forms
	// refuse a few.
	enough = 150
	// batch is how many of them are looked at together.
	batch = 75
)

// taken are the words that are taken in a place.
func taken(t testing.TB, place string, takes func(words string) bool) []string {
	t.Helper()
	list := slices.DeleteFunc(everyHostile(), func(words string) bool { return !takes(words) })
	t.Logf("%s: %d of %d are taken", place, len(list), len(everyHostile()))
	if len(list) < enough {
		t.Errorf("%s: only %d are taken", place, len(list))
	}
	return list
}

// asks is a form that any site may show.
func asks(head form.Header, fields ...*form.Field) form.FormInput {
	return form.FormInput{Header: head, Availability: form.Availability{Sites: form.AnySite}, Definition: &form.Definition{Fields: fields}}
}

// takes says whether a form can have the field.
func takes(f form.Field) bool {
	plan := asks(form.Header{Title: "T"}, &f)
	return plan.Normalize() == nil
}

// leaves are the texts of a document's innermost elements, and what is filled in.
const leaves = `(doc) => [doc.title, ...Array.from(doc.querySelectorAll("*"), (e) => e.children.length ? "" : e.textContent),
	...Array.from(doc.querySelectorAll("input:not([name^=_]), textarea"), (e) => e.value)].map((text) => text.trim())`

func (b *tab) leaves() map[string]bool {
	b.t.Helper()
	return among(ask(b, chromedp.Evaluate[[]string]("("+leaves+")(document)")))
}

func among(texts []string) map[string]bool {
	all := map[string]bool{}
	for _, text := range texts {
		all[text] = true
	}
	return all
}

// missing are the words that are not shown as they were written.
func missing(shown map[string]bool, words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return shown[strings.Trim(w, " \ufeff\u2028\u2029")] // as JavaScript trims
	})
}

func wantAsTheyAre(t testing.TB, place string, shown map[string]bool, words ...string) {
	t.Helper()
	if list := missing(shown, words); len(list) > 0 {
		t.Errorf("%s: %d are not shown as they are, such as %q", place, len(list), list[0])
	}
}

// Whatever owners and respondents write, it does nothing in a respondent's browser.
func TestHostileForms(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := openDesk(t, s)
	for name, look := range map[string]func(*testing.T, desk, *tab){
		"heads": hostileHeads, "questions": hostileQuestions, "answers": hostileAnswers, "links": hostileLinks,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openTab(t, s.URL)
			b.armed()
			look(t, all.in(t), b)
		})
	}
}

// hostileHeads has a form for each title, with a description and an ending that say
// the same, and shows many of them at once, each in a frame.
func hostileHeads(t *testing.T, d desk, b *tab) {
	head := func(h form.Header) bool {
		plan := asks(h)
		return plan.Normalize() == nil
	}
	ends := func(e form.Ending) bool {
		plan := asks(form.Header{Title: "T"})
		plan.Definition.Endings = []*form.Ending{&e}
		return plan.Normalize() == nil
	}
	every := taken(t, "titles", func(words string) bool { return head(form.Header{Title: words}) })
	descriptions := among(taken(t, "descriptions", func(words string) bool { return head(form.Header{Title: "T", Description: words}) }))
	thanks := among(taken(t, "endings", func(words string) bool { return ends(form.Ending{Title: words}) }))
	texts := among(taken(t, "texts of endings", func(words string) bool { return ends(form.Ending{Text: words}) }))

	// A page has room for one title, so that every second one has to do, with all
	// that meddle with how pages are drawn.
	var titles []string
	for i, words := range every {
		if i%2 == 0 || slices.Contains(templates, words) {
			titles = append(titles, words)
		}
	}
	paths := map[string]string{}
	for _, words := range titles {
		plan := asks(form.Header{Title: words, Description: "None"}, &form.Field{Kind: "short_text", Label: "Question"})
		ending := form.Ending{Title: "Thanks"}
		if descriptions[words] {
			plan.Header.Description = words
		}
		if thanks[words] {
			ending.Title = words
		}
		if texts[words] {
			ending.Text = words
		}
		plan.Definition.Endings = []*form.Ending{&ending}
		paths[words] = d.publish(plan)
	}
	b.wantStatus(b.open(paths[titles[0]]), 200)
	for list := range slices.Chunk(titles, batch) {
		var addresses []string
		for _, words := range list {
			addresses = append(addresses, paths[words], paths[words]+"/done")
		}
		for i, page := range b.frames(addresses) {
			words, ending := list[i/2], i%2 == 1
			if len(page.Lively) > 0 {
				t.Errorf("%s, titled %q, has %q", addresses[i], words, page.Lively)
			}
			wantAsTheyAre(t, "the title", among([]string{page.Title}), words)
			if !ending || thanks[words] {
				wantAsTheyAre(t, "the heading", among([]string{page.Heading}), words)
			}
			if !ending && descriptions[words] {
				wantAsTheyAre(t, "the description", among([]string{page.Lead}), words)
			}
		}
	}
}

// framed is a page in a frame.
type framed struct {
	Title, Heading, Lead string
	Lively               []string
}

// frames shows pages of the site in frames beside each other.
func (b *tab) frames(addresses []string) []framed {
	b.t.Helper()
	list, err := json.Marshal(addresses)
	if err != nil {
		b.t.Fatal(err)
	}
	pages := ask(b, chromedp.Evaluate[[]framed](fmt.Sprintf(`Promise.all(%s.map((address) => new Promise((done) => {
		const frame = document.createElement("iframe"), lively = %s;
		frame.onload = () => {
			const doc = frame.contentDocument, text = (selector) => doc.querySelector(selector)?.textContent.trim() ?? "";
			done({ Title: doc.title.trim(), Heading: text("h1"), Lead: text(".lead"), Lively: lively(doc) });
		};
		frame.src = address;
		document.body.append(frame);
	}))).finally(() => document.querySelectorAll("iframe").forEach((frame) => frame.remove()))`, list, lively), chromedp.EvalAwaitPromise))
	if len(pages) != len(addresses) {
		b.t.Fatalf("%d of %d pages came", len(pages), len(addresses))
	}
	return pages
}

// hostileQuestions asks with hostile words wherever an owner can write some.
func hostileQuestions(t *testing.T, d desk, b *tab) {
	labels := taken(t, "labels", func(words string) bool { return takes(form.Field{Kind: "short_text", Label: words}) })
	helps := among(taken(t, "help", func(words string) bool { return takes(form.Field{Kind: "short_text", Help: words}) }))
	choices := among(taken(t, "options", func(words string) bool {
		return takes(form.Field{Kind: "dropdown", Options: []form.Option{{Value: words, Label: words}}})
	}))
	texts := among(taken(t, "statements", func(words string) bool { return takes(form.Field{Kind: "statement", Text: words}) }))
	for list := range slices.Chunk(labels, batch) {
		var fields []*form.Field
		var options []form.Option
		var literal []string
		for _, words := range list {
			field := &form.Field{Kind: "short_text", Label: words, Required: true}
			if literal = append(literal, words); helps[words] {
				field.Help = "Help: " + words
				literal = append(literal, field.Help)
			}
			if choices[words] {
				options = append(options, form.Option{Value: words, Label: "Option: " + words})
				literal = append(literal, "Option: "+words)
			}
			if takes(form.Field{Kind: "short_text", Placeholder: words}) {
				field.Placeholder = words
			}
			fields = append(fields, field)
			if texts[words] {
				fields = append(fields, &form.Field{Kind: "statement", Text: words}, &form.Field{Kind: "consent", Label: words, Text: words})
			}
			if slider := (form.Field{Kind: "slider", Low: words, High: words, Unit: words}); takes(slider) {
				fields = append(fields, &slider)
			}
		}
		for _, kind := range []string{"single_choice", "multiple_choice", "dropdown", "ranking", "matrix"} {
			field := &form.Field{Kind: kind, Label: kind, Options: slices.Clone(options)}
			switch kind {
			case "ranking":
				field.Options = field.Options[:min(50, len(options))] // it takes no more
			case "matrix":
				field.Rows, field.Options = field.Options, []form.Option{{Label: "Yes"}, options[0]}
			}
			fields = append(fields, field)
		}
		path := d.publish(asks(form.Header{Title: "Questions"}, fields...))
		b.wantStatus(b.open(path), 200)
		b.wantInert()
		wantAsTheyAre(t, "the page", b.leaves(), literal...)
		b.wantStatus(b.pressAnyhow(), 422)
		b.wantInert()
		wantAsTheyAre(t, "the page with problems", b.leaves(), literal...)
	}
}

// hostileAnswers gives hostile answers, which then stand in fields, questions,
// texts, conditions and the ending.
func hostileAnswers(t *testing.T, d desk, b *tab) {
	answers := taken(t, "answers", func(words string) bool {
		_, err := form.KindOf("short_text").Validate(&form.Field{}, words)
		return err == nil
	})
	for list := range slices.Chunk(answers, batch) {
		query := url.Values{}
		var first, second []*form.Field
		var ending strings.Builder
		for i, words := range list {
			key := fmt.Sprintf("a%02d", i)
			query.Set(key, words)
			first = append(first,
				&form.Field{Key: key, Kind: "short_text", Label: key},
				&form.Field{Key: "c" + key, Kind: "short_text", Label: "Really?", ShowIf: &form.Condition{Field: key, Op: "equals", Value: words}})
			second = append(second,
				&form.Field{Kind: "statement", Label: "{{" + key + "}}", Text: fmt.Sprintf("{{%[1]s}}\n\n**{{%[1]s}}** [{{%[1]s}}](https://example.com/{{%[1]s}}) `{{%[1]s}}`\n\n> {{%[1]s}}", key)},
				&form.Field{Kind: "short_text", Label: "Is it {{" + key + "}}?", Help: "{{" + key + "}}"},
				&form.Field{Kind: "calculated", Label: "Worked out", Expression: key + ` + ""`})
			fmt.Fprintf(&ending, "- {{%[1]s}}\n- [{{%[1]s}}](https://example.com/?{{%[1]s}})\n", key)
		}
		first = append(first, &form.Field{Key: "must", Kind: "short_text", Label: "Must", Required: true}, &form.Field{Kind: "page_break", Label: "{{a00}}", Help: "{{a01}}"})
		second = append(second, &form.Field{Key: "last", Kind: "short_text", Label: "Last", ShowIf: &form.Condition{Field: "a00", Op: "equals", Value: list[0]}})
		plan := asks(form.Header{Title: "Answers"}, slices.Concat(first, second)...)
		plan.Definition.Endings = []*form.Ending{{Title: "{{a00}}", Text: ending.String()}}
		path := d.publish(plan)

		b.wantStatus(b.open(path+"?"+query.Encode()), 200)
		b.wantInert()
		wantAsTheyAre(t, "the page from a link", b.leaves(), list...)
		b.wantStatus(b.pressAnyhow(), 422)
		b.wantInert()
		wantAsTheyAre(t, "the page with a problem", b.leaves(), list...)
		b.fill(`input[name="must"]`, "x")
		b.wantStatus(b.pressAnyhow(), 200)
		if b.count(`input[name="last"]`) != 1 {
			t.Fatalf("this is not the second page:\n%s", b.describe())
		}
		b.wantInert()
		wantAsTheyAre(t, "the second page", b.leaves(), list...)
		b.waitAsked(ask(b, chromedp.Evaluate[[]string](`Array.from(document.querySelectorAll("input:not([type=hidden], [name^=_])"), (e) => e.name)`))...)
		b.wantStatus(b.pressAnyhow(), 200)
		b.wantPath(path + "/done")
		b.wantInert()
		wantAsTheyAre(t, "the ending", b.leaves(), list...)
	}
}

// hostileLinks begins a form of all kinds with links that bring hostile words for
// each of its controls.
func hostileLinks(t *testing.T, d desk, b *tab) {
	path := d.publish(form.FormInput{Header: form.Header{Title: "Links"}, Definition: asking(t, everyKind)})
	b.wantStatus(b.open(path), 200)
	names := ask(b, chromedp.Evaluate[[]string](`[...new Set(Array.from(document.querySelectorAll("form [name]:not([name^=_])"), (e) => e.name))]`))
	if len(names) < 30 {
		t.Fatalf("only %d controls: %q", len(names), names)
	}
	for list := range slices.Chunk(everyHostile(), len(names)) {
		query := url.Values{}
		for i, words := range list {
			query.Set(names[i], words)
			query.Set(words, words)
		}
		b.wantStatus(b.open(path+"?"+query.Encode()), 200)
		b.wantInert()
	}
}
