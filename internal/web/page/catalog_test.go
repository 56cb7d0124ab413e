package page

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/delivery"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/webhook"
)

// languages are those of public pages. English needs no translations, only names of
// countries.
var languages = []string{"en", "de", "fr", "es", "pt", "tr", "ar"}

var (
	formatVerb = regexp.MustCompile(`%[^a-zA-Z%]*[a-zA-Z%]`)
	scriptSlot = regexp.MustCompile(`\{\w+\}`)
)

// shared are texts of public pages and of the workspace that are not literal arguments.
var shared = []string{"Yes", "No", "Other", ".", form.DisplayDate, form.DisplayDateTime}

// publicTexts are all texts of the form that respondents fill in.
func publicTexts(t *testing.T) texts {
	t.Helper()
	list := texts{}
	list.add("form", shared...)
	for _, files := range []string{"../public/templates/*.html", "../public/templates/kinds/*.html"} {
		list.addTemplates(t, files, "Translate")
	}
	list.addGo(t, "../public/*.go", goTexts{calls: map[string]int{"Translate": 0}})
	list.addGo(t, "../../form/*.go", goTexts{calls: map[string]int{"answerError": 0}})
	return list
}

// workspaceTexts are all texts of the workspace.
func workspaceTexts(t *testing.T) texts {
	t.Helper()
	list := texts{}
	list.add("form", shared...)
	list.addScripts(t, "static/builder*.js")
	list.addScripts(t, "static/vdom.js")
	tables := map[string][]string{
		"identity": {"accountNotices", "applicationNotices"}, "workspace": {"connectNotices", "deliveryFilters", "eventDescriptions", "homeNotices", "responsesNotices", "shareNotices", "webhookNotices"}, "reference": {"errorMeanings"},
	}
	for _, folder := range webPackages(t) {
		if files := "../" + folder + "/templates/*.html"; folder != "." {
			list.addTemplates(t, files, "T", "TRich")
		}
		list.addGo(t, "../"+folder+"/*.go", goTexts{
			calls:  map[string]int{"T": 0, "TranslateFor": 1, "step": 0, "fault.New": 1, "fault.InvalidField": 1, "fault.Messagef": 0},
			fields: []string{"TitleKey", "NoticeKey", "Heading"},
			tables: tables[folder],
		})
	}
	list.addGo(t, "../../chart/*.go", goTexts{calls: map[string]int{"translate": 0, "formatCount": 0}})
	list.addGo(t, "../../form/describe.go", goTexts{calls: map[string]int{"translate": 0, "join": 1}, tables: []string{"operatorPhrases"}})
	list.addGo(t, "../../form/kind_*.go", goTexts{fields: []string{"Label"}})

	// Messages about invalid input.
	rules := map[string]int{"invalid": 1, "problem": 0, "fault.InvalidField": 1, "fault.NewDetail": 1, "fault.Messagef": 0, "fault.New": 1}
	list.addGo(t, "../../form/*.go", goTexts{calls: rules})
	list.addGo(t, "../../account/*.go", goTexts{calls: rules})
	list.addGo(t, "../../store/*.go", goTexts{calls: rules})
	list.addGo(t, "../../db/*.go", goTexts{calls: rules})
	list.addGo(t, "../../respond/*.go", goTexts{calls: rules})
	list.addGo(t, "../../webhook/*.go", goTexts{calls: rules})
	list.addGo(t, "../../delivery/*.go", goTexts{calls: rules})
	list.add("webhook.go", webhook.FixedProblems...)
	list.add("delivery.go", delivery.DisabledReasons...)
	list.addGo(t, "../../oauth/authorize.go", goTexts{calls: map[string]int{"errorPage": 0, "fault.New": 1}})
	list.addGo(t, "../../fault/*.go", goTexts{calls: map[string]int{"New": 1}})

	for _, scope := range account.ScopeList {
		list.add("scope.go", scope.Description)
	}
	for _, kind := range form.Kinds() {
		about := kind.Info()
		list.add("kind "+kind.Name(), about.Title, about.Description, about.Group)
	}
	for _, p := range slices.Concat(form.CommonProperties, form.KindProperties) {
		list.add("property.go", p.Label, p.Help)
	}
	for month := time.January; month <= time.December; month++ {
		list.add("format.go", month.String())
	}
	for _, text := range statusTexts {
		list.add("format.go", text)
	}
	return list
}

