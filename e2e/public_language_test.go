package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/chromedp/chromedp"

	"formulary/internal/form"
)

// symbolForm is a form with each kind of question and meaningless texts, so that all other
// texts on its pages are ours.
const symbolForm = `{"fields": [
	{"key": "nick", "kind": "short_text", "label": "Ω1", "help": "Ωα", "required": true, "min_length": 3},
	{"key": "story", "kind": "long_text", "label": "Ω2", "max_length": 5}, {"key": "mail", "kind": "email", "label": "Ω3"}, {"key": "site", "kind": "url", "label": "Ω4"}, {"key": "phone", "kind": "phone", "label": "Ω5"},
	{"key": "age", "kind": "number", "label": "Ω6", "unit": "Ω", "min": 18, "max": 99}, {"key": "old", "kind": "number", "label": "Ω7", "max": 3}, {"key": "loud", "kind": "slider", "label": "Ω8", "step": 10},
	{"key": "stars", "kind": "rating", "label": "Ω9"}, {"key": "likely", "kind": "scale", "label": "Ω10", "low": "Ωlow", "high": "Ωhigh"},
	{"key": "shirt", "kind": "yes_no", "label": "Ω11"}, {"key": "rules", "kind": "consent", "label": "Ω12"},
	{"key": "drink", "kind": "single_choice", "label": "Ω13", "options": [{"value": "a", "label": "Ωa"}, {"value": "b", "label": "Ωb"}], "other": true},
	{"key": "bring", "kind": "multiple_choice", "label": "Ω14", "options": [{"value": "a", "label": "Ωa"}, {"value": "b", "label": "Ωb"}, {"value": "c", "label": "Ωc"}], "other": true, "min_picks": 2, "max_picks": 3},
	{"key": "most", "kind": "multiple_choice", "label": "Ω15", "options": [{"value": "a", "label": "Ωa"}, {"value": "b", "label": "Ωb"}], "max_picks": 1},
	{"key": "pair", "kind": "multiple_choice", "label": "Ω31", "options": [{"value": "a", "label": "Ωa"}, {"value": "b", "label": "Ωb"}, {"value": "c", "label": "Ωc"}], "min_picks": 2, "max_picks": 2},
	{"key": "town", "kind": "dropdown", "label": "Ω16", "options": [{"value": "a", "label": "Ωa", "cap": 1}, {"value": "b", "label": "Ωb"}]},
	{"key": "rank", "kind": "ranking", "label": "Ω17", "options": [{"value": "a", "label": "Ωa"}, {"value": "b", "label": "Ωb"}]},
	{"key": "days", "kind": "matrix", "label": "Ω18", "rows": [{"value": "r", "label": "Ωr"}, {"value": "s", "label": "Ωs"}], "options": [{"value": "a", "label": "Ωa"}, {"value": "b", "label": "Ωb"}]},
	{"key": "day", "kind": "date", "label": "Ω19", "earliest": "2026-01-01"}, {"key": "late", "kind": "date", "label": "Ω20", "latest": "2026-01-01"}, {"key": "hour", "kind": "time", "label": "Ω21"}, {"key": "begin", "kind": "datetime", "label": "Ω22"},
	{"key": "name", "kind": "name", "label": "Ω23"}, {"key": "home", "kind": "address", "label": "Ω24"}, {"key": "land", "kind": "country", "label": "Ω25"},
	{"key": "full", "kind": "hidden"}, {"key": "say", "kind": "statement", "label": "Ω26", "text": "Ω *Ωβ* [Ωγ](https://example.com)"},
	{"key": "two", "kind": "page_break", "label": "Ω27 {{shirt}}"}, {"key": "twice", "kind": "calculated", "label": "Ω28", "expression": "age * 2"}, {"key": "last", "kind": "short_text", "label": "Ω29"}],
	"settings": {"ask_again": true}}`

// invalidAnswers are answers that only the server rejects, as a prefilled link.
const invalidAnswers = "?nick=A&story=123456&mail=nobody@nowhere&site=ftp://x&phone=none&age=7&old=9&loud=15&bring=a&most=a&most=b&rank.a=1&rank.b=1&days.r=a&drink=_other&day=2025-01-01&late=2027-01-01"

