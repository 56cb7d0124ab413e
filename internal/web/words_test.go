package web

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The public page speaks these. English needs no words, but names of countries.
var spoken = []string{"en", "de", "fr", "es", "pt", "tr", "ar"}

// English texts stand where they are said, as Go or template strings.
var (
	saidByTemplate = regexp.MustCompile(`\.Say ("(?:[^"\\]|\\.)*")`)
	saidByPage     = regexp.MustCompile(`words\.say\(("(?:[^"\\]|\\.)*")`)
	saidByForm     = regexp.MustCompile(`\bproblem\(("(?:[^"\\]|\\.)*")`)
	formatVerb     = regexp.MustCompile(`%[^a-zA-Z%]*[a-zA-Z%]`)
)

// said collects all that the public page can say, with the file that says it.
func said(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{"Yes": "pipe.go", "No": "pipe.go", "Other": "summary.go"}
	for _, from := range []struct {
		files string
		texts *regexp.Regexp
	}{
		{"templates/public.html", saidByTemplate},
		{"templates/done.html", saidByTemplate},
		{"templates/closed.html", saidByTemplate},
		{"templates/kinds/*.html", saidByTemplate},
		{"public*.go", saidByPage},
		{"../form/*.go", saidByForm},
	} {
		files, err := filepath.Glob(from.files)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no such files (%v)", from.files, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range from.texts.FindAllStringSubmatch(string(source), -1) {
				text, err := strconv.Unquote(m[1])
				if err != nil {
					t.Fatalf("%s: %s: %v", file, m[1], err)
				}
				texts[text] = file
			}
		}
	}
	return texts
}

func TestWords(t *testing.T) {
	all, err := loadWords()
	if err != nil {
		t.Fatal(err)
	}
	texts := said(t)
	if len(texts) < 40 {
		t.Fatalf("only %d texts found: are they said in another way now?", len(texts))
	}
	if len(all.countries["en"]) < 200 {
		t.Fatalf("English has only %d countries", len(all.countries["en"]))
	}
	for _, language := range spoken {
		t.Run(language, func(t *testing.T) {
			for code := range all.countries["en"] {
				if all.countries[language][code] == "" {
					t.Errorf("there is no name of the country %s", code)
				}
			}
			for code := range all.countries[language] {
				if all.countries["en"][code] == "" {
					t.Errorf("English has no country %s", code)
				}
			}
			if language == "en" {
				return
			}
			for text, file := range texts {
				own := all.words[language][text]
				if own == "" {
					t.Errorf("%s says %q, for which there are no words", file, text)
					continue
				}
				if want, got := formatVerb.FindAllString(text, -1), formatVerb.FindAllString(own, -1); !slices.Equal(got, want) {
					t.Errorf("%q has %v, but %q has %v", own, got, text, want)
				}
			}
			for text := range all.words[language] {
				if texts[text] == "" {
					t.Errorf("nothing says %q any more", text)
				}
			}
		})
	}
	for language := range all.words {
		if !slices.Contains(spoken, language) {
			t.Errorf("%s.json is a language that nobody checks", language)
		}
	}
}