func TestTranslations(t *testing.T) {
	all, err := loadLanguages()
	if err != nil {
		t.Fatal(err)
	}
	public, workspace := publicTexts(t), workspaceTexts(t)
	if len(public) < 40 || len(workspace) < 400 {
		t.Fatalf("only %d and %d texts found: are texts translated in another way now?", len(public), len(workspace))
	}
	if len(all.countries["en"]()) < 200 {
		t.Fatalf("English has only %d countries", len(all.countries["en"]()))
	}
	for _, language := range languages {
		t.Run(language, func(t *testing.T) {
			codes := func(list []Country) []string {
				var codes []string
				for _, country := range list {
					if country.Name != "" {
						codes = append(codes, country.Code)
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
			if workspaceLanguages[language] {
				for text, file := range workspace {
					texts[text] = file
				}
			}
			checkTranslations(t, all.catalogs[language], texts, language == "en")
		})
	}
	for language := range all.catalogs {
		if !slices.Contains(languages, language) {
			t.Errorf("%s.json is not in the list of languages", language)
		}
	}
	for language := range workspaceLanguages {
		if !slices.Contains(languages, language) {
			t.Errorf("the workspace is translated to %s, which is not in the list of languages", language)
		}
	}
}

// checkTranslations reports missing and unused translations, and those with other placeholders.
// English has translations only for texts with a remark after a bar.
func checkTranslations(t *testing.T, list Catalog, texts texts, english bool) {
	t.Helper()
	for text, file := range texts {
		own := list.texts[text]
		if english && !strings.Contains(text, "|") {
			if own != "" {
				t.Errorf("%q needs no translation into English", text)
			}
			continue
		}
		if own == "" {
			t.Errorf("%s: %q has no translation", file, text)
			continue
		}
		if want, got := formatVerb.FindAllString(text, -1), formatVerb.FindAllString(own, -1); !slices.Equal(got, want) {
			t.Errorf("%q has %v, but %q has %v", own, got, text, want)
		}
		for form, translation := range list.plurals[text] {
			if got := formatVerb.FindAllString(translation, -1); len(got) > 0 && !slices.Equal(got, []string{"%d"}) {
				t.Errorf("%q, form %v of %q, has %v", translation, form, text, got)
			}
		}
		want, got := scriptSlot.FindAllString(text, -1), scriptSlot.FindAllString(own, -1)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q has %v, but %q has %v", own, got, text, want)
		}
	}
	for text := range list.texts {
		if texts[text] == "" {
			t.Errorf("%q is not used", text)
		}
	}
}

// Literal titles and notices would not be translated.
func TestLiteralTitles(t *testing.T) {
	literal := regexp.MustCompile(`(?:\bTitle: |\.Title = |\.Notice = )"(?:[^"\\]|\\.)*"`)
	for _, folder := range webPackages(t) {
		for _, file := range sourceFiles(t, "../"+folder+"/*.go") {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range literal.FindAllString(string(content), -1) {
				if found != `Title: "API"` {
					t.Errorf("%s: %s is not translated; use TitleKey or NoticeKey", file, found)
				}
			}
		}
	}
}

func TestMessages(t *testing.T) {
	catalog := Catalog{texts: map[string]string{
		"at most %s": "höchstens %s", "at most %d characters": "höchstens %d Zeichen", "%q is taken": "%q ist vergeben", "The form is not %s.": "Das Formular ist nicht %s.",
		"not before %s": "frühestens %s", ".": ",", "2 January 2006": "02.01.2006", "open": "geöffnet", "100%": "hundert Prozent",
	}}
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
		if got := c.message.Localize(catalog); got != c.want {
			t.Errorf("%q is %q, want %q", c.english, got, c.want)
		}
		if got := c.message.Localize(Catalog{}); got != c.english {
			t.Errorf("in English it is %q, want %q", got, c.english)
		}
	}
}

// The plural form depends on the language and may leave the number out.
func TestPlurals(t *testing.T) {
	all, err := loadLanguages()
	if err != nil {
		t.Fatal(err)
	}
	text := "choose up to %d options"
	for _, c := range []struct {
		language string
		n        int
		want     string
	}{
		{"en", 2, "choose up to 2 options"}, {"de", 2, "wählen Sie bis zu 2 Optionen"},
		{"ar", 2, "اختر خيارين كحد أقصى"}, {"ar", 3, "اختر 3 خيارات كحد أقصى"}, {"ar", 11, "اختر 11 خيارًا كحد أقصى"}, {"ar", 100, "اختر 100 خيار كحد أقصى"},
	} {
		catalog := all.Catalog(c.language)
		if got := catalog.Translate(text, c.n); got != c.want {
			t.Errorf("%s, %d: %q, want %q", c.language, c.n, got, c.want)
		}
		if got := fault.Messagef(text, c.n).Localize(catalog); got != c.want {
			t.Errorf("%s, %d, as a message: %q, want %q", c.language, c.n, got, c.want)
		}
	}
	bad := newCatalog("ar")
	for _, file := range []string{`{"a %d": {"plenty": "b %d", "other": "c %d"}}`, `{"a %d": {"few": "b %d"}}`, `{"a": 1}`} {
		if bad.add([]byte(file)) == nil {
			t.Errorf("%s was accepted", file)
		}
	}
}
