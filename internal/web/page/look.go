package page

import (
	"html/template"

	"formulary/internal/form"
	"formulary/internal/theme"
)

// Look is how a public form looks.
type Look struct {
	Mood   string
	Colors template.CSS // a style of the page
	Hash   string       // of Colors, as a source of the Content-Security-Policy
	// Choices of the owner instead of the mood's; empty for those of the mood.
	Buttons, Width, Align string
	// IDs of pictures; empty: none.
	Logo, Cover string
}

// NewLook returns the look of a design.
func NewLook(d form.Design, styles *theme.Cache) Look {
	l := Look{Mood: d.Choice("mood"), Logo: d.Logo, Cover: d.Cover}
	style := styles.Style(d.BrandColor(), theme.Mood(l.Mood))
	l.Colors, l.Hash = template.CSS(style.CSS), style.Hash
	for name, to := range map[string]*string{"buttons": &l.Buttons, "width": &l.Width, "align": &l.Align} {
		if value := d.Choice(name); value != form.FromMood {
			*to = value
		}
	}
	return l
}

// formStyleSheet is the name of the style sheet of public forms with a mood.
func formStyleSheet(mood theme.Mood) string {
	if mood == "" {
		mood = theme.Plain
	}
	return "form-" + string(mood) + ".css"
}

// pictureStyleSheet is the name of the style sheet of the logo and the cover.
func pictureStyleSheet(mood theme.Mood) string { return "form-pictures-" + string(mood) + ".css" }

// StyleSheet is one more style sheet that the look needs, or empty.
func (l Look) StyleSheet() string {
	if l.Logo == "" && l.Cover == "" {
		return ""
	}
	return pictureStyleSheet(theme.Mood(l.Mood))
}

// newFormStyle returns the style sheet of public forms with one mood.
func newFormStyle(css []byte, mood theme.Mood) []byte {
	for _, other := range theme.Moods() {
		if other != mood {
			css = withoutLayer(css, string(other))
		}
	}
	return css
}
