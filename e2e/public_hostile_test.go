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
	// minAccepted is the number of hostile texts that each place must accept; a few are
	// rejected.
	minAccepted = 150
	// batchSize is the number of texts that are checked at once.
	batchSize = 75
)

// acceptedTexts returns the hostile texts that a place accepts.
func acceptedTexts(t testing.TB, place string, isAccepted func(text string) bool) []string {
	t.Helper()
	list := slices.DeleteFunc(allHostile(), func(text string) bool { return !isAccepted(text) })
	t.Logf("%s: %d of %d are accepted", place, len(list), len(allHostile()))
	if len(list) < minAccepted {
		t.Errorf("%s: only %d are accepted", place, len(list))
	}
	return list
}

// formInput returns a form that any site may embed.
func formInput(head form.Header, fields ...*form.Field) form.FormInput {
	return form.FormInput{Header: head, Availability: form.Availability{Sites: form.AnySite}, Definition: &form.Definition{Fields: fields}}
}

// isValidField reports whether a form can have the field.
func isValidField(f form.Field) bool {
	in := formInput(form.Header{Title: "T"}, &f)
	return in.Normalize() == nil
}

// leafTexts is a JavaScript function that returns the texts of a document's leaf
// elements and inputs.
const leafTexts = `(doc) => [doc.title, ...Array.from(doc.querySelectorAll("*"), (e) => e.children.length ? "" : e.textContent),
	...Array.from(doc.querySelectorAll("input:not([name^=_]), textarea"), (e) => e.value)].map((text) => text.trim())`

func (b *tab) leafTexts() map[string]bool {
	b.t.Helper()
	return toSet(run(b, chromedp.Evaluate[[]string]("("+leafTexts+")(document)")))
}

func toSet(texts []string) map[string]bool {
	all := map[string]bool{}
	for _, text := range texts {
		all[text] = true
	}
	return all
}

// missingTexts returns the texts that are not shown unchanged.
func missingTexts(shown map[string]bool, texts []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(w string) bool {
		return shown[strings.Trim(w, " \ufeff\u2028\u2029")] // as trim() in JavaScript does
	})
}

func wantVerbatim(t testing.TB, place string, shown map[string]bool, texts ...string) {
	t.Helper()
	if list := missingTexts(shown, texts); len(list) > 0 {
		t.Errorf("%s: %d are not shown as they are, such as %q", place, len(list), list[0])
	}
}

// TestHostileForms: texts of owners and respondents never become active in a
// respondent's browser.
func TestHostileForms(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := openOwnerDB(t, s)
	for name, check := range map[string]func(*testing.T, ownerDB, *tab){
		"heads": hostileHeaders, "questions": hostileQuestions, "answers": hostileAnswers, "links": hostileLinks,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := openTab(t, s.URL)
			b.detectScripts()
			check(t, all.withT(t), b)
		})
	}
}

// hostileHeaders publishes a form per title, with the same text as description and
// ending, and loads many of them at once in frames.
func hostileHeaders(t *testing.T, d ownerDB, b *tab) {
	isValidHead := func(h form.Header) bool {
		in := formInput(h)
		return in.Normalize() == nil
	}
	isValidEnding := func(e form.Ending) bool {
		in := formInput(form.Header{Title: "T"})
		in.Definition.Endings = []*form.Ending{&e}
		return in.Normalize() == nil
	}
	accepted := acceptedTexts(t, "titles", func(text string) bool { return isValidHead(form.Header{Title: text}) })
	descriptions := toSet(acceptedTexts(t, "descriptions", func(text string) bool { return isValidHead(form.Header{Title: "T", Description: text}) }))
	thanks := toSet(acceptedTexts(t, "endings", func(text string) bool { return isValidEnding(form.Ending{Title: text}) }))
	texts := toSet(acceptedTexts(t, "texts of endings", func(text string) bool { return isValidEnding(form.Ending{Text: text}) }))

	// Each title needs a page of its own, so only every sixth one is used, and all that look like
	// templates. Lists and other tests show the rest.
	var titles []string
	for i, text := range accepted {
		if i%6 == 0 || slices.Contains(templates, text) {
			titles = append(titles, text)
		}
	}
	paths := map[string]string{}
	for _, text := range titles {
		in := formInput(form.Header{Title: text, Description: "None"}, &form.Field{Kind: "short_text", Label: "Question"})
		ending := form.Ending{Title: "Thanks"}
		if descriptions[text] {
			in.Header.Description = text
		}
		if thanks[text] {
			ending.Title = text
		}
		if texts[text] {
			ending.Text = text
		}
		in.Definition.Endings = []*form.Ending{&ending}
		paths[text] = d.publish(in)
	}
	b.wantStatus(b.open(paths[titles[0]]), 200)
	for list := range slices.Chunk(titles, batchSize) {
		var addresses []string
		for _, text := range list {
			addresses = append(addresses, paths[text], paths[text]+"/done")
		}
		for i, page := range b.frames(addresses) {
			text, ending := list[i/2], i%2 == 1
			if len(page.Active) > 0 {
				t.Errorf("%s, titled %q, has %q", addresses[i], text, page.Active)
			}
			wantVerbatim(t, "the title", toSet([]string{page.Title}), text)
			if !ending || thanks[text] {
				wantVerbatim(t, "the heading", toSet([]string{page.Heading}), text)
			}
			if !ending && descriptions[text] {
				wantVerbatim(t, "the description", toSet([]string{page.Lead}), text)
			}
		}
	}
}

