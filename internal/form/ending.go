package form

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"formulary/internal/fault"
)

// Ending is what respondents see after submitting: a text, or a redirect to another
// site.
type Ending struct {
	Key      string     `json:"key,omitempty" pattern:"^[a-z][a-z0-9_]{0,63}$" doc:"Identifies the ending in jumps; derived from the title if omitted"`
	Title    string     `json:"title,omitempty" maxLength:"200"`
	Text     string     `json:"text,omitempty" maxLength:"20000" doc:"Text in Markdown"`
	Redirect string     `json:"redirect,omitempty" maxLength:"2000" doc:"Redirect to this address instead of showing the ending"`
	ShowIf   *Condition `json:"show_if,omitempty" doc:"Condition. Respondents see the first ending whose condition is true, unless a jump leads elsewhere."`

	Summary     bool   `json:"summary,omitempty" doc:"Show respondents their answers"`
	ButtonLabel string `json:"button_label,omitempty" maxLength:"100" doc:"Text of a button" example:"Directions"`
	ButtonURL   string `json:"button_url,omitempty" maxLength:"2000" doc:"Address that the button opens" example:"https://example.com/directions"`
	EventTitle  string `json:"event_title,omitempty" maxLength:"200" doc:"Title of an event that respondents can add to their calendars; the title of the form if omitted"`
	EventStart  string `json:"event_start,omitempty" doc:"Start of the event: a date and time in the time zone of the account, or a date for a whole day" example:"2027-06-12T18:00"`
	EventEnd    string `json:"event_end,omitempty" doc:"End of the event, in the same format; a date is the last day" example:"2027-06-12T21:00"`
	EventPlace  string `json:"event_place,omitempty" maxLength:"200" doc:"Place of the event"`
}

const maxEndings = 50

// Settings apply to a whole version of a form.
type Settings struct {
	SubmitLabel  string `json:"submit_label,omitempty" maxLength:"60" doc:"Text of the submit button"`
	HideProgress bool   `json:"hide_progress,omitempty" doc:"Hide the progress indicator"`
	AskAgain     bool   `json:"ask_again,omitempty" doc:"Show a link to submit another response"`
	// ForgetAnswers is for computers that people share.
	ForgetAnswers bool `json:"forget_answers,omitempty" doc:"Do not keep answers on the respondent’s device until they are submitted"`
	ForgetVisits  bool `json:"forget_visits,omitempty" doc:"Do not count how many people open the form and how far they get"`
	ShowPlaces    bool `json:"show_places,omitempty" doc:"Show how many more responses the form accepts, if it has a response limit"`
}

func (d *Definition) checkSettings() []fault.Detail {
	if d.Settings.SubmitLabel = strings.TrimSpace(d.Settings.SubmitLabel); utf8.RuneCountInString(d.Settings.SubmitLabel) > 60 ||
		strings.ContainsFunc(d.Settings.SubmitLabel, unicode.IsControl) {
		return []fault.Detail{fault.NewDetail("settings.submit_label", "use one line of up to 60 characters")}
	}
	return nil
}

// checkEndings assigns keys to endings and reports mistakes. Endings come after all
// fields, so they may refer to any of them.
func (d *Definition) checkEndings(names *keySet, fields map[string]*Field) []fault.Detail {
	if len(d.Endings) > maxEndings {
		return []fault.Detail{fault.NewDetail("endings", "add no more than %d endings", maxEndings)}
	}
	var details []fault.Detail
	given := map[string]bool{}
	for i, e := range d.Endings {
		path := fmt.Sprintf("endings.%d", i)
		invalid := func(property, format string, args ...any) {
			details = append(details, fault.NewDetail(path+"."+property, format, args...))
		}
		if e == nil {
			details = append(details, fault.NewDetail(path, "an ending must be an object"))
			return details
		}
		if e.Key == "" {
			e.Key = names.free(slug(e.Title, "ending"))
			given[e.Key] = false
		}
		if !keyPattern.MatchString(e.Key) {
			invalid("key", "use up to 64 lowercase letters, numbers and underscores, starting with a letter")
		}
		if given[e.Key] || fields[e.Key] != nil {
			invalid("key", "%q is already used as a key", e.Key)
		}
		given[e.Key] = true
		if utf8.RuneCountInString(e.Title) > MaxTitle || strings.ContainsFunc(e.Title, unicode.IsControl) {
			invalid("title", "use one line of up to %d characters", MaxTitle)
		}
		if utf8.RuneCountInString(e.Text) > maxStatement || strings.ContainsFunc(e.Text, forbiddenInText) {
			invalid("text", "use %d characters or fewer, without control characters", maxStatement)
		}
		if e.Redirect != "" && !isSafeRedirect(e.Redirect) {
			invalid("redirect", "enter a full address, such as https://example.com/thanks")
		}
		e.ShowIf.check(fields, func(format string, args ...any) { invalid("show_if", format, args...) }, 0)
		e.checkExtras(invalid)
		for property, text := range e.pipedTexts() {
			checkPipes(text, fields, func(format string, args ...any) { invalid(property, format, args...) })
		}
	}
	return details
}

// isSafeRedirect reports whether the address is a web page whose host cannot depend on
// an answer. The host is sent in a header, so its syntax is strict.
func isSafeRedirect(address string) bool {
	if len(address) > maxURL || strings.ContainsFunc(address, unicode.IsControl) {
		return false
	}
	scheme, rest, _ := strings.Cut(address, "://")
	host := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host = rest[:end]
	}
	_, ok := SiteOf(replacePipes(address, func(pipe) string { return "x" }))
	return ok && !strings.Contains(scheme+host, "{{")
}

func (d *Definition) ending(key string) *Ending {
	for _, e := range d.Endings {
		if e != nil && e.Key == key && key != "" {
			return e
		}
	}
	return nil
}

// EndingOf returns the ending for the answers, or nil for the default one.
func (d *Definition) EndingOf(e Evaluation) *Ending {
	if jumped := d.ending(e.Ending); jumped != nil {
		return jumped
	}
	d.prepared()
	if e.facts.answers == nil {
		e.facts = newAnswerFacts(e.Answers)
	}
	for _, ending := range d.Endings {
		if ending.ShowIf.matches(&e.facts) {
			return ending
		}
	}
	return nil
}
