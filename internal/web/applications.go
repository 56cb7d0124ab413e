package web

import (
	"crypto/rand"
	"net/http"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/store"
)

type applicationsPage struct {
	layout
	Apps []account.Application
}

// applicationPage registers an application or shows one to change.
type applicationPage struct {
	layout
	App       account.Application
	URIs      string // one a line
	New       bool
	Nonce     string // of a new one: sending the form twice registers once
	Secrets   []account.AppSecret
	Secret    string // a new one: shown this once
	Choices   []scopeChoice
	Authorize string // an address to start with
	TokenURL  string
	Base      string
	Redirect  string
	Calls     []store.RequestLogEntry // the last ones, the newest first
}

type scopeChoice struct {
	Scope  account.Scope
	Words  string
	Chosen bool
}

func choices(chosen account.Scopes) []scopeChoice {
	list := make([]scopeChoice, len(account.ScopeList))
	for i, known := range account.ScopeList {
		list[i] = scopeChoice{known.Scope, known.Description, chosen.Has(known.Scope)}
	}
	return list
}

func (web *Handler) listApplications(v *pageRequest) error {
	apps, err := web.Store.Apps(v.ctx(), v.user.ID)
	if err != nil {
		return err
	}
	p := &applicationsPage{layout{title: "Applications", Here: "applications"}, apps}
	if v.r.URL.Query().Get("saved") == "deleted" {
		p.notice = "Application deleted."
	}
	return web.render(v, http.StatusOK, "applications", p)
}

func (web *Handler) newApplication(v *pageRequest) error {
	app := account.Application{Scopes: account.Scopes{account.FormsRead, account.ResponsesRead}}
	p := web.applicationPage(app, nil, true)
	p.Nonce = rand.Text()
	return web.render(v, http.StatusOK, "application", p)
}

func (web *Handler) applicationPage(app account.Application, secrets []account.AppSecret, fresh bool) *applicationPage {
	p := &applicationPage{
		layout: layout{Title: app.Name, Here: "applications"},
		App:    app, URIs: strings.Join(app.RedirectURIs, "\n"), New: fresh, Secrets: secrets, Choices: choices(app.Scopes),
		TokenURL: web.BaseURL + "/api/oauth2/token", Base: web.BaseURL,
	}
	if fresh {
		p.title = "New application"
	}
	if len(app.RedirectURIs) > 0 {
		p.Redirect = app.RedirectURIs[0]
		p.Authorize = account.AddQuery(web.BaseURL+"/authorize", map[string][]string{
			"response_type": {"code"}, "client_id": {app.ID}, "redirect_uri": {app.RedirectURIs[0]},
			"scope": {app.Scopes.String()}, "state": {"anything"},
		}, "response_type", "client_id", "redirect_uri", "scope", "state")
	}
	return p
}

// registration reads the form of an application.
func registration(v *pageRequest, app *account.Application) {
	app.Name = v.field("name")
	app.RedirectURIs = nil
	for _, line := range strings.FieldsFunc(v.field("redirect_uris"), func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); line != "" {
			app.RedirectURIs = append(app.RedirectURIs, line)
		}
	}
	app.Scopes, _ = account.ParseScopes(strings.Join(v.r.PostForm["scope"], ","))
	app.SendIssuer = v.field("send_issuer") != ""
}

func (web *Handler) createApplication(v *pageRequest) error {
	now := web.Now()
	app := account.Application{
		Account: v.user.ID, ID: id.New(id.App, now), Public: v.field("kind") == "public", CreatedAt: now,
	}
	registration(v, &app)
	nonce := v.field("nonce")
	if len(nonce) > 100 || !account.IsSingleLine(nonce) {
		nonce = ""
	}
	if err := app.Check(); err != nil {
		p := web.applicationPage(app, nil, true)
		p.Nonce = nonce
		return web.applicationProblem(v, p, err)
	}
	var text, hash string
	if !app.Public {
		text, hash = account.NewClientSecret()
	}
	earlier, err := web.Store.AddApp(v.ctx(), app, hash, store.IdempotencyKey{App: "console", Key: nonce})
	if err != nil {
		return err
	}
	if earlier != "" {
		return web.redirect(v, "/applications/"+earlier+"?saved=already")
	}
	if app.Public {
		return web.redirect(v, "/applications/"+app.ID+"?saved=created")
	}
	return web.showWithSecret(v, app.ID, text)
}