// framed is the content of a page in a frame.
type framed struct {
	Title, Heading, Lead string
	Active               []string
}

// frames loads pages of the site in frames.
func (b *tab) frames(addresses []string) []framed {
	b.t.Helper()
	list, err := json.Marshal(addresses)
	if err != nil {
		b.t.Fatal(err)
	}
	pages := run(b, chromedp.Evaluate[[]framed](fmt.Sprintf(`Promise.all(%s.map((url) => new Promise((resolve) => {
		const frame = document.createElement("iframe"), findActive = %s;
		frame.onload = () => {
			const doc = frame.contentDocument, text = (selector) => doc.querySelector(selector)?.textContent.trim() ?? "";
			resolve({ Title: doc.title.trim(), Heading: text("h1"), Lead: text(".lead"), Active: findActive(doc) });
		};
		frame.src = url;
		document.body.append(frame);
	}))).finally(() => document.querySelectorAll("iframe").forEach((frame) => frame.remove()))`, list, findActive), chromedp.EvalAwaitPromise))
	if len(pages) != len(addresses) {
		b.t.Fatalf("%d of %d pages were loaded", len(pages), len(addresses))
	}
	return pages
}

// hostileQuestions uses hostile texts wherever an owner can write.
func hostileQuestions(t *testing.T, d ownerDB, b *tab) {
	labels := acceptedTexts(t, "labels", func(text string) bool { return isValidField(form.Field{Kind: "short_text", Label: text}) })
	helps := toSet(acceptedTexts(t, "help", func(text string) bool { return isValidField(form.Field{Kind: "short_text", Help: text}) }))
	choices := toSet(acceptedTexts(t, "options", func(text string) bool {
		return isValidField(form.Field{Kind: "dropdown", Options: []form.Option{{Value: text, Label: text}}})
	}))
	texts := toSet(acceptedTexts(t, "statements", func(text string) bool { return isValidField(form.Field{Kind: "statement", Text: text}) }))
	for list := range slices.Chunk(labels, batchSize) {
		var fields []*form.Field
		var options []form.Option
		var literal []string
		for _, text := range list {
			field := &form.Field{Kind: "short_text", Label: text, Required: true}
			if literal = append(literal, text); helps[text] {
				field.Help = "Help: " + text
				literal = append(literal, field.Help)
			}
			if choices[text] {
				options = append(options, form.Option{Value: text, Label: "Option: " + text})
				literal = append(literal, "Option: "+text)
			}
			if isValidField(form.Field{Kind: "short_text", Placeholder: text}) {
				field.Placeholder = text
			}
			fields = append(fields, field)
			if texts[text] {
				fields = append(fields, &form.Field{Kind: "statement", Text: text}, &form.Field{Kind: "consent", Label: text, Text: text})
			}
			if slider := (form.Field{Kind: "slider", Low: text, High: text, Unit: text}); isValidField(slider) {
				fields = append(fields, &slider)
			}
		}
		for _, kind := range []string{"single_choice", "multiple_choice", "dropdown", "ranking", "matrix"} {
			field := &form.Field{Kind: kind, Label: kind, Options: slices.Clone(options)}
			switch kind {
			case "ranking":
				field.Options = field.Options[:min(50, len(options))] // the limit of rankings
			case "matrix":
				field.Rows, field.Options = field.Options, []form.Option{{Label: "Yes"}, options[0]}
			}
			fields = append(fields, field)
		}
		path := d.publish(formInput(form.Header{Title: "Questions"}, fields...))
		b.wantStatus(b.open(path), 200)
		b.wantInert()
		wantVerbatim(t, "the page", b.leafTexts(), literal...)
		b.wantStatus(b.submitUnchecked(), 422)
		b.wantInert()
		wantVerbatim(t, "the page with problems", b.leafTexts(), literal...)
	}
}

