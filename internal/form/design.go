package form

import (
	"regexp"
	"slices"
	"strings"

	"formulary/internal/fault"
	"formulary/internal/theme"
)

// Design is how a version of a form looks. Every part is optional.
type Design struct {
	Brand      string `json:"brand,omitempty" pattern:"^#[0-9a-fA-F]{6}$" doc:"Brand color. All other colors follow from it and from the mood." example:"#b4532a"`
	Mood       string `json:"mood,omitempty" enum:"plain,paper,night,bold,playful,clinical,elegant,typed" doc:"Type, shapes, spacing and background; plain if omitted" example:"paper"`
	Layout     string `json:"layout,omitempty" enum:"classic,one_at_a_time" doc:"All questions of a page together, or one question at a time; classic if omitted" example:"classic"`
	Background string `json:"background,omitempty" enum:"mood,neutral,tint,brand" doc:"Background of the page: white, a pale shade of the brand color, or the brand color; each with a counterpart on dark screens; mood if omitted" example:"mood"`
	Buttons    string `json:"buttons,omitempty" enum:"mood,square,soft,round" doc:"Shape of buttons; mood if omitted" example:"mood"`
	Width      string `json:"width,omitempty" enum:"mood,narrow,normal,wide" doc:"Width of the page; mood if omitted" example:"mood"`
	Align      string `json:"align,omitempty" enum:"mood,start,centre" doc:"Alignment of the title; mood if omitted" example:"mood"`
	Logo       string `json:"logo,omitempty" maxLength:"40" doc:"File ID of the logo" example:"fil_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Cover      string `json:"cover,omitempty" maxLength:"40" doc:"File ID of the cover picture" example:"fil_01k9z8m7q3e4r5t6y7v8w9x0a1"`
}

// Values of a design. The default is the first one.
const (
	FromMood    = "mood"
	Classic     = "classic"
	OneAtATime  = "one_at_a_time"
	AlignCentre = "centre"
)

// DesignChoice is a part of a design with a list of values.
type DesignChoice struct {
	Name   string
	Values []string // the first one is the default
}

// DesignChoices lists the parts of a design that have a list of values.
func DesignChoices() []DesignChoice {
	return []DesignChoice{
		{"mood", names(theme.Moods())},
		{"layout", []string{Classic, OneAtATime}},
		{"background", names(theme.Backgrounds())},
		{"buttons", []string{FromMood, "square", "soft", "round"}},
		{"width", []string{FromMood, "narrow", "normal", "wide"}},
		{"align", []string{FromMood, "start", AlignCentre}},
	}
}

func names[T ~string](values []T) []string {
	list := make([]string, len(values))
	for i, value := range values {
		list[i] = string(value)
	}
	return list
}

// Value returns a part of the design by name. It can be changed.
func (d *Design) Value(name string) *string {
	return map[string]*string{
		"brand": &d.Brand, "mood": &d.Mood, "layout": &d.Layout, "background": &d.Background, "buttons": &d.Buttons, "width": &d.Width, "align": &d.Align, "logo": &d.Logo, "cover": &d.Cover,
	}[name]
}

// Choice returns a part of the design by name, or its default.
func (d Design) Choice(name string) string {
	if value := *d.Value(name); value != "" {
		return value
	}
	for _, choice := range DesignChoices() {
		if choice.Name == name {
			return choice.Values[0]
		}
	}
	return ""
}

var fileIDPattern = regexp.MustCompile(`^fil_[0-7][0-9a-hjkmnp-tv-z]{25}$`)

// defaultBrand is the color of forms without a brand color.
var defaultBrand = theme.Color{0x1f, 0x6b, 0x57}

// BrandColor is the brand color, or the default.
func (d Design) BrandColor() theme.Color {
	if brand, ok := theme.ParseColor(d.Brand); ok {
		return brand
	}
	return defaultBrand
}

// Theme is what the colors follow from.
func (d Design) Theme() theme.Spec {
	return theme.Spec{Brand: d.BrandColor(), Mood: theme.Mood(d.Choice("mood")), Background: theme.Background(d.Choice("background"))}
}

// checkDesign reports invalid values. Colors are stored in lower case.
func (d *Definition) checkDesign() []fault.Detail {
	var details []fault.Detail
	for _, choice := range DesignChoices() {
		if value := *d.Design.Value(choice.Name); value != "" && !slices.Contains(choice.Values, value) {
			details = append(details, fault.NewDetail("design."+choice.Name, "must be one of %s", strings.Join(choice.Values, ", ")))
		}
	}
	if brand := &d.Design.Brand; *brand != "" {
		color, ok := theme.ParseColor(*brand)
		if !ok {
			details = append(details, fault.NewDetail("design.brand", "enter a color such as #b4532a"))
		} else {
			*brand = color.String()
		}
	}
	for _, name := range []string{"logo", "cover"} {
		if value := *d.Design.Value(name); value != "" && !fileIDPattern.MatchString(value) {
			details = append(details, fault.NewDetail("design."+name, "enter the ID of a file, such as fil_01k9z8m7q3e4r5t6y7v8w9x0a1"))
		}
	}
	return details
}

// size is the memory of the texts.
func (d Design) size() int64 {
	return textSize(d.Brand) + textSize(d.Mood) + textSize(d.Layout) + textSize(d.Background) + textSize(d.Buttons) + textSize(d.Width) + textSize(d.Align) + textSize(d.Logo) + textSize(d.Cover)
}
