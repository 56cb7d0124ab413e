package page

import (
	"cmp"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"formulary/internal/form"
)

// Templates call these methods on the page. Texts, numbers and times are in the language
// and the time zone of the viewer: the user who is signed in, or the visitor.

// T translates a text.
//
//go:noinline
func (l *Layout) T(text string, args ...any) string { return l.catalog.Translate(text, args...) }

// TRich translates a text with parts that are HTML: {{.TRich "About %s" (tag "code" .ID)}}.
func (l *Layout) TRich(text string, parts ...template.HTML) template.HTML {
	list := make([]any, len(parts))
	for i, part := range parts {
		list[i] = part
	}
	return template.HTML(fmt.Sprintf(template.HTMLEscapeString(l.T(text)), list...))
}

// tag puts a text into an element, which can have a class, as in strong.host.
func tag(element, text string) template.HTML {
	name, class, ok := strings.Cut(element, ".")
	if ok {
		class = ` class="` + class + `"`
	}
	return template.HTML("<" + name + class + ">" + template.HTMLEscapeString(text) + "</" + name + ">")
}

type copyField struct {
	*Layout
	Text string
}

// CopyField is the argument of a template that shows a text with a button that copies it.
func (l *Layout) CopyField(text string) copyField { return copyField{l, text} }

// Lang is the language of the page.
//
//go:noinline
func (l *Layout) Lang() string {
	if !l.Public {
		return l.language
	}
	return cmp.Or(l.Language, "en")
}

// Number formats a whole number.
func (l *Layout) Number(n int64) string { return groupDigits(strconv.FormatInt(n, 10), l.separator()) }

// Decimal formats a number with at most two decimals.
func (l *Layout) Decimal(n float64) string {
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

// Percent formats a fraction of 1.
//
//go:noinline
func (l *Layout) Percent(share float64) string { return l.Decimal(share*100) + " %" }

func (l *Layout) separator() string {
	if l.language == "de" {
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

// Date formats a day.
func (l *Layout) Date(t time.Time) string {
	t = l.local(t)
	month := l.T(t.Month().String())
	if l.language == "de" {
		return strconv.Itoa(t.Day()) + ". " + month + " " + strconv.Itoa(t.Year())
	}
	return strconv.Itoa(t.Day()) + " " + month + " " + strconv.Itoa(t.Year())
}

// Day formats a day in few letters, for a chart. It does not convert to the time zone.
func (l *Layout) Day(t time.Time) string {
	month := []rune(l.T(t.Month().String()))
	text := strconv.Itoa(t.Day()) + " " + string(month[:min(3, len(month))])
	if l.language == "de" {
		text = strconv.Itoa(t.Day()) + ". " + string(month[:min(3, len(month))])
	}
	return text + " " + strconv.Itoa(t.Year())
}

// DateTime formats a day and a time.
func (l *Layout) DateTime(t time.Time) string { return l.Date(t) + ", " + l.local(t).Format("15:04") }

// ISOTime formats a time for programs.
func (l *Layout) ISOTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (l *Layout) local(t time.Time) time.Time { return t.In(LoadZone(l.zone)) }

// Zone is the name of the viewer's time zone.
func (l *Layout) Zone() string { return LoadZone(l.zone).String() }

// isZone reports whether a time zone exists. The empty name is UTC.
func IsZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && len(name) <= 60 && name != "Local"
}

// LoadZone returns a time zone, or UTC if there is none of that name.
func LoadZone(name string) *time.Location {
	if zone, err := time.LoadLocation(name); err == nil {
		return zone
	}
	return time.UTC
}

// Ago formats the time that has passed since t.
func (l *Layout) Ago(t time.Time) string {
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

// Badge shows the status of a form, or when it opens if it is published and not open yet.
//
//go:noinline
func (l *Layout) Badge(f form.Form) template.HTML {
	if f.Status == form.Open && time.Now().Before(f.OpensAt) {
		return tag("span.tag", l.T("Opens %s", l.DateTime(f.OpensAt)))
	}
	return tag("span.tag "+string(f.Status), l.T(statusTexts[f.Status]))
}

var statusTexts = map[form.Status]string{form.Draft: "Draft", form.Open: "Open", form.Closed: "Closed"}
