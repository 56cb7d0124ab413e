package web

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/form"
)

// The public page speaks these. English needs no words, but names of countries.
var spoken = []string{"en", "de", "fr", "es", "pt", "tr", "ar"}

// English texts stand where they are said, as strings of Go, of a template or of
// a script.
const quoted = `("(?:[^"\\]|\\.)*")`

// source is where texts are said, and how: the pattern's group is the text.
type source struct{ files, pattern string }

var saidInPublic = []source{
	{"templates/public.html", `\.Translate ` + quoted},
	{"templates/ending.html", `\.Translate ` + quoted},
	{"templates/closed.html", `\.Translate ` + quoted},
	{"templates/kinds/*.html", `\.Translate ` + quoted},
	{"public*.go", `words\.translate\(` + quoted},
	{"../form/*.go", `\banswerError\(` + quoted},
}

var saidInConsole = []source{
	{"templates/*.html", `\.(?:T|TRich) ` + quoted},
	{"*.go", `web\.translateFor\(v, ` + quoted},
	{"*.go", `\b[lp]\.T\(` + quoted},
	{"*.go", `\b(?:title|Message): ` + quoted},
	{"*.go", `\.(?:notice|title|Heading)(?:, p\.RequestID)? = ` + quoted},
	{"*.go", `\bproblems\{"[^"]*": ` + quoted},
	{"*.go", `\blist\["\w+"\] = ` + quoted},
	{"*.go", `\bfault\.New\(fault\.\w+, ` + quoted},
	{"*.go", `\bfault\.InvalidField\([^,]+, ` + quoted},
	{"account.go", `wrongPassword = ` + quoted},
	{"applications_test_flow.go", `t\.step\(` + quoted},
	{"reference_errors.go", `\{fault\.\w+, ` + quoted},
	{"static/builder*.js", `\bsay\(` + quoted},
	{"static/builder*.js", `\blabel: ` + quoted},
	{"../chart/*.go", `\b(?:word|count)\(` + quoted},
	{"../form/describe.go", `(?:word\(|join\(c\.\w+, |": )` + quoted},
	{"../form/summary.go", `Label: ` + quoted},

	// What rules say about what people send.
	{"../form/*.go", `\binvalid\((?:[\w.+"]+, )?("(?:[^"\\]|\\.)* (?:[^"\\]|\\.)*")`},
	{"../form/*.go", `\bfault\.InvalidField\([^,]+, ` + quoted},
	{"../form/*.go", `\bMessage: (?:fmt\.Sprintf\()?` + quoted},
	{"../form/expression.go", `(?:errors\.New|fmt\.Errorf)\(` + quoted},
	{"../account/application.go", `\binvalid\("\w+", ` + quoted},
	{"../account/[pru]*.go", `(?:errors\.New|fmt\.Errorf)\(("(?:an?|the|this|http) (?:[^"\\]|\\.)*")`},
	{"../store/*.go", `\bfault\.New\(fault\.(?:BadRequest|NotFoundInAccount|Forbidden|Conflict|FormNotOpen), ` + quoted},
	{"../store/*.go", `\bfault\.InvalidField\([^,]+, ` + quoted},
	{"../store/*.go", `\bMessage: ` + quoted},
	{"../oauth/authorize.go", `(?:\berrorPage\(|fault\.New\(fault\.Forbidden, )` + quoted},
	{"../fault/fault.go", `("[A-Z][^"]*\.")`},
}

var (
	formatVerb = regexp.MustCompile(`%[^a-zA-Z%]*[a-zA-Z%]`)
	scriptSlot = regexp.MustCompile(`\{\w+\}`)
)

// said collects texts, with the file that says each.
func said(t *testing.T, sources []source) map[string]string {
	t.Helper()
	texts := map[string]string{"Yes": "piping.go", "No": "piping.go", "Other": "summary.go", ".": "piping.go", form.DisplayDate: "piping.go", form.DisplayDateTime: "piping.go"}
	for _, from := range sources {
		files, err := filepath.Glob(from.files)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no such files (%v)", from.files, err)
		}
		found, pattern := false, regexp.MustCompile(from.pattern)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range pattern.FindAllStringSubmatch(string(content), -1) {
				text, err := strconv.Unquote(m[1])
				if err != nil {
					t.Fatalf("%s: %s: %v", file, m[1], err)
				}
				if text != "" && text != "%s" {
					texts[text] = file
				}
				found = true
			}
		}
		if !found && strings.HasSuffix(from.files, ".go") {
			t.Errorf("%s: nothing is said as %s any more", from.files, from.pattern)
		}
	}
	return texts
}

