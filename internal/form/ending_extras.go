package form

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxButtonLabel is the length of the text on an ending's button, in characters.
const maxButtonLabel = 100

// pipedTexts are the texts that answers can be inserted into, by property.
func (e *Ending) pipedTexts() map[string]string {
	return map[string]string{
		"title": e.Title, "text": e.Text, "redirect": e.Redirect, "button_label": e.ButtonLabel, "button_url": e.ButtonURL, "event_title": e.EventTitle, "event_place": e.EventPlace,
	}
}

// checkExtras reports mistakes in the button and the event.
func (e *Ending) checkExtras(invalid func(property, format string, args ...any)) {
	line := func(property, text string, most int) {
		if utf8.RuneCountInString(text) > most || strings.ContainsFunc(text, unicode.IsControl) {
			invalid(property, "use one line of up to %d characters", most)
		}
	}
	line("button_label", e.ButtonLabel, maxButtonLabel)
	line("event_title", e.EventTitle, MaxTitle)
	line("event_place", e.EventPlace, MaxTitle)
	switch {
	case e.ButtonURL == "" && e.ButtonLabel != "", e.ButtonURL != "" && !isSafeRedirect(e.ButtonURL):
		invalid("button_url", "enter a full address, such as https://example.com/thanks")
	case e.ButtonURL != "" && e.ButtonLabel == "":
		invalid("button_label", "enter the text of the button")
	}
	if e.EventStart == "" {
		if e.EventTitle+e.EventEnd+e.EventPlace != "" {
			invalid("event_start", "enter the start of the event")
		}
		return
	}
	start, wholeDay, ok := parseEventTime(e.EventStart, time.UTC)
	if !ok {
		invalid("event_start", "enter a date and time such as 2027-06-12T18:00, or a date")
	}
	if e.EventEnd == "" || !ok {
		return
	}
	end, endsAsDay, ok := parseEventTime(e.EventEnd, time.UTC)
	switch {
	case !ok || endsAsDay != wholeDay:
		invalid("event_end", "enter a date and time such as 2027-06-12T18:00, or a date, as in the start")
	case end.Before(start):
		invalid("event_end", "choose a time after the start")
	}
}

// parseEventTime reads a date, or a date and time in a time zone.
func parseEventTime(text string, zone *time.Location) (at time.Time, wholeDay, ok bool) {
	layout := dateTimeFormat
	if wholeDay = len(text) == len(time.DateOnly); wholeDay {
		layout, zone = time.DateOnly, time.UTC
	}
	at, err := time.ParseInLocation(layout, text, zone)
	return at, wholeDay, err == nil && at.Year() > 0 && len(text) == len(layout)
}

// Event is something that respondents can add to their calendars.
type Event struct {
	Title, Place string // with references to answers
	Start, End   time.Time
	WholeDay     bool // Start and End are days, in UTC
}

// Event returns the event of the ending, or false if it has none. Times are in the given
// time zone.
func (e *Ending) Event(zone *time.Location) (event Event, ok bool) {
	event = Event{Title: e.EventTitle, Place: e.EventPlace}
	if event.Start, event.WholeDay, ok = parseEventTime(e.EventStart, zone); !ok {
		return event, false
	}
	event.End = event.Start
	if end, _, ok := parseEventTime(e.EventEnd, zone); ok {
		event.End = end
	}
	return event, true
}

func (e *Ending) extrasSize() int64 {
	size := int64(0)
	for _, text := range []string{e.ButtonLabel, e.ButtonURL, e.EventTitle, e.EventStart, e.EventEnd, e.EventPlace} {
		size += textSize(text)
	}
	return size
}