// visibleTexts is a JavaScript expression for all texts of the page that users read or hear,
// without country names.
const visibleTexts = `(() => {
	const list = [document.title];
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const node = walk.currentNode;
		if (node.parentElement.closest("script, style, noscript, [aria-hidden=true], option[value]:not([value=''])") && !node.parentElement.closest("[name=town]")) continue;
		list.push(node.data);
	}
	for (const e of document.querySelectorAll("[aria-label], [title], [placeholder], [alt]")) {
		for (const name of ["aria-label", "title", "placeholder", "alt"]) list.push(e.getAttribute(name) ?? "");
	}
	return list.map((text) => text.trim()).filter((text) => text !== "");
})()`

// readTranslations returns the translations of a language, by English text: one, or one for
// each plural form.
func readTranslations(t testing.TB, language string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../internal/locale/locales/" + language + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var entries map[string]any
	if err := json.Unmarshal(text, &entries); err != nil {
		t.Fatal(err)
	}
	list := map[string][]string{}
	for english, entry := range entries {
		switch translation := entry.(type) {
		case string:
			list[english] = []string{translation}
		case map[string]any:
			for _, form := range translation {
				list[english] = append(list[english], form.(string))
			}
		}
	}
	return list
}

var verb = regexp.MustCompile(`%[a-z]`)

// phrasePattern matches a text on a page: with any values for its verbs, in upper or
// lower case at the start, but not inside a word.
func phrasePattern(text string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(^|\P{L})`)
	size := 0
	if !strings.HasPrefix(text, "%") { // starts with a value
		var first rune
		first, size = utf8.DecodeRuneInString(text)
		fmt.Fprintf(&b, `[%c%c]`, unicode.ToLower(first), unicode.ToUpper(first))
	}
	for i, part := range verb.Split(text[size:], -1) {
		if i > 0 {
			b.WriteString(`\S+`)
		}
		b.WriteString(regexp.QuoteMeta(part))
	}
	b.WriteString(`($|\P{L})`)
	return regexp.MustCompile(b.String())
}

func containsPhrase(texts []string, text string) bool {
	return slices.ContainsFunc(texts, phrasePattern(text).MatchString)
}

// isPartOfShown reports whether a phrase is in a longer one that is shown, such as a full stop.
func isPartOfShown(texts []string, translations map[string][]string, phrase string) bool {
	for longer := range translations {
		if len(longer) > len(phrase) && strings.Contains(strings.ToLower(longer), strings.ToLower(phrase)) && containsPhrase(texts, longer) {
			return true
		}
	}
	return false
}

// respondentViews are the pages that respondents see.
func respondentViews(path, closed, early string) []view {
	submit := func(status int) func(b *tab) {
		return func(b *tab) {
			b.t.Helper()
			b.wantStatus(b.submitUnchecked(), status)
		}
	}
	return []view{
		{name: "first page", path: path + "?nick=Ωδε&shirt=true", status: 200},
		{name: "last page", prepare: submit(200)},
		{name: "look again", prepare: func(b *tab) {
			b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("[name=_key]").value = ""`))
			submit(422)(b)
		}},
		{name: "ending", prepare: submit(200)},
		{name: "page with errors", path: path + invalidAnswers, status: 200, prepare: submit(422)},
		{name: "closed", path: closed, status: 409},
		{name: "not open yet", path: early, status: 409},
		{name: "embedded", path: path + "?embed=1", status: 200},
	}
}

