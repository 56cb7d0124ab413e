package workspace

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/theme"
	"formulary/internal/web/page"
)

// savedTheme is a theme on the design page.
type savedTheme struct {
	ID, Name string
	Mood     string // key of a translation
	Colors   theme.Colors
	Used     bool // the form has this design
}

// savedThemes lists the themes of an account.
func (pages *Pages) savedThemes(req *page.Request, used form.Design) ([]savedTheme, error) {
	themes, _, err := pages.Store.Themes(req.Context(), req.Owner(), store.Page{Limit: store.MaxThemes})
	if err != nil {
		return nil, err
	}
	var list []savedTheme
	for _, t := range themes {
		mood := t.Design.Choice("mood")
		list = append(list, savedTheme{t.ID, t.Name, designLabels[mood], theme.Light(t.Design.Theme()), t.ApplyTo(used) == used})
	}
	return list, nil
}

// SaveTheme saves the design in the draft, and as a theme.
func (pages *Pages) SaveTheme(req *page.Request) error {
	id := req.PathValue("id")
	saved, view, err := pages.saveDesign(req)
	if err != nil {
		return err
	}
	var problems page.Problems
	if view == nil {
		saved.Layout = "" // forms keep theirs
		_, err = pages.Store.AddTheme(req.Context(), req.Owner(), form.Theme{Name: req.Field("theme"), Design: saved}, store.IdempotencyKey{}, pages.Now())
		if problems, err = themeProblems(err); err != nil {
			return err
		}
	}
	if problems != nil {
		view = &designView{choices: req.PostForm, problems: problems}
	}
	if view != nil {
		return pages.renderDesign(req, statusOf(view.changed), *view)
	}
	return req.Redirect("/forms/" + id + "/design?done=theme")
}

// themeProblems returns the problems of a theme by the names of the controls on the page. It
// returns any other error unchanged.
func themeProblems(err error) (page.Problems, error) {
	if err == nil {
		return nil, nil
	}
	list, err := page.NewProblems(err)
	if problem, ok := list["name"]; ok {
		list["theme"] = problem
	}
	return list, err
}

// themeRest is the part of the forms that a theme is still to be applied to.
type themeRest struct {
	Path string // of the request that continues
	Done int64  // forms
}

// newThemeRest returns the rest that a query names, if the theme is in the list.
func newThemeRest(formID string, themes []savedTheme, query url.Values) *themeRest {
	done, err := strconv.ParseInt(query.Get("from"), 10, 32)
	themeID := query.Get("theme")
	if err != nil || done <= 0 || !slices.ContainsFunc(themes, func(t savedTheme) bool { return t.ID == themeID }) {
		return nil
	}
	return &themeRest{"/forms/" + formID + "/design/themes/" + themeID + "/apply", done}
}

// ApplyTheme gives the draft the design of a theme, or all drafts of the owner in batches.
func (pages *Pages) ApplyTheme(req *page.Request) error {
	id, themeID, now := req.PathValue("id"), req.PathValue("theme"), pages.Now()
	if _, err := pages.Store.Form(req.Context(), req.Owner(), id); err != nil {
		return err
	}
	if req.Field("all") != "" {
		from, _ := strconv.ParseInt(req.Field("from"), 10, 32) // 0 if it is missing
		next, err := pages.Store.ApplyTheme(req.Context(), req.Owner(), themeID, max(0, from), now)
		if err != nil {
			return err
		}
		if next > 0 {
			return req.Redirect("/forms/" + id + "/design?" + url.Values{"theme": {themeID}, "from": {strconv.FormatInt(next, 10)}}.Encode())
		}
		return req.Redirect("/forms/" + id + "/design?done=all")
	}
	t, err := pages.Store.Theme(req.Context(), req.Owner(), themeID)
	if err != nil {
		return err
	}
	if _, err := pages.Store.UpdateForm(req.Context(), req.Owner(), store.FormRevision{ID: id}, func(p *form.FormInput) error {
		p.Definition.Design = t.ApplyTo(p.Definition.Design)
		return nil
	}, now); err != nil {
		return err
	}
	return req.Redirect("/forms/" + id + "/design?done=applied")
}

// RenameTheme gives a theme another name.
func (pages *Pages) RenameTheme(req *page.Request) error {
	_, err := pages.Store.UpdateTheme(req.Context(), req.Owner(), req.PathValue("theme"), func(t *form.Theme) { t.Name = req.Field("name") }, pages.Now())
	problems, err := themeProblems(err)
	if err != nil {
		return err
	}
	if problems != nil {
		return pages.renderDesign(req, http.StatusUnprocessableEntity, designView{problems: page.Problems{"rename": problems["theme"]}})
	}
	return req.Redirect("/forms/" + req.PathValue("id") + "/design?done=renamed")
}

// DeleteTheme deletes a theme. Forms keep their design.
func (pages *Pages) DeleteTheme(req *page.Request) error {
	if err := pages.Store.DeleteTheme(req.Context(), req.Owner(), req.PathValue("theme")); err != nil {
		return err
	}
	return req.Redirect("/forms/" + req.PathValue("id") + "/design?done=deleted")
}
