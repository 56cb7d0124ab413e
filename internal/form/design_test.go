package form

import (
	"encoding/json"
	"strings"
	"testing"

	"formulary/internal/fault"
)

const pictureID = "fil_01k9z8m7q3e4r5t6y7v8w9x0a1"

func TestDesign(t *testing.T) {
	for text, want := range map[string]string{ // the names of invalid properties
		`{}`:                              "",
		`{"brand": "#B4532A"}`:            "",
		`{"mood": "elegant"}`:             "",
		`{"mood": "gothic"}`:              "design.mood",
		`{"mood": "Paper"}`:               "design.mood",
		`{"layout": "mood"}`:              "design.layout",
		`{"background": "tint"}`:          "",
		`{"background": "#ffffff"}`:       "design.background",
		`{"buttons": "pill"}`:             "design.buttons",
		`{"width": "full"}`:               "design.width",
		`{"align": "center"}`:             "design.align",
		`{"brand": "red"}`:                "design.brand",
		`{"brand": "#abc"}`:               "design.brand",
		`{"logo": "` + pictureID + `"}`:   "",
		`{"logo": "logo.png"}`:            "design.logo",
		`{"cover": "` + pictureID + `0"}`: "design.cover",
		`{"mood": "x", "brand": "y"}`:     "design.mood design.brand",
		`{"brand": "#b4532a", "mood": "night", "layout": "one_at_a_time", "background": "brand", "buttons": "round", "width": "wide", "align": "centre", "logo": "` + pictureID + `", "cover": "` + pictureID + `"}`: "",
	} {
		var d Definition
		if err := json.Unmarshal([]byte(`{"fields": [], "design": `+text+`}`), &d); err != nil {
			t.Fatal(err)
		}
		var names []string
		if err := d.Normalize(); err != nil {
			for _, detail := range fault.Wrap(err).Details {
				names = append(names, detail.Field)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %q is invalid, want %q", text, got, want)
		}
	}
}

func TestDesignDefaults(t *testing.T) {
	d := Definition{Design: Design{Brand: "#B4532A", Width: "wide"}}
	if err := d.Normalize(); err != nil {
		t.Fatal(err)
	}
	if d.Design.Brand != "#b4532a" {
		t.Errorf("the color is stored as %s", d.Design.Brand)
	}
	for name, want := range map[string]string{"mood": "plain", "layout": "classic", "background": "mood", "buttons": "mood", "width": "wide", "align": "mood", "logo": ""} {
		if got := d.Design.Choice(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	text, err := json.Marshal(Definition{Fields: []*Field{}})
	if err != nil || strings.Contains(string(text), "design") {
		t.Errorf("a definition without a design is %s (%v)", text, err)
	}
}

func TestDesignDiff(t *testing.T) {
	before := FormInput{Definition: &Definition{Design: Design{Brand: "#b4532a", Mood: "paper"}}}
	after := FormInput{Definition: &Definition{Design: Design{Brand: "#b4532a", Mood: "bold", Background: "tint", Align: "start"}}}
	changes := Diff(before, after)
	if len(changes) != 1 || changes[0].String() != "~ design: align, background, mood" {
		t.Errorf("changes: %v", changes)
	}
	if changes := Diff(before, before); len(changes) > 0 {
		t.Errorf("changes without a difference: %v", changes)
	}
}