// TestLanguages: the pages of a form are completely in its language, accessible, and
// fit on every screen.
func TestLanguages(t *testing.T) {
	t.Parallel()
	s := start(t)
	ownerDB := openOwnerDB(t, s)
	texts := map[string][]string{}
	var mu sync.Mutex
	languages := []string{"en", "de", "fr", "es", "pt", "tr", "ar"}
	t.Run("each", func(t *testing.T) {
		for _, language := range languages {
			t.Run(language, func(t *testing.T) {
				t.Parallel()
				ownerDB := ownerDB.withT(t)
				head := form.Header{Title: "Ω " + language, Description: "Ωω", Language: language}
				path := ownerDB.publish(form.FormInput{Header: head, Definition: parseDefinition(t, symbolForm)})
				closed := ownerDB.publish(form.FormInput{Header: head, Definition: parseDefinition(t, symbolForm)})
				ownerDB.close(closed)
				early := ownerDB.publish(form.FormInput{Header: head, Availability: form.Availability{OpensAt: time.Now().Add(time.Hour)}, Definition: parseDefinition(t, symbolForm)})
				// Use up the option limit of the first town.
				if a := s.Call("POST", path, "", `{"answers": {"nick": "Ada", "town": "a"}}`); a.StatusCode != 201 {
					t.Fatal(a.Text)
				}
				b := openTab(t, s.URL)
				var all []string
				for _, v := range respondentViews(path, closed, early) {
					v.show(b)
					all = append(all, run(b, chromedp.Evaluate[[]string](visibleTexts))...)
					want := "ltr"
					if language == "ar" {
						want = "rtl"
					}
					if got := run(b, chromedp.Evaluate[string](`getComputedStyle(document.body).direction + " " + document.documentElement.lang`)); got != want+" "+language {
						t.Errorf("%s: direction and language are %s", v.name, got)
					}
					// Colors and sizes do not depend on the language.
					switch b.wantFits(v.name, 360); language {
					case "en":
						b.wantAccessible(v.name)
					case "ar":
						for _, violation := range b.axeViolationsFor(languageAxeRules) {
							t.Errorf("%s: %s", v.name, violation)
						}
					}
				}
				mu.Lock()
				defer mu.Unlock()
				slices.Sort(all)
				texts[language] = slices.Compact(all)
			})
		}
	})
	for _, language := range languages[1:] {
		translations := readTranslations(t, language)
		var values []string
		for _, forms := range translations {
			values = append(values, forms...)
		}
		found := 0
		for english, forms := range translations {
			if !containsPhrase(texts["en"], english) || isPartOfShown(texts["en"], translations, english) {
				continue
			}
			found++
			isShown := func(form string) bool { return containsPhrase(texts[language], form) }
			if !slices.ContainsFunc(forms, isShown) {
				t.Errorf("%s: no text %q for %q", language, forms, english)
			}
			if containsPhrase(texts[language], english) && !containsPhrase(values, english) {
				t.Errorf("%s: %q is not translated", language, english)
			}
		}
		if found < 35 {
			t.Errorf("only %d of the translated texts are on the English pages", found)
		}
		// Texts without a translation are the same as in English.
		for _, text := range texts["en"] {
			bare := strings.Trim(text, "().… ")
			isOurs := strings.ContainsFunc(bare, unicode.IsLetter) && !strings.Contains(bare, "Ω")
			isUnchanged := slices.Contains(texts[language], text)
			if isOurs && isUnchanged && !containsPhrase(values, bare) {
				t.Errorf("%s: %q is as in English", language, text)
			}
		}
	}
}

// overflowingInForm is a JavaScript expression for the innermost elements that do not fit on
// the screen.
const overflowingInForm = `Array.from(document.querySelectorAll("body *")).filter((e) => {
	const out = (e) => e.getBoundingClientRect().right > innerWidth + 1 || e.getBoundingClientRect().left < -1;
	return out(e) && !e.closest(".visually-hidden, .offscreen") && !Array.from(e.children).some(out);
}).slice(0, 12).map((e) => e.localName + (e.name || e.id ? "#" + (e.name || e.id) : "") + (e.className ? "." + e.className : "") + " in " + (e.closest(".question")?.querySelector("[name]")?.name ?? "?")).join(", ")`

// wantFits fails the test if the page scrolls sideways on a screen of that width.
func (b *tab) wantFits(name string, width int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, 800))
	if pageWidth := run(b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); pageWidth > width {
		b.t.Errorf("%s is %d pixels wide on a screen of %d; too wide are: %s", name, pageWidth, width, run(b, chromedp.Evaluate[string](overflowingInForm)))
	}
}

