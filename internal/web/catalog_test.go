package web

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
)

// The public page speaks these. English needs no words, but names of countries.
var spoken = []string{"en", "de", "fr", "es", "pt", "tr", "ar"}

var (
	formatVerb = regexp.MustCompile(`%[^a-zA-Z%]*[a-zA-Z%]`)
	scriptSlot = regexp.MustCompile(`\{\w+\}`)
)

// shared are texts on public pages and in the workspace that no literal argument shows.
var shared = []string{"Yes", "No", "Other", ".", form.DisplayDate, form.DisplayDateTime}

// publicTexts are all texts of the form that respondents fill in.
func publicTexts(t *testing.T) texts {
	t.Helper()
	list := texts{}
	list.add("form", shared...)
	for _, files := range []string{"templates/public.html", "templates/ending.html", "templates/closed.html", "templates/kinds/*.html"} {
		list.addTemplates(t, files, "Translate")
	}
	list.addGo(t, "public*.go", goTexts{calls: map[string]int{"translate": 0}})
	list.addGo(t, "../form/*.go", goTexts{calls: map[string]int{"answerError": 0}})
	return list
}

// consoleTexts are all texts of the workspace.
func consoleTexts(t *testing.T) texts {
	t.Helper()
	list := texts{}
	list.add("form", shared...)
	list.addTemplates(t, "templates/*.html", "T", "TRich")
	list.addScripts(t, "static/builder*.js")
	list.addScripts(t, "static/vdom.js")
	list.addGo(t, "*.go", goTexts{
		calls:  map[string]int{"T": 0, "translateFor": 1, "step": 0, "fault.New": 1, "fault.InvalidField": 1, "fault.Messagef": 0},
		fields: []string{"title", "notice", "Heading"},
		tables: []string{"accountNotices", "applicationNotices", "homeNotices", "shareNotices", "errorMeanings"},
	})
	list.addGo(t, "../chart/*.go", goTexts{calls: map[string]int{"translate": 0, "formatCount": 0}})
	list.addGo(t, "../form/describe.go", goTexts{calls: map[string]int{"translate": 0, "join": 1}, tables: []string{"operatorPhrases"}})
	list.addGo(t, "../form/kind_*.go", goTexts{fields: []string{"Label"}})

	// What rules say about what people send.
	rules := map[string]int{"invalid": 1, "problem": 0, "fault.InvalidField": 1, "fault.NewDetail": 1, "fault.Messagef": 0, "fault.New": 1}
	list.addGo(t, "../form/*.go", goTexts{calls: rules})
	list.addGo(t, "../account/*.go", goTexts{calls: rules})
	list.addGo(t, "../store/*.go", goTexts{calls: rules})
	list.addGo(t, "../db/*.go", goTexts{calls: rules})
	list.addGo(t, "../respond/*.go", goTexts{calls: rules})
	list.addGo(t, "../oauth/authorize.go", goTexts{calls: map[string]int{"errorPage": 0, "fault.New": 1}})
	list.addGo(t, "../fault/*.go", goTexts{calls: map[string]int{"New": 1}})

	for _, scope := range account.ScopeList {
		list.add("scope.go", scope.Description)
	}
	for _, kind := range form.Kinds() {
		about := kind.About()
		list.add("kind "+kind.Name(), about.Title, about.Description, about.Group)
	}
	for _, p := range slices.Concat(form.CommonProperties, form.KindProperties) {
		list.add("property.go", p.Label, p.Help)
	}
	for month := time.January; month <= time.December; month++ {
		list.add("format.go", month.String())
	}
	for _, text := range statusWords {
		list.add("format.go", text)
	}
	return list
}

func TestWords(t *testing.T) {
	all, err := loadCatalogs()
	if err != nil {
		t.Fatal(err)
	}
	public, console := publicTexts(t), consoleTexts(t)
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
			texts := texts{}
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
func checkWords(t *testing.T, list catalog, texts texts, english bool) {
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

func TestMessages(t *testing.T) {
	w := catalog{
		"at most %s": "höchstens %s", "at most %d characters": "höchstens %d Zeichen", "%q is taken": "%q ist vergeben", "The form is not %s.": "Das Formular ist nicht %s.",
		"not before %s": "frühestens %s", ".": ",", "2 January 2006": "02.01.2006", "open": "geöffnet", "100%": "hundert Prozent",
	}
	day := form.Moment{Text: "2026-05-03", Layout: time.DateOnly, DisplayLayout: form.DisplayDate}
	for _, c := range []struct {
		message       fault.Term
		english, want string
	}{
		{fault.Messagef("100%"), "100%", "hundert Prozent"},
		{fault.Messagef("at most %d characters", 60), "at most 60 characters", "höchstens 60 Zeichen"},
		{fault.Messagef("at most %s", form.Decimal(1.5)), "at most 1.5", "höchstens 1,5"},
		{fault.Messagef("not before %s", day), "not before 3 May 2026", "frühestens 03.05.2026"},
		{fault.Messagef("%q is taken", "100%"), `"100%" is taken`, `"100%" ist vergeben`},
		{fault.Messagef("something else"), "something else", "something else"},
		{fault.New(fault.FormNotOpen, "The form is not %s.", form.Open), "The form is not open.", "Das Formular ist nicht geöffnet."},
		{fault.InvalidField("slug", "%q is taken", "a"), `slug: "a" is taken`, `slug: "a" ist vergeben`},
		{fault.NewDetail("uri", "%s (%s)", fault.Messagef("at most %d characters", 9), "x://y"), "at most 9 characters (x://y)", "höchstens 9 Zeichen (x://y)"},
		{fault.Detail{Field: "a", Message: "without a format"}, "without a format", "without a format"},
	} {
		if got := c.message.Localize(w.word); got != c.want {
			t.Errorf("%q is %q, want %q", c.english, got, c.want)
		}
		if got := c.message.Localize(catalog(nil).word); got != c.english {
			t.Errorf("in English it is %q, want %q", got, c.english)
		}
	}
}
