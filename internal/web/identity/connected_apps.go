package identity

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

type connectedAppsPage struct {
	page.Layout
	Apps []connectedApp
}

// connectedApp is an application with the grants that the user gave it.
type connectedApp struct {
	App account.Application
	registrant
	Grants []connectedGrant
	More   int // grants that are not listed
}

// connectedGrant is a grant with the names of what it is limited to.
type connectedGrant struct {
	store.Grant
	Forms     []store.FormTitle
	MoreForms int
	LastDay   time.Time // zero: it has no end
}

const (
	maxListedGrants     = 20 // of an application, those used last
	maxFormsInListEntry = 10 // of a grant
)

// lastDay is a time on the last day of a grant; zero: it has no end.
func lastDay(limits store.GrantLimits) time.Time {
	if limits.Ends.IsZero() {
		return limits.Ends
	}
	return limits.Ends.Add(-time.Second)
}

// ListConnectedApps lists the applications with access to the account, each with its grants.
func (pages *Pages) ListConnectedApps(req *page.Request) error {
	list, err := pages.OAuth.Grants(req.Context(), req.User.ID)
	if err != nil {
		return err
	}
	p := &connectedAppsPage{Layout: page.Layout{TitleKey: "Connected apps", Section: "connections", Style: "grants.css"}}
	titles, err := pages.titlesOf(req, list)
	if err != nil {
		return err
	}
	for _, g := range list {
		n := len(p.Apps)
		if n == 0 || p.Apps[n-1].App.ID != g.App.ID {
			p.Apps = append(p.Apps, connectedApp{App: g.App, registrant: pages.registrantFor(req, g.App, g.Developer)})
			n++
		}
		app := &p.Apps[n-1]
		if len(app.Grants) == maxListedGrants {
			app.More++
			continue
		}
		shown := connectedGrant{Grant: g, LastDay: lastDay(g.Limits)}
		for _, formID := range g.Limits.Forms {
			title, ok := titles[formID]
			switch {
			case !ok: // deleted
			case len(shown.Forms) == maxFormsInListEntry:
				shown.MoreForms++
			default:
				shown.Forms = append(shown.Forms, store.FormTitle{ID: formID, Title: title})
			}
		}
		app.Grants = append(app.Grants, shown)
	}
	switch req.URL.Query().Get("saved") {
	case "disconnected":
		p.NoticeKey = "Disconnected. The app no longer has access to your account."
	case "narrowed":
		p.NoticeKey = "Access changed."
	}
	return pages.templates.Render(req, http.StatusOK, "connected-apps", p)
}

// titlesOf returns the titles of all forms of grants, by ID.
func (pages *Pages) titlesOf(req *page.Request, grants []store.Grant) (map[string]string, error) {
	forms := map[string][]string{}
	for _, g := range grants {
		if g.Limits.SomeForms {
			forms[g.Limits.Space] = append(forms[g.Limits.Space], g.Limits.Forms...)
		}
	}
	titles := map[string]string{}
	for space, list := range forms {
		access, err := pages.Store.Access(req.Context(), req.User.ID, space)
		if errors.Is(err, fault.NotFound) {
			continue // they are leaving it
		}
		if err != nil {
			return nil, err
		}
		found, err := pages.Store.FormTitles(req.Context(), access, list)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			titles[f.ID] = f.Title
		}
	}
	return titles, nil
}

// Disconnect removes the access of an application, or one grant of it.
func (pages *Pages) Disconnect(req *page.Request) error {
	end, prefix := pages.OAuth.Disconnect, id.App
	if strings.HasPrefix(req.PathValue("id"), id.Consent) {
		end, prefix = pages.OAuth.EndGrant, id.Consent
	}
	if _, ok := id.Parse(prefix, req.PathValue("id")); !ok {
		return fault.NotFound
	}
	// A second click finds it disconnected already.
	if err := end(req.Context(), req.User.ID, req.PathValue("id")); err != nil && !errors.Is(err, fault.NotFound) {
		return err
	}
	return req.Redirect("/connections?saved=disconnected")
}

// grantPage shows one grant, which the user can limit further.
type grantPage struct {
	page.Layout
	Grant   store.Grant
	LastDay time.Time // zero: it has no end
	Limits  limitChoice
}

// ShowGrant shows one grant of the user.
func (pages *Pages) ShowGrant(req *page.Request) error {
	grant, err := pages.OAuth.Grant(req.Context(), req.User.ID, req.PathValue("id"))
	if err != nil {
		return err
	}
	return pages.renderGrant(req, http.StatusOK, grant, grant.Limits, nil)
}

// NarrowGrant limits a grant further, or shows the page with other forms to choose from.
func (pages *Pages) NarrowGrant(req *page.Request) error {
	grant, err := pages.OAuth.Grant(req.Context(), req.User.ID, req.PathValue("id"))
	if err != nil {
		return err
	}
	limits, problems, err := pages.readLimits(req)
	if err != nil {
		return err
	}
	limits.Space = grant.Limits.Space
	if ends := grant.Limits.Ends; !ends.IsZero() && limits.Ends.After(ends) {
		problems["until"] = errLaterDate
	}
	if req.Field("answer") == "show" {
		return pages.renderGrant(req, http.StatusOK, grant, limits, nil)
	}
	if limits.SomeForms && len(limits.Forms) == 0 && !grant.Scopes.Has(account.FormsWrite) {
		problems["form"] = errNoForms
	}
	if len(problems) > 0 {
		return pages.renderGrant(req, http.StatusUnprocessableEntity, grant, limits, problems)
	}
	choice, err := pages.Store.GrantChoice(req.Context(), req.User.ID, limits)
	if err != nil {
		return err
	}
	if err := pages.Store.NarrowGrant(req.Context(), req.User.ID, grant.ID, choice, pages.Now()); err != nil {
		return err
	}
	return req.Redirect("/connections?saved=narrowed")
}

func (pages *Pages) renderGrant(req *page.Request, status int, grant store.Grant, limits store.GrantLimits, problems page.Problems) error {
	access, err := pages.Store.Access(req.Context(), req.User.ID, grant.Limits.Space)
	if err != nil {
		return err
	}
	if grant.Limits.SomeForms {
		access = access.Limit(grant.Limits.Forms)
	}
	p := &grantPage{
		Layout: page.Layout{Title: grant.App.Name, Section: "connections", Style: "grants.css", Problems: problems},
		Grant:  grant, LastDay: lastDay(grant.Limits),
	}
	if p.Limits, err = pages.newLimitChoice(req, access, limits); err != nil {
		return err
	}
	p.Limits.OnlySome = grant.Limits.SomeForms
	if !grant.Limits.Ends.IsZero() {
		p.Limits.To = lastDay(grant.Limits).In(page.LoadZone(req.User.TimeZone)).Format(dateFormat)
		if req.Method != http.MethodPost {
			p.Limits.Until = p.Limits.To
		}
	}
	return pages.templates.Render(req, status, "grant", p)
}
