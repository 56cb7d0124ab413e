package workspace

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/theme"
	"formulary/internal/web/page"
)

// designPage is where owners choose how a form looks.
type designPage struct {
	formLayout
	Brand       string
	Moods       []designOption
	Choices     []designChoice
	Pictures    []designPicture
	Themes      []savedTheme
	ThemeName   string // that was typed
	Rest        *themeRest
	Contrast    string // the lowest contrast of a text, such as 4.6
	LooksGrey   bool   // buttons in the brand color look disabled
	PreviewPath string // of the preview with the choices on the page
	Settings    form.Settings
	HasLimit    bool // the form accepts a number of responses only
	Seen        seenSettings
}

// designChoice is a part of the design with a few values.
type designChoice struct {
	Name, Label string
	Options     []designOption
}

// designPicture is a picture of the owner on the form.
type designPicture struct {
	Name, Label, Help string
	ID                string // empty: none
}

type designOption struct {
	Value, Label string
	Chosen       bool
}

var designNotices = map[string]string{
	"saved": "Design saved. Publish the form to make it live.", "theme": "Theme saved.", "applied": "Theme applied. Publish the form to make it live.",
	"all": "Theme applied to the drafts of all forms. Publish each form to make it live.", "renamed": "Theme renamed.", "deleted": "Theme deleted. Forms keep their design.",
}

// designLabels are the names of values and parts on the page.
var designLabels = map[string]string{
	"plain": "Plain", "paper": "Paper", "night": "Night", "bold": "Bold", "playful": "Playful", "clinical": "Clinical", "elegant": "Elegant", "typed": "Typed",
	"layout": "Layout", "classic": "All questions", "one_at_a_time": "One at a time",
	"logo": "Logo", "logo help": "Shown above the title", "cover": "Cover", "cover help": "Shown at the top. Without one, some moods draw a cover in your color.",
	"background": "Background", "neutral": "White", "tint": "Tinted", "brand": "Brand",
	"buttons": "Buttons", "width": "Width", "align": "Title alignment",
	"mood": "From mood", "square": "Square", "soft": "Soft", "round": "Round", "narrow": "Narrow", "normal": "Normal", "wide": "Wide", "start": "Start", "centre": "Center",
}

// ShowDesign shows the design of the draft. The query may have choices that are not saved.
func (pages *Pages) ShowDesign(req *page.Request) error {
	return pages.renderDesign(req, http.StatusOK, designView{choices: req.URL.Query()})
}

// designParts are the parts of a design that the page can change.
var designParts = []string{"brand", "mood", "layout", "background", "buttons", "width", "align", "logo", "cover"}

// designFrom returns the design with the choices of a query or of a post.
func designFrom(d form.Design, choices url.Values) form.Design {
	for _, name := range designParts {
		if choices.Has(name) {
			*d.Value(name) = strings.TrimSpace(choices.Get(name))
		}
	}
	return d
}

// settingsFrom returns the settings with the choices of a post. Boxes that are not checked
// are not in it, so a hidden control tells that the boxes were on the page.
func settingsFrom(s form.Settings, choices url.Values) form.Settings {
	if choices.Has("settings") {
		s.ForgetAnswers, s.ShowPlaces, s.ForgetVisits = !choices.Has("keep_answers"), choices.Has("show_places"), !choices.Has("count_visits")
	}
	return s
}

// validDesign returns the design with the choices of a query, or the design itself if one
// of them is not valid.
func validDesign(d form.Design, choices url.Values) form.Design {
	chosen := form.Definition{Design: designFrom(d, choices)}
	if chosen.Normalize() != nil {
		return d
	}
	return chosen.Design
}

// designView is what the page shows besides what is stored.
type designView struct {
	choices  url.Values // of the query or of a post
	problems page.Problems
	changed  bool // somebody else changed the design
}

// designSeen returns what is compared to find out whether somebody else changed the design.
func designSeen(d *form.Definition) string {
	return seenValue(d.Design, d.Settings.ForgetAnswers, d.Settings.ShowPlaces)
}