// consoleTexts are all that the workspace can say.
func consoleTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := said(t, saidInConsole)
	add := func(from string, list ...string) {
		for _, text := range list {
			if text != "" {
				texts[text] = from
			}
		}
	}
	for _, notices := range []map[string]string{accountNotices, applicationNotices, homeNotices, shareNotices} {
		for _, text := range notices {
			add("the notices", text)
		}
	}
	for _, scope := range account.ScopeList {
		add("scope.go", scope.Description)
	}
	for _, kind := range form.Kinds {
		about := kind.About()
		add("kind "+kind.Name(), about.Title, about.Description, about.Group)
	}
	for _, p := range slices.Concat(form.CommonProperties, form.KindProperties) {
		add("property.go", p.Label, p.Help)
	}
	for month := time.January; month <= time.December; month++ {
		add("speech.go", month.String())
	}
	add("form.go", string(form.Draft), string(form.Open), string(form.Closed))
	return texts
}

func TestWords(t *testing.T) {
	all, err := loadCatalogs()
	if err != nil {
		t.Fatal(err)
	}
	public, console := said(t, saidInPublic), consoleTexts(t)
	if len(public) < 40 || len(console) < 400 {
		t.Fatalf("only %d and %d texts found: are they said in another way now?", len(public), len(console))
	}
	if len(all.countries["en"]()) < 200 {
		t.Fatalf("English has only %d countries", len(all.countries["en"]()))
	}
	for _, language := range spoken {
		t.Run(language, func(t *testing.T) {
			codes := func(list []hiddenInput) []string {
				var codes []string
				for _, country := range list {
					if country.Value != "" {
						codes = append(codes, country.Name)
					}
				}
				slices.Sort(codes)
				return codes
			}
			if own, english := codes(all.countries[language]()), codes(all.countries["en"]()); !slices.Equal(own, english) {
				t.Errorf("these countries have names: %v\nin English: %v", own, english)
			}
			texts := map[string]string{}
			for text, file := range public {
				texts[text] = file
			}
			if consoleLanguages[language] {
				for text, file := range console {
					texts[text] = file
				}
			}
			checkWords(t, all.words[language], texts, language == "en")
		})
	}
	for language := range all.words {
		if !slices.Contains(spoken, language) {
			t.Errorf("%s.json is a language that nobody checks", language)
		}
	}
	for language := range consoleLanguages {
		if !slices.Contains(spoken, language) {
			t.Errorf("the workspace speaks %s, which nobody checks", language)
		}
	}
}

// checkWords says what a language lacks, has without need or says with other
// values. English has words only for what carries a remark.
func checkWords(t *testing.T, list catalog, texts map[string]string, english bool) {
	t.Helper()
	for text, file := range texts {
		own := list[text]
		if english && !strings.Contains(text, "|") {
			if own != "" {
				t.Errorf("%q is English already", text)
			}
			continue
		}
		if own == "" {
			t.Errorf("%s says %q, for which there are no words", file, text)
			continue
		}
		if want, got := formatVerb.FindAllString(text, -1), formatVerb.FindAllString(own, -1); !slices.Equal(got, want) {
			t.Errorf("%q has %v, but %q has %v", own, got, text, want)
		}
		want, got := scriptSlot.FindAllString(text, -1), scriptSlot.FindAllString(own, -1)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q has %v, but %q has %v", own, got, text, want)
		}
	}
	for text := range list {
		if texts[text] == "" {
			t.Errorf("nothing says %q any more", text)
		}
	}
}

// Pages that say a text without the means to translate it.
func TestLiteralTitles(t *testing.T) {
	literal := regexp.MustCompile(`(?:\bTitle: |\.Title = |\.Notice = )"(?:[^"\\]|\\.)*"`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range literal.FindAllString(string(content), -1) {
			if !strings.HasSuffix(file, "_test.go") && found != `Title: "API"` {
				t.Errorf("%s: %s is not put into words; there are title and notice for that", file, found)
			}
		}
	}
}

func TestRetell(t *testing.T) {
	w := catalog{
		"at most %s": "höchstens %s", "at most %d characters": "höchstens %d Zeichen", "%q is taken": "%q ist vergeben",
		"the scheme %s is not allowed; use https": "das Schema %s geht nicht; nehmen Sie https", "no": "nein",
		"not before %s": "frühestens %s", ".": ",", "2 January 2006": "02.01.2006", "2 January 2006, 15:04": "02.01.2006, 15:04",
	}
	for message, want := range map[string]string{
		"no":                           "nein",
		"at most 60 characters":        "höchstens 60 Zeichen",
		"at most 1.5":                  "höchstens 1,5",
		"not before 3 May 2026":        "frühestens 03.05.2026",
		"not before 3 May 2026, 07:30": "frühestens 03.05.2026, 07:30",
		"not before 07:30":             "frühestens 07:30",
		`"summer" is taken`:            `"summer" ist vergeben`,
		`"100%" is taken`:              `"100%" ist vergeben`,
		"something else":               "something else",
		"something else (at most)":     "something else (at most)",
		"the scheme ftp is not allowed; use https (ftp://a)": "das Schema ftp geht nicht; nehmen Sie https (ftp://a)",
	} {
		if got := w.translateMessage(message); got != want {
			t.Errorf("%q is told as %q, want %q", message, got, want)
		}
		if got := catalog(nil).translateMessage(message); got != message {
			t.Errorf("without words, %q is told as %q", message, got)
		}
	}
}
