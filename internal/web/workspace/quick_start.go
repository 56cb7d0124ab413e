package workspace

import (
	"regexp"
	"strings"
	"time"

	"formulary/internal/form"
	"formulary/internal/web/page"
)

// maxQuickQuestions limits the questions of a form that is started from a text.
const maxQuickQuestions = 50

var (
	bullet = regexp.MustCompile(`^\s*(?:[-*•–]|\d{1,2}[.)])\s+`)
	// quickKinds guesses the question type by words, in the languages of the workspace.
	quickKinds = []struct {
		kind  string
		words *regexp.Regexp
	}{
		{"email", regexp.MustCompile(`(?i)\be-?mail`)},
		{"phone", regexp.MustCompile(`(?i)\b(phone|telephone|telefon|handynummer)`)},
		{"rating", regexp.MustCompile(`(?i)\b(rate|rating|how satisfied|how do you like|bewerten|bewertung|wie zufrieden)\b`)},
		{"date", regexp.MustCompile(`(?i)\b(date|which day|birthday|datum|welcher tag|geburtstag)\b`)},
		{"long_text", regexp.MustCompile(`(?i)\b(comments?|message|why|tell us|describe|anything else|kommentar|nachricht|warum|beschreiben|sonst noch)`)},
		{"number", regexp.MustCompile(`(?i)\b(how many|how much|number of|wie viele|wie viel|anzahl)\b`)},
	}
)

// quickQuestions turns a text into questions, one per line. What follows a colon are options
// if commas separate them.
func quickQuestions(text string) []*form.Field {
	list := []*form.Field{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(bullet.ReplaceAllString(line, ""))
		if line == "" || len(list) == maxQuickQuestions {
			continue
		}
		f := &form.Field{Kind: "short_text", Label: line}
		if label, after, ok := strings.Cut(line, ":"); ok && strings.Contains(after, ",") && strings.TrimSpace(label) != "" {
			f.Kind, f.Label, f.Options = "single_choice", strings.TrimSpace(label), quickOptions(after)
		} else {
			for _, guess := range quickKinds {
				if guess.words.MatchString(line) {
					f.Kind = guess.kind
					break
				}
			}
		}
		list = append(list, f)
	}
	return list
}

func quickOptions(text string) (list []form.Option) {
	known := map[string]bool{}
	for _, label := range strings.Split(text, ",") {
		label = strings.TrimSpace(label)
		if label != "" && !known[label] && len(list) < form.MaxOptions {
			known[label] = true
			list = append(list, form.Option{Label: label})
		}
	}
	return list
}

// tourLasts is how long the tour of a new form is offered.
const tourLasts = time.Hour

// EndTour ends the tour.
func (pages *Pages) EndTour(req *page.Request) error {
	pages.Sessions.SetCookie(req, page.TourCookie, "", 0)
	return req.Redirect("/")
}
