package form

import (
	"encoding/json"
	"testing"
	"time"

	"formulary/internal/fault"
)

func TestEndingExtras(t *testing.T) {
	for _, c := range []struct{ ending, field string }{
		{`{"summary": true, "button_label": "Map for {{a|you}}", "button_url": "https://example.com/{{a}}"}`, ""},
		{`{"event_start": "2027-06-12T18:00"}`, ""},
		{`{"event_start": "2027-06-12", "event_end": "2027-06-13", "event_title": "For {{a}}", "event_place": "Kiln"}`, ""},
		{`{"button_label": "Map"}`, "endings.0.button_url"},
		{`{"button_url": "https://example.com"}`, "endings.0.button_label"},
		{`{"button_label": "Map", "button_url": "javascript:alert(1)"}`, "endings.0.button_url"},
		{`{"button_label": "Map", "button_url": "https://{{a}}.example/"}`, "endings.0.button_url"},
		{`{"button_label": "Map {{b}}", "button_url": "https://example.com"}`, "endings.0.button_label"},
		{`{"button_label": "a\nb", "button_url": "https://example.com"}`, "endings.0.button_label"},
		{`{"event_title": "Party"}`, "endings.0.event_start"},
		{`{"event_start": "tomorrow"}`, "endings.0.event_start"},
		{`{"event_start": "2027-02-30"}`, "endings.0.event_start"},
		{`{"event_start": "2027-06-12T18:00", "event_end": "2027-06-12"}`, "endings.0.event_end"},
		{`{"event_start": "2027-06-12T18:00", "event_end": "2027-06-12T17:00"}`, "endings.0.event_end"},
		{`{"event_start": "2027-06-12", "event_place": "a\nb"}`, "endings.0.event_place"},
	} {
		var d Definition
		if err := json.Unmarshal([]byte(`{"fields": [{"key": "a", "kind": "short_text"}], "endings": [`+c.ending+`]}`), &d); err != nil {
			t.Fatal(err)
		}
		err := d.Normalize()
		if c.field == "" && err == nil {
			continue
		}
		if list := fault.Wrap(err).Details; len(list) != 1 || list[0].Field != c.field {
			t.Errorf("%s: %v", c.ending, err)
		}
	}
}

func TestEvent(t *testing.T) {
	berlin := time.FixedZone("CEST", 2*60*60)
	for _, c := range []struct {
		ending     Ending
		start, end string
	}{
		{Ending{EventStart: "2027-06-12T18:00", EventEnd: "2027-06-12T21:00"}, "2027-06-12T16:00:00Z", "2027-06-12T19:00:00Z"},
		{Ending{EventStart: "2027-06-12T18:00"}, "2027-06-12T16:00:00Z", "2027-06-12T16:00:00Z"},
		{Ending{EventStart: "2027-06-12"}, "2027-06-12T00:00:00Z", "2027-06-12T00:00:00Z"},
	} {
		e, ok := c.ending.Event(berlin)
		if !ok || e.Start.UTC().Format(time.RFC3339) != c.start || e.End.UTC().Format(time.RFC3339) != c.end {
			t.Errorf("%v: %v", c.ending, e)
		}
	}
	if _, ok := (&Ending{}).Event(berlin); ok {
		t.Error("an event without a start")
	}
}