func (pages *Pages) renderDesign(req *page.Request, status int, view designView) error {
	choices := view.choices
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	d, err := pages.Store.Draft(req.Context(), req.Owner(), f.ID)
	if err != nil {
		return err
	}
	design := validDesign(d.Design, choices)
	brand := design.BrandColor()
	p := &designPage{
		formLayout: pages.newFormLayout(f, "design"), Brand: brand.String(), LooksGrey: theme.LooksDisabled(brand),
		Contrast:    fmt.Sprintf("%.1f", theme.WeakestText(design.Theme())),
		PreviewPath: "/forms/" + f.ID + "/preview?" + designQuery(design, brand).Encode(),
		Settings:    settingsFrom(d.Settings, choices), HasLimit: f.ResponseLimit > 0,
	}
	for _, choice := range form.DesignChoices() {
		options := newDesignOptions(choice, design)
		switch choice.Name {
		case "mood":
			p.Moods = options
		default:
			p.Choices = append(p.Choices, designChoice{choice.Name, designLabels[choice.Name], options})
		}
	}
	for _, name := range []string{"logo", "cover"} {
		p.Pictures = append(p.Pictures, designPicture{name, designLabels[name], designLabels[name+" help"], *design.Value(name)})
	}
	if p.Themes, err = pages.savedThemes(req, d.Design); err != nil {
		return err
	}
	p.ThemeName, p.Rest = req.PostForm.Get("theme"), newThemeRest(f.ID, p.Themes, req.URL.Query())
	style := theme.NewStyles(design.Theme(), ".mini-")
	p.Look = page.Look{Colors: template.CSS(style.CSS), Hash: style.Hash}
	p.Seen = seenSettings{&p.Layout, designSeen(d), view.changed, "/forms/" + f.ID + "/design"}
	p.Style, p.Script, p.Problems, p.NoticeKey = "design.css", "design.js", view.problems, designNotices[req.URL.Query().Get("done")]
	p.Assets = []string{"mini.css"}
	return pages.templates.Render(req, status, "design", p)
}

func newDesignOptions(choice form.DesignChoice, design form.Design) []designOption {
	var options []designOption
	for _, value := range choice.Values {
		options = append(options, designOption{value, designLabels[value], value == design.Choice(choice.Name)})
	}
	return options
}

func designQuery(d form.Design, brand theme.Color) url.Values {
	query := url.Values{}
	for _, name := range designParts {
		query.Set(name, d.Choice(name))
	}
	query.Set("brand", brand.String())
	return query
}

// ChangeDesign saves the design in the draft.
func (pages *Pages) ChangeDesign(req *page.Request) error {
	_, view, err := pages.saveDesign(req)
	if err != nil {
		return err
	}
	if view != nil {
		return pages.renderDesign(req, statusOf(view.changed), *view)
	}
	return req.Redirect("/forms/" + req.PathValue("id") + "/design?done=saved")
}

// saveDesign saves the design that was posted in the draft. If it cannot, view is what the page
// shows.
func (pages *Pages) saveDesign(req *page.Request) (saved form.Design, view *designView, err error) {
	_, err = pages.Store.UpdateForm(req.Context(), req.Owner(), store.FormRevision{ID: req.PathValue("id")}, func(p *form.FormInput) error {
		stored := designSeen(p.Definition)
		p.Definition.Design = designFrom(p.Definition.Design, req.PostForm)
		p.Definition.Settings = settingsFrom(p.Definition.Settings, req.PostForm)
		if err := p.Normalize(); err != nil {
			return err
		}
		saved = p.Definition.Design
		return checkSeen(req, stored, designSeen(p.Definition))
	}, pages.Now())
	if err == nil {
		return saved, nil, nil
	}
	problems, changed, err := settingsProblems(err)
	return saved, &designView{req.PostForm, problems, changed}, err
}