// wantAccessible checks the page on a phone in light mode, and on a desktop in dark mode.
func (b *tab) wantAccessible(name string) {
	b.t.Helper()
	for _, look := range []struct {
		width         int64
		scheme, rules string
	}{{360, "light", allAxeRules}, {1280, "dark", visualAxeRules}} {
		b.wantFits(name, look.width)
		b.setColorScheme(look.scheme)
		for _, violation := range b.axeViolationsFor(look.rules) {
			b.t.Errorf("%s, %d pixels, %s: %s", name, look.width, look.scheme, violation)
		}
	}
}

// TestLongWords: very long words do not make pages wider than a phone.
func TestLongWords(t *testing.T) {
	t.Parallel()
	s := start(t)
	ownerDB := openOwnerDB(t, s)
	word := strings.Repeat("Wanderweg", 20)
	short := strings.Repeat("Weg", 13)
	picture := addPicture(t, s)
	options := fmt.Sprintf(`"options": [{"value": "a", "label": "%[1]s"}, {"value": "b", "label": "%[1]s %[1]s"}]`, word)
	var fields []string
	for _, kind := range form.Kinds() {
		field := fmt.Sprintf(`"key": %q, "kind": %[1]q`, kind.Name())
		for name, value := range map[string]string{
			"placeholder": word, "unit": short, "low": short, "high": short, "expression": `"` + word + `"`,
			"text": word + " **" + word + "** `" + word + "` https://example.com/" + word + "\n\n> " + word + "\n\n    " + word + "\n\n| " + word + " | b |\n|---|---|\n| c | " + word + " |\n\n- " + word,
		} {
			if slices.Contains(kind.Properties(), name) {
				field += fmt.Sprintf(`, %q: %q`, name, value)
			}
		}
		for name, property := range map[string]string{"options": options, "rows": strings.Replace(options, "options", "rows", 1), "other": `"other": true`} {
			if name == "options" && kind.Traits().Pictures {
				property = strings.ReplaceAll(property, `"label"`, `"image": "`+picture+`", "alt": "`+word+`", "label"`)
			}
			if slices.Contains(kind.Properties(), name) {
				field += ", " + property
			}
		}
		if kind.Name() != "hidden" {
			field += fmt.Sprintf(`, "label": "%[1]s %[1]s", "help": "%[1]s"`, word)
		}
		if kind.Schema(&form.Field{}) != nil && kind.Name() != "calculated" && kind.Name() != "hidden" {
			field += `, "required": true`
		}
		fields = append(fields, "{"+field+"}")
	}
	ending := fmt.Sprintf(`"endings": [{"title": %[1]q, "text": %[1]q}], "settings": {"submit_label": %[2]q, "ask_again": true}}`, word, short)
	all := `{"fields": [` + strings.Join(fields, ",\n") + `], ` + ending
	twoPages := fmt.Sprintf(`{"fields": [{"kind": "statement", "text": %[1]q}, {"kind": "page_break", "label": %[1]q, "help": %[1]q}, {"key": "last", "kind": "short_text", "label": %[1]q}], `, word) + ending
	for _, language := range []string{"de", "ar"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			ownerDB := ownerDB.withT(t)
			head := form.Header{Title: word, Description: word, Language: language}
			path := ownerDB.publish(form.FormInput{Header: head, Definition: parseDefinition(t, all)})
			pages := ownerDB.publish(form.FormInput{Header: head, Definition: parseDefinition(t, twoPages)})
			closed := ownerDB.publish(form.FormInput{Header: head, Definition: parseDefinition(t, all)})
			ownerDB.close(closed)
			b := openTab(t, s.URL)
			for _, v := range []view{
				{name: "first page", path: path, status: 200},
				{name: "embedded", path: path + "?embed=1", status: 200},
				{name: "page with errors", path: path, status: 200, prepare: func(b *tab) { b.wantStatus(b.submitUnchecked(), 422) }},
				{name: "last page", path: pages, status: 200, prepare: func(b *tab) { b.wantStatus(b.submitUnchecked(), 200) }},
				{name: "ending", path: path + "/done", status: 200},
				{name: "closed", path: closed, status: 409},
			} {
				v.show(b)
				b.wantFits(v.name, 360)
				b.wantFits(v.name, 1280)
			}
		})
	}
}