// hostileAnswers uses hostile answers, which then appear in inputs, questions, texts,
// conditions and the ending.
func hostileAnswers(t *testing.T, d ownerDB, b *tab) {
	answers := acceptedTexts(t, "answers", func(text string) bool {
		_, err := form.KindOf("short_text").Validate(&form.Field{}, text)
		return err == nil
	})
	for list := range slices.Chunk(answers, batchSize) {
		query := url.Values{}
		var first, second []*form.Field
		var ending strings.Builder
		for i, text := range list {
			key := fmt.Sprintf("a%02d", i)
			query.Set(key, text)
			first = append(first,
				&form.Field{Key: key, Kind: "short_text", Label: key},
				&form.Field{Key: "c" + key, Kind: "short_text", Label: "Really?", ShowIf: &form.Condition{Field: key, Op: "equals", Value: text}})
			second = append(second,
				&form.Field{Kind: "statement", Label: "{{" + key + "}}", Text: fmt.Sprintf("{{%[1]s}}\n\n**{{%[1]s}}** [{{%[1]s}}](https://example.com/{{%[1]s}}) `{{%[1]s}}`\n\n> {{%[1]s}}", key)},
				&form.Field{Kind: "short_text", Label: "Is it {{" + key + "}}?", Help: "{{" + key + "}}"},
				&form.Field{Kind: "calculated", Label: "Worked out", Expression: key + ` + ""`})
			fmt.Fprintf(&ending, "- {{%[1]s}}\n- [{{%[1]s}}](https://example.com/?{{%[1]s}})\n", key)
		}
		first = append(first, &form.Field{Key: "must", Kind: "short_text", Label: "Must", Required: true}, &form.Field{Kind: "page_break", Label: "{{a00}}", Help: "{{a01}}"})
		second = append(second, &form.Field{Key: "last", Kind: "short_text", Label: "Last", ShowIf: &form.Condition{Field: "a00", Op: "equals", Value: list[0]}})
		in := formInput(form.Header{Title: "Answers"}, slices.Concat(first, second)...)
		in.Definition.Endings = []*form.Ending{{Title: "{{a00}}", Text: ending.String()}}
		path := d.publish(in)

		b.wantStatus(b.open(path+"?"+query.Encode()), 200)
		b.wantInert()
		wantVerbatim(t, "the page from a link", b.leafTexts(), list...)
		b.wantStatus(b.submitUnchecked(), 422)
		b.wantInert()
		wantVerbatim(t, "the page with a problem", b.leafTexts(), list...)
		b.fill(`input[name="must"]`, "x")
		b.wantStatus(b.submitUnchecked(), 200)
		if b.count(`input[name="last"]`) != 1 {
			t.Fatalf("this is not the second page:\n%s", b.describe())
		}
		b.wantInert()
		wantVerbatim(t, "the second page", b.leafTexts(), list...)
		b.waitForQuestions(run(b, chromedp.Evaluate[[]string](`Array.from(document.querySelectorAll("input:not([type=hidden], [name^=_])"), (e) => e.name)`))...)
		b.wantStatus(b.submitUnchecked(), 200)
		b.wantPath(path + "/done")
		b.wantInert()
		wantVerbatim(t, "the ending", b.leafTexts(), list...)
	}
}

// hostileLinks opens a form of all kinds through prefilled links with hostile values.
func hostileLinks(t *testing.T, d ownerDB, b *tab) {
	path := d.publish(form.FormInput{Header: form.Header{Title: "Links"}, Definition: parseDefinition(t, everyKind)})
	b.wantStatus(b.open(path), 200)
	names := run(b, chromedp.Evaluate[[]string](`[...new Set(Array.from(document.querySelectorAll("form [name]:not([name^=_])"), (e) => e.name))]`))
	if len(names) < 30 {
		t.Fatalf("only %d controls: %q", len(names), names)
	}
	for list := range slices.Chunk(allHostile(), len(names)) {
		query := url.Values{}
		for i, text := range list {
			query.Set(names[i], text)
			query.Set(text, text)
		}
		b.wantStatus(b.open(path+"?"+query.Encode()), 200)
		b.wantInert()
	}
}
