package page

import (
	"html/template"
	"slices"

	"formulary/internal/form"
	"formulary/internal/theme"
)

// Look is how a public form looks.
type Look struct {
	Mood   string
	Colors template.CSS // a style of the page
	Hash   string       // of Colors, as a source of the Content-Security-Policy
	// Choices of the owner instead of the mood's; empty for those of the mood.
	Buttons, Width, Align, Background string
	// IDs of pictures; empty: none.
	Logo, Cover string
}

// NewLook returns the look of a design.
func NewLook(d form.Design, styles *theme.Cache) Look {
	l := Look{Mood: d.Choice("mood"), Logo: d.Logo, Cover: d.Cover}
	style := styles.Style(d.Theme())
	l.Colors, l.Hash = template.CSS(style.CSS), style.Hash
	for name, to := range map[string]*string{"buttons": &l.Buttons, "width": &l.Width, "align": &l.Align, "background": &l.Background} {
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

// backgroundStyleSheet is the name of the style sheet of backgrounds that owners choose.
func backgroundStyleSheet(mood theme.Mood) string { return "form-background-" + string(mood) + ".css" }

// pictureStyleSheet is the name of the style sheet of the logo and the cover.
func pictureStyleSheet(mood theme.Mood) string { return "form-pictures-" + string(mood) + ".css" }

// StyleSheets are more style sheets that the look needs.
func (l Look) StyleSheets() []string {
	var list []string
	if l.Background != "" {
		list = append(list, backgroundStyleSheet(theme.Mood(l.Mood)))
	}
	if l.Logo != "" || l.Cover != "" {
		list = append(list, pictureStyleSheet(theme.Mood(l.Mood)))
	}
	return list
}

// DrawsCover reports whether the mood may draw a cover: a picture of the owner replaces it, and
// it is in the brand color, so it cannot be seen on a page in that color.
func (l Look) DrawsCover() bool {
	return l.Cover == "" && l.Background != string(theme.Brand) && slices.Contains(drawnCovers, theme.Mood(l.Mood))
}

var drawnCovers = []theme.Mood{theme.Paper, theme.Night, theme.Playful, theme.Elegant}

// newFormStyle returns the style sheet of public forms with one mood.
func newFormStyle(css []byte, mood theme.Mood) []byte {
	for _, other := range theme.Moods() {
		if other != mood {
			css = withoutLayer(css, string(other))
		}
	}
	return css
}
