package public

import (
	"cmp"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

var errNoEvent = fault.New(fault.NotFoundInAccount, "This form has no event for your calendar.")

// DownloadEvent sends the event of the ending as a calendar file (RFC 5545), or the time at
// which the form opens.
func (pages *Pages) DownloadEvent(req *page.Request) error {
	f, e, isSigned, err := pages.submitted(req)
	if err != nil {
		return err
	}
	var event form.Event
	if pages.opensLater(f) {
		event = form.Event{Start: f.Availability.OpensAt, End: f.Availability.OpensAt}
	} else if ending := f.Definition.EndingOf(e); ending != nil && (isSigned || f.IsOpenAt(pages.Now())) {
		event, _ = ending.Event(pages.zoneOf(req, f))
	}
	if event.Start.IsZero() {
		return errNoEvent
	}
	texts := pages.newFillSession(req, f).interpolator(e)
	event.Title, event.Place = cmp.Or(texts.Text(event.Title, nil), f.Header.Title), texts.Text(event.Place, nil)
	header := req.W.Header()
	header.Set("Content-Type", "text/calendar; charset=utf-8")
	header.Set("Content-Disposition", `attachment; filename="event.ics"`)
	header.Set("Cache-Control", "no-store")
	req.W.WriteHeader(http.StatusOK)
	req.W.Write([]byte(calendarFile(event, f, pages.Now(), pages.Site.BaseURL))) // the client may have disconnected
	return nil
}

// zoneOf is the time zone of the form's owner.
func (pages *Pages) zoneOf(req *page.Request, f store.PublicForm) *time.Location {
	var zone string
	if owner, err := pages.Store.User(req.Context(), f.Owner); err == nil {
		zone = owner.TimeZone
	}
	return page.LoadZone(zone)
}

// calendarText escapes a text. Title and place are single lines without control characters.
var calendarText = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\r", "", "\n", `\n`)

func calendarFile(event form.Event, f store.PublicForm, now time.Time, site string) string {
	const utc = "20060102T150405Z"
	var out strings.Builder
	line := func(name, value string) { foldLine(&out, name+value) }
	line("BEGIN:", "VCALENDAR")
	line("VERSION:", "2.0")
	line("PRODID:", "-//Formulary//EN")
	line("BEGIN:", "VEVENT")
	line("UID:", f.ID+"-"+event.Start.UTC().Format(utc)+"@formulary")
	line("DTSTAMP:", now.UTC().Format(utc))
	if event.WholeDay {
		line("DTSTART;VALUE=DATE:", event.Start.Format("20060102"))
		line("DTEND;VALUE=DATE:", event.End.AddDate(0, 0, 1).Format("20060102")) // the day after the last one
	} else {
		line("DTSTART:", event.Start.UTC().Format(utc))
		if event.End.After(event.Start) {
			line("DTEND:", event.End.UTC().Format(utc))
		}
	}
	line("SUMMARY:", calendarText.Replace(event.Title))
	if event.Place != "" {
		line("LOCATION:", calendarText.Replace(event.Place))
	}
	line("URL:", site+"/f/"+f.ID)
	line("END:", "VEVENT")
	line("END:", "VCALENDAR")
	return out.String()
}

// foldLine writes a line in parts of up to 75 bytes.
func foldLine(out *strings.Builder, text string) {
	const most = 74 // one less, because continued lines start with a space
	for len(text) > most {
		at := most
		for !utf8.RuneStart(text[at]) {
			at--
		}
		out.WriteString(text[:at] + "\r\n ")
		text = text[at:]
	}
	out.WriteString(text + "\r\n")
}
