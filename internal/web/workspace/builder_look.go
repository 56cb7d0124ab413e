package workspace

import (
	"formulary/internal/form"
	"formulary/internal/theme"
	"formulary/internal/web/page"
)

// builderLook is how the form looks, for the canvas of the builder.
type builderLook struct {
	Mood       string `json:"mood"`
	Colors     string `json:"colors"` // custom properties of CSS
	Buttons    string `json:"buttons,omitempty"`
	Width      string `json:"width,omitempty"`
	Align      string `json:"align,omitempty"`
	Background string `json:"background,omitempty"`
	Logo       string `json:"logo,omitempty"`
	Cover      string `json:"cover,omitempty"`
	Drawn      bool   `json:"drawn,omitempty"` // the mood draws a cover
}

func (pages *Pages) builderLook(req *page.Request, id string) (builderLook, error) {
	d, err := pages.Store.Draft(req.Context(), req.Owner(), id)
	if err != nil {
		return builderLook{}, err
	}
	look := builderLook{Mood: d.Design.Choice("mood"), Colors: theme.CSS(d.Design.Theme()), Logo: d.Design.Logo, Cover: d.Design.Cover}
	for name, to := range map[string]*string{"buttons": &look.Buttons, "width": &look.Width, "align": &look.Align, "background": &look.Background} {
		if value := d.Design.Choice(name); value != form.FromMood {
			*to = value
		}
	}
	look.Drawn = look.page().DrawsCover()
	return look, nil
}

func (l builderLook) page() page.Look {
	return page.Look{Mood: l.Mood, Background: l.Background, Logo: l.Logo, Cover: l.Cover}
}
