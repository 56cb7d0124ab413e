package web

import (
	"cmp"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
)

// What pages of the workspace say, in the language, the zone and the way of
// writing numbers of whoever looks at them. Templates call these on the page.

// T says something in the viewer's language.
func (l *layout) T(text string, args ...any) string { return l.words.translate(text, args...) }

// TRich says something with parts that are marked up: {{.Rich "About %s" (tag "code" .ID)}}.
func (l *layout) TRich(text string, parts ...template.HTML) template.HTML {
	list := make([]any, len(parts))
	for i, part := range parts {
		list[i] = part
	}
	return template.HTML(fmt.Sprintf(template.HTMLEscapeString(l.T(text)), list...))
}

// tag marks up a text; the element can have a class, as in strong.host.
func tag(element, text string) template.HTML {
	name, class, ok := strings.Cut(element, ".")
	if ok {
		class = ` class="` + class + `"`
	}
	return template.HTML("<" + name + class + ">" + template.HTMLEscapeString(text) + "</" + name + ">")
}

// copyField is a text with a button that copies it.
type copyField struct {
	*layout
	Text string
}

// CopyField hands a text to the template that shows it so.
func (l *layout) CopyField(text string) copyField { return copyField{l, text} }

// Lang is the language that the page is in.
func (l *layout) Lang() string {
	if !l.Public {
		return l.viewer
	}
	return cmp.Or(l.Language, "en")
}

// Number writes a number as the viewer's language does.
func (l *layout) Number(n int64) string { return groupDigits(strconv.FormatInt(n, 10), l.separator()) }

// Decimal writes a number with at most two decimals.
func (l *layout) Decimal(n float64) string {
	text := strconv.FormatFloat(n, 'f', 2, 64)
	whole, part, _ := strings.Cut(text, ".")
	out := groupDigits(whole, l.separator())
	if part = strings.TrimRight(part, "0"); part == "" {
		return out
	}
	if l.separator() == "." {
		return out + "," + part
	}
	return out + "." + part
}

// Percent writes a share of one.
func (l *layout) Percent(share float64) string { return l.Decimal(share*100) + " %" }

func (l *layout) separator() string {
	if l.viewer == "de" {
		return "."
	}
	return ","
}

func groupDigits(digits, separator string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + separator + digits[i:]
	}
	return sign + digits
}

// Date is a day in the viewer's zone.
func (l *layout) Date(t time.Time) string {
	t = l.local(t)
	month := l.T(t.Month().String())
	if l.viewer == "de" {
		return strconv.Itoa(t.Day()) + ". " + month + " " + strconv.Itoa(t.Year())
	}
	return strconv.Itoa(t.Day()) + " " + month + " " + strconv.Itoa(t.Year())
}

// Day is a day in few letters, for a chart.
func (l *layout) Day(t time.Time) string {
	month := []rune(l.T(t.Month().String()))
	text := strconv.Itoa(t.Day()) + " " + string(month[:min(3, len(month))])
	if l.viewer == "de" {
		text = strconv.Itoa(t.Day()) + ". " + string(month[:min(3, len(month))])
	}
	return text + " " + strconv.Itoa(t.Year())
}

// DateTime is a day and a time in the viewer's zone.
func (l *layout) DateTime(t time.Time) string { return l.Date(t) + ", " + l.local(t).Format("15:04") }

// Input is a moment as the control for it takes it, in the viewer's zone.
func (l *layout) Input(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return l.local(t).Format("2006-01-02T15:04")
}

// ISOTime is a moment for programs.
func (l *layout) ISOTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (l *layout) local(t time.Time) time.Time { return t.In(zoneOf(l.zone)) }

// Zone is the name of the viewer's zone.
func (l *layout) Zone() string { return zoneOf(l.zone).String() }

// isZone knows the names of time zones; an empty one is that of UTC.
func isZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && len(name) <= 60 && name != "Local"
}

func zoneOf(name string) *time.Location {
	if zone, err := time.LoadLocation(name); err == nil {
		return zone
	}
	return time.UTC
}

// Ago says how long something is past.
func (l *layout) Ago(t time.Time) string {
	switch d := time.Since(t); {
	case t.IsZero():
		return l.T("never")
	case d < 2*time.Minute:
		return l.T("just now")
	case d < 2*time.Hour:
		return l.T("%d minutes ago", int(d/time.Minute))
	case d < 48*time.Hour:
		return l.T("%d hours ago", int(d/time.Hour))
	default:
		return l.T("%d days ago", int(d/(24*time.Hour)))
	}
}

// Badge says where a form stands: also that it is published and not open yet.
func (l *layout) Badge(f form.Form) template.HTML {
	if f.Status == form.Open && time.Now().Before(f.OpensAt) {
		return tag("span.tag", l.T("Opens %s", l.DateTime(f.OpensAt)))
	}
	return tag("span.tag "+string(f.Status), l.T(statusWords[f.Status]))
}

var statusWords = map[form.Status]string{form.Draft: "Draft", form.Open: "Open", form.Closed: "Closed"}

// translateError is an error in the words of whoever looks.
func (web *Handler) translateError(v *pageRequest, err error) *fault.Error {
	e := *fault.Wrap(err)
	w := web.languages.of(web.viewerLanguage(v))
	details := make([]fault.Detail, len(e.Details))
	for i, d := range e.Details {
		details[i] = fault.Detail{Field: d.Field, Message: d.Localize(w.word)}
	}
	e.Message, e.Details = e.Localize(w.word), details
	return &e
}

// viewerLanguage is the language of whoever looks: of their account, or of their
// browser while they are not signed in. Those that we have words for are enough.
func (web *Handler) viewerLanguage(v *pageRequest) string {
	tag := v.r.Header.Get("Accept-Language")
	if v.user != nil {
		tag = v.user.Language
	}
	base, _, _ := strings.Cut(strings.ToLower(tag), "-")
	base, _, _ = strings.Cut(base, ",")
	base, _, _ = strings.Cut(base, ";")
	if consoleLanguages[base] {
		return base
	}
	return "en"
}

// consoleLanguages are those that the whole workspace speaks.
var consoleLanguages = map[string]bool{"en": true, "de": true}
