package form

import (
	"slices"
	"testing"
)

// trip has two pages; the second one and one question depend on answers.
const trip = `{"fields": [{"key": "src", "kind": "hidden"}, {"key": "more", "kind": "yes_no"}, {"key": "about", "kind": "statement", "text": "Hi"},
	{"key": "seats", "kind": "number", "default": 2}, {"key": "p2", "kind": "page_break", "label": "Stay", "show_if": {"field": "more", "op": "equals", "value": true}},
	{"key": "nights", "kind": "number"}, {"key": "total", "kind": "calculated", "expression": "nights * 2", "concealed": true}, {"key": "pet", "kind": "yes_no", "show_if": {"field": "nights", "op": "greater", "value": 2}}],
	"design": {"layout": "one_at_a_time"}}`

func TestScreens(t *testing.T) {
	d := define(t, trip)
	screens := d.Screens()
	var keys []string
	for _, s := range screens {
		for _, f := range s.Fields {
			keys = append(keys, f.Key)
		}
		keys = append(keys, "/")
	}
	if want := []string{"src", "more", "/", "about", "/", "seats", "/", "nights", "/", "total", "pet", "/"}; !slices.Equal(keys, want) {
		t.Errorf("screens %v", keys)
	}
	if screens[2].Break != nil || screens[3].Break.Key != "p2" {
		t.Errorf("questions are on other pages: %v, %v", screens[2].Break, screens[3].Break)
	}
	d.Design.Layout = Classic
	if n := len(d.Screens()); n != 2 {
		t.Errorf("%d pages", n)
	}
	if none := (&Definition{Design: Design{Layout: OneAtATime}}).Screens(); len(none) != 1 {
		t.Errorf("an empty form has %d screens", len(none))
	}
}

func TestProgress(t *testing.T) {
	d := define(t, trip)
	screens := d.Screens()
	for _, c := range []struct {
		sent   map[string]any
		number int
		want   Progress
	}{
		{map[string]any{"seats": 2.0}, 0, Progress{0, 2, 1}}, // the default is no answer yet
		{map[string]any{"seats": 2.0, "more": true}, 1, Progress{1, 3, 0}},
		{map[string]any{"seats": 2.0, "more": true}, 3, Progress{2, 3, 3}},
		{map[string]any{"seats": 2.0, "more": true, "nights": 3.0}, 4, Progress{3, 4, 4}},
		{map[string]any{"seats": "x", "more": false}, 2, Progress{1, 2, 2}}, // a wrong answer is none
	} {
		if got := ProgressAt(screens, d.Evaluate(c.sent), c.number); got != c.want {
			t.Errorf("%v at %d: %v, want %v", c.sent, c.number, got, c.want)
		}
	}
}

func TestCanChangeAfter(t *testing.T) {
	for _, c := range []struct {
		fields string
		want   []bool // by page
	}{
		{`{"key": "a", "kind": "yes_no"}, {"kind": "page_break"}, {"kind": "date"}`, []bool{false, false}},
		{`{"key": "a", "kind": "yes_no"}, {"kind": "page_break", "show_if": {"field": "a", "op": "answered"}}, {"kind": "date"}`, []bool{true, false}},
		{`{"key": "a", "kind": "yes_no"}, {"kind": "page_break"}, {"kind": "date", "show_if": {"field": "a", "op": "answered"}}`, []bool{true, false}},
		{`{"key": "a", "kind": "yes_no"}, {"kind": "page_break"}, {"kind": "date", "show_if": {"field": "a", "op": "answered"}}, {"kind": "url"}`, []bool{false, false}},
		{`{"kind": "date"}, {"kind": "page_break"}, {"kind": "url", "jumps": [{"to": "end"}]}, {"kind": "page_break"}, {"kind": "time"}`, []bool{true, true, false}},
		{`{"key": "a", "kind": "yes_no"}, {"kind": "page_break"}, {"kind": "url"}, {"kind": "page_break", "show_if": {"field": "a", "op": "answered"}}, {"kind": "date"}`, []bool{true, false, false}},
	} {
		screens := define(t, `{"fields": [`+c.fields+`], "endings": [{"key": "end"}]}`).Screens()
		for i, want := range c.want {
			if got := CanChangeAfter(screens, i); got != want {
				t.Errorf("%s after page %d: %v", c.fields, i, got)
			}
		}
	}
}
