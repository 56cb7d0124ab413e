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
	"formulary/internal/form"
	"formulary/internal/locale"
	"formulary/internal/store"
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
	list.addGo(t, "../../mail/*.go", goTexts{calls: map[string]int{"T": 0}})
	for _, scope := range account.ScopeList {
		list.add("scope.go", scope.Description)
	}
	list.addVisitorPages(t)
	return list
}

// addVisitorPages adds the texts of pages in all languages: those that people reach from a mail,
// and the one for signing in.
func (l texts) addVisitorPages(t *testing.T) {
	t.Helper()
	messages := map[string]int{"fault.New": 1, "fault.Messagef": 0}
	for _, name := range []string{"layout", "error"} {
		l.addTemplates(t, "templates/"+name+".html", "T", "TRich")
	}
	l.addGo(t, "error.go", goTexts{calls: map[string]int{"TranslateFor": 1}, fields: []string{"Heading"}})
	for _, name := range []string{"confirm", "forgot", "invitation", "reset", "signin"} {
		l.addTemplates(t, "../identity/templates/"+name+".html", "T", "TRich")
		l.addGo(t, "../identity/"+name+".go", goTexts{calls: messages, fields: []string{"TitleKey", "NoticeKey"}})
	}
	l.addTemplates(t, "../identity/templates/recipient.html", "T", "TRich")
	l.addGo(t, "../identity/recipients.go", goTexts{tables: []string{"recipientStates"}})
	l.addGo(t, "../../account/password.go", goTexts{calls: messages})
	l.addGo(t, "../../account/user.go", goTexts{calls: messages})
	l.addGo(t, "../../fault/*.go", goTexts{calls: map[string]int{"New": 1}})
	l.addGo(t, "../../store/*_links.go", goTexts{calls: messages})
}

// workspaceTexts are all texts of the workspace.
func workspaceTexts(t *testing.T) texts {
	t.Helper()
	list := texts{}
	list.add("form", shared...)
	list.addScripts(t, "static/builder*.js")
	list.addScripts(t, "static/vdom.js")
	tables := map[string][]string{
		"identity": {"accountNotices", "englishNames", "applicationNotices", "recipientStates"}, "workspace": {"connectNotices", "deliveryFilters", "eventDescriptions", "homeNotices", "responsesNotices", "operatorTexts", "momentTexts", "listTexts", "dayTexts", "responseNotices", "statusLabels", "shareNotices", "webhookNotices", "frequencyLabels", "notifyNotices", "designNotices", "designLabels", "embedLabels", "changeLabels", "settingLabels", "auditSentences", "auditEndings", "auditRoles", "spacesNotices", "spaceNotices", "invitationNotices", "peopleNotices"}, "page": {"roleNames"}, "reference": {"errorMeanings"},
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
	rules := map[string]int{"invalid": 1, "advise": 1, "problem": 0, "fault.InvalidField": 1, "fault.NewDetail": 1, "fault.Messagef": 0, "fault.New": 1}
	list.addGo(t, "../../form/*.go", goTexts{calls: rules})
	list.addGo(t, "../../account/*.go", goTexts{calls: rules})
	list.addGo(t, "../../store/*.go", goTexts{calls: rules})
	list.addGo(t, "../../db/*.go", goTexts{calls: rules})
	list.addGo(t, "../../respond/*.go", goTexts{calls: rules})
	list.addGo(t, "../../file/*.go", goTexts{calls: rules})
	list.addGo(t, "../../webhook/*.go", goTexts{calls: rules})
	list.addGo(t, "../../outbox/*.go", goTexts{calls: rules})
	list.addGo(t, "../../delivery/*.go", goTexts{calls: rules})
	list.add("webhook.go", webhook.FixedProblems...)
	list.add("delivery.go", delivery.DisabledReasons...)
	list.addGo(t, "../../oauth/authorize.go", goTexts{calls: map[string]int{"errorPage": 0, "fault.New": 1}})
	list.addGo(t, "../../fault/*.go", goTexts{calls: map[string]int{"New": 1}})

	for _, action := range store.AuditActions {
		list.add("audit_actions.go", action.Meaning)
	}
	for _, scope := range account.ScopeList {
		list.add("scope.go", scope.Description)
	}
	for _, kind := range form.Kinds() {
		about := kind.Info()
		list.add("kind "+kind.Name(), about.Title, about.Description, about.Group, about.Synonyms)
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
	all, err := locale.Load()
	if err != nil {
		t.Fatal(err)
	}
	public, workspace := publicTexts(t), workspaceTexts(t)
	if len(public) < 40 || len(workspace) < 400 {
		t.Fatalf("only %d and %d texts found: are texts translated in another way now?", len(public), len(workspace))
	}
	if len(all.Countries("en")) < 200 {
		t.Fatalf("English has only %d countries", len(all.Countries("en")))
	}
	for _, language := range languages {
		t.Run(language, func(t *testing.T) {
			codes := func(list []locale.Country) []string {
				var codes []string
				for _, country := range list {
					if country.Name != "" {
						codes = append(codes, country.Code)
					}
				}
				slices.Sort(codes)
				return codes
			}
			if own, english := codes(all.Countries(language)), codes(all.Countries("en")); !slices.Equal(own, english) {
				t.Errorf("these countries have names: %v\nin English: %v", own, english)
			}
			texts := texts{}
			for text, file := range public {
				texts[text] = file
			}
			if locale.WorkspaceLanguages[language] {
				for text, file := range workspace {
					texts[text] = file
				}
			}
			checkTranslations(t, all.Catalog(language), texts, language == "en")
		})
	}
	for _, language := range all.Tags() {
		if !slices.Contains(languages, language) {
			t.Errorf("%s.json is not in the list of languages", language)
		}
	}
	for language := range locale.WorkspaceLanguages {
		if !slices.Contains(languages, language) {
			t.Errorf("the workspace is translated to %s, which is not in the list of languages", language)
		}
	}
}

// checkTranslations reports missing and unused translations, and those with other placeholders.
// English has translations only for texts with a remark after a bar.
func checkTranslations(t *testing.T, list locale.Catalog, texts texts, english bool) {
	t.Helper()
	translations := list.Texts()
	for text, file := range texts {
		own := ""
		if forms := translations[text]; forms != nil {
			own = forms[0]
		}
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
		for _, translation := range translations[text] {
			if got := formatVerb.FindAllString(translation, -1); translation != own && len(got) > 0 && !slices.Equal(got, []string{"%d"}) {
				t.Errorf("%q, a form of %q, has %v", translation, text, got)
			}
		}
		want, got := scriptSlot.FindAllString(text, -1), scriptSlot.FindAllString(own, -1)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q has %v, but %q has %v", own, got, text, want)
		}
	}
	for text := range translations {
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
