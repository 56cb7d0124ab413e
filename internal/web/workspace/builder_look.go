package workspace

import (
	"slices"

	"formulary/internal/form"
	"formulary/internal/theme"
	"formulary/internal/web/page"
)

// builderLook is how the form looks, for the canvas of the builder.
type builderLook struct {
	Mood    string `json:"mood"`
	Colors  string `json:"colors"` // custom properties of CSS
	Buttons string `json:"buttons,omitempty"`
	Width   string `json:"width,omitempty"`
	Align   string `json:"align,omitempty"`
	Logo    string `json:"logo,omitempty"`
	Cover   string `json:"cover,omitempty"`
	Drawn   bool   `json:"drawn,omitempty"` // the mood draws a cover
}

// drawnCovers are the moods that draw a cover for forms without a picture.
var drawnCovers = []theme.Mood{theme.Paper, theme.Night, theme.Playful, theme.Elegant}

func (pages *Pages) builderLook(req *page.Request, id string) (builderLook, error) {
	d, err := pages.Store.Draft(req.Context(), req.Owner(), id)
	if err != nil {
		return builderLook{}, err
	}
	mood := d.Design.Choice("mood")
	look := builderLook{Mood: mood, Colors: theme.CSS(d.Design.BrandColor(), theme.Mood(mood)), Logo: d.Design.Logo, Cover: d.Design.Cover, Drawn: slices.Contains(drawnCovers, theme.Mood(mood))}
	for name, to := range map[string]*string{"buttons": &look.Buttons, "width": &look.Width, "align": &look.Align} {
		if value := d.Design.Choice(name); value != form.FromMood {
			*to = value
		}
	}
	return look, nil
}

func (l builderLook) styleSheets() []string {
	return page.Look{Mood: l.Mood, Logo: l.Logo, Cover: l.Cover}.CanvasStyleSheets()
}