// showWithSecret shows an application with a secret that only this answer has.
func (web *Handler) showWithSecret(v *pageRequest, id, secret string) error {
	app, secrets, err := web.Store.App(v.ctx(), v.user.ID, id)
	if err != nil {
		return err
	}
	p := web.applicationPage(app, secrets, false)
	p.Secret = secret
	return web.render(v, http.StatusOK, "application", p)
}

func (web *Handler) applicationProblem(v *pageRequest, p *applicationPage, err error) error {
	list, err := newProblems(err)
	if err != nil {
		return err
	}
	p.problems = list
	if posted := v.field("redirect_uris"); posted != "" {
		p.URIs = posted
	}
	return web.render(v, http.StatusUnprocessableEntity, "application", p)
}

var applicationNotices = map[string]string{
	"created":  "Application registered.",
	"already":  "This application is already registered. If you did not copy its secret, add a new one below.",
	"changed":  "Changes saved.",
	"dropped":  "Secret deleted.",
	"disabled": "Application disabled. Its tokens no longer work.",
	"enabled":  "Application enabled.",
}

func (web *Handler) showApplication(v *pageRequest) error {
	app, secrets, err := web.Store.App(v.ctx(), v.user.ID, v.r.PathValue("id"))
	if err != nil {
		return err
	}
	p := web.applicationPage(app, secrets, false)
	if p.Calls, err = web.Store.RecentRequests(v.ctx(), v.user.ID, app.ID); err != nil {
		return err
	}
	p.notice = applicationNotices[v.r.URL.Query().Get("saved")]
	return web.render(v, http.StatusOK, "application", p)
}

func (web *Handler) changeApplication(v *pageRequest) error {
	app, secrets, err := web.Store.App(v.ctx(), v.user.ID, v.r.PathValue("id"))
	if err != nil {
		return err
	}
	registration(v, &app)
	if err := app.Check(); err != nil {
		return web.applicationProblem(v, web.applicationPage(app, secrets, false), err)
	}
	if err := web.Store.UpdateApp(v.ctx(), app); err != nil {
		return err
	}
	return web.redirect(v, "/applications/"+app.ID+"?saved=changed")
}

func (web *Handler) rotateSecret(v *pageRequest) error {
	app, secrets, err := web.Store.App(v.ctx(), v.user.ID, v.r.PathValue("id"))
	if err != nil {
		return err
	}
	if app.Public {
		return fault.New(fault.BadRequest, "Public applications have no client secret.")
	}
	text, hash := account.NewClientSecret()
	if err := web.Store.AddSecret(v.ctx(), v.user.ID, app.ID, hash, web.Now()); err != nil {
		return web.applicationProblem(v, web.applicationPage(app, secrets, false), err)
	}
	return web.showWithSecret(v, app.ID, text)
}

// changeAndShow does something to an application and goes back to its page.
func (web *Handler) changeAndShow(v *pageRequest, saved string, change func(owner, id string) error) error {
	id := v.r.PathValue("id")
	if err := change(v.user.ID, id); err != nil {
		return err
	}
	return web.redirect(v, "/applications/"+id+"?saved="+saved)
}

func (web *Handler) deleteSecret(v *pageRequest) error {
	return web.changeAndShow(v, "dropped", func(owner, id string) error {
		return web.Store.DeleteSecret(v.ctx(), owner, id, v.r.PathValue("secret"))
	})
}

func (web *Handler) disableApplication(v *pageRequest) error {
	return web.changeAndShow(v, "disabled", func(owner, id string) error {
		return web.Store.SetAppDisabled(v.ctx(), owner, id, true, web.Now())
	})
}

func (web *Handler) enableApplication(v *pageRequest) error {
	return web.changeAndShow(v, "enabled", func(owner, id string) error {
		return web.Store.SetAppDisabled(v.ctx(), owner, id, false, web.Now())
	})
}

func (web *Handler) deleteApplication(v *pageRequest) error {
	if err := web.Store.DeleteApp(v.ctx(), v.user.ID, v.r.PathValue("id")); err != nil {
		return err
	}
	return web.redirect(v, "/applications?saved=deleted")
}
