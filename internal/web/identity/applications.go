package identity

import (
	"crypto/rand"
	"net/http"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

type applicationsPage struct {
	page.Layout
	Apps []account.Application
}

// applicationPage registers an application or shows one to change.
type applicationPage struct {
	page.Layout
	App       account.Application
	URIs      string // one per line
	New       bool
	Nonce     string // idempotency key of a registration
	Secrets   []account.AppSecret
	Secret    string // a new client secret, shown only now
	Choices   []scopeChoice
	Authorize string // an example of an authorization URL
	TokenURL  string
	Base      string
	Redirect  string
	Requests  []store.RequestLogEntry // to the API, newest first
}

type scopeChoice struct {
	Scope       account.Scope
	Description string
	Chosen      bool
}

func scopeChoices(chosen account.Scopes) []scopeChoice {
	list := make([]scopeChoice, len(account.ScopeList))
	for i, known := range account.ScopeList {
		list[i] = scopeChoice{known.Scope, known.Description, chosen.Has(known.Scope)}
	}
	return list
}

// ListApplications lists the applications that the user registered.
func (pages *Pages) ListApplications(req *page.Request) error {
	apps, err := pages.Store.Apps(req.Context(), req.User.ID)
	if err != nil {
		return err
	}
	p := &applicationsPage{page.Layout{TitleKey: "Applications", Section: "applications"}, apps}
	if req.URL.Query().Get("saved") == "deleted" {
		p.NoticeKey = "Application deleted."
	}
	return pages.templates.Render(req, http.StatusOK, "applications", p)
}

// NewApplication shows the form that registers an application.
func (pages *Pages) NewApplication(req *page.Request) error {
	app := account.Application{Scopes: account.Scopes{account.FormsRead, account.ResponsesRead}}
	p := pages.newApplicationPage(app, nil, true)
	p.Nonce = rand.Text()
	return pages.templates.Render(req, http.StatusOK, "application", p)
}

func (pages *Pages) newApplicationPage(app account.Application, secrets []account.AppSecret, fresh bool) *applicationPage {
	p := &applicationPage{
		Layout: page.Layout{Title: app.Name, Section: "applications"},
		App:    app, URIs: strings.Join(app.RedirectURIs, "\n"), New: fresh, Secrets: secrets, Choices: scopeChoices(app.Scopes),
		TokenURL: pages.Site.BaseURL + "/api/oauth2/token", Base: pages.Site.BaseURL,
	}
	if fresh {
		p.TitleKey = "New application"
	}
	if len(app.RedirectURIs) > 0 {
		p.Redirect = app.RedirectURIs[0]
		p.Authorize = account.AddQuery(pages.Site.BaseURL+"/authorize", map[string][]string{
			"response_type": {"code"}, "client_id": {app.ID}, "redirect_uri": {app.RedirectURIs[0]},
			"scope": {app.Scopes.String()}, "state": {"anything"},
		}, "response_type", "client_id", "redirect_uri", "scope", "state")
	}
	return p
}

// readRegistration reads the posted form into an application.
func readRegistration(req *page.Request, app *account.Application) {
	app.Name = req.Field("name")
	app.RedirectURIs = nil
	for _, line := range strings.FieldsFunc(req.Field("redirect_uris"), func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); line != "" {
			app.RedirectURIs = append(app.RedirectURIs, line)
		}
	}
	app.Scopes, _ = account.ParseScopes(strings.Join(req.PostForm["scope"], ","))
	app.SendIssuer = req.Field("send_issuer") != ""
}

// CreateApplication registers an application.
func (pages *Pages) CreateApplication(req *page.Request) error {
	now := pages.Now()
	app := account.Application{
		Account: req.User.ID, ID: id.New(id.App, now), Public: req.Field("kind") == "public", CreatedAt: now,
	}
	readRegistration(req, &app)
	nonce := req.Field("nonce")
	if len(nonce) > 100 || !account.IsSingleLine(nonce) {
		nonce = ""
	}
	if err := app.Check(); err != nil {
		p := pages.newApplicationPage(app, nil, true)
		p.Nonce = nonce
		return pages.renderApplicationProblems(req, p, err)
	}
	var text, hash string
	if !app.Public {
		text, hash = account.NewClientSecret()
	}
	earlier, err := pages.Store.AddApp(req.Context(), app, hash, store.IdempotencyKey{App: "console", Key: nonce})
	if err != nil {
		return err
	}
	if earlier != "" {
		return req.Redirect("/applications/" + earlier + "?saved=already")
	}
	if app.Public {
		return req.Redirect("/applications/" + app.ID + "?saved=created")
	}
	return pages.showWithSecret(req, app.ID, text)
}

// showWithSecret shows an application with a new client secret, which is not stored and
// cannot be shown again.
func (pages *Pages) showWithSecret(req *page.Request, id, secret string) error {
	app, secrets, err := pages.Store.App(req.Context(), req.User.ID, id)
	if err != nil {
		return err
	}
	p := pages.newApplicationPage(app, secrets, false)
	p.Secret = secret
	return pages.templates.Render(req, http.StatusOK, "application", p)
}

func (pages *Pages) renderApplicationProblems(req *page.Request, p *applicationPage, err error) error {
	list, err := page.NewProblems(err)
	if err != nil {
		return err
	}
	p.Problems = list
	if posted := req.Field("redirect_uris"); posted != "" {
		p.URIs = posted
	}
	return pages.templates.Render(req, http.StatusUnprocessableEntity, "application", p)
}

var applicationNotices = map[string]string{
	"created":  "Application registered.",
	"already":  "This application is already registered. If you did not copy its secret, add a new one below.",
	"changed":  "Changes saved.",
	"dropped":  "Secret deleted.",
	"disabled": "Application disabled. Its tokens no longer work.",
	"enabled":  "Application enabled.",
}

// ShowApplication shows an application and its latest requests.
func (pages *Pages) ShowApplication(req *page.Request) error {
	app, secrets, err := pages.Store.App(req.Context(), req.User.ID, req.PathValue("id"))
	if err != nil {
		return err
	}
	p := pages.newApplicationPage(app, secrets, false)
	if p.Requests, err = pages.Store.RecentRequests(req.Context(), req.User.ID, app.ID); err != nil {
		return err
	}
	p.NoticeKey = applicationNotices[req.URL.Query().Get("saved")]
	return pages.templates.Render(req, http.StatusOK, "application", p)
}

// ChangeApplication saves the settings of an application.
func (pages *Pages) ChangeApplication(req *page.Request) error {
	app, secrets, err := pages.Store.App(req.Context(), req.User.ID, req.PathValue("id"))
	if err != nil {
		return err
	}
	readRegistration(req, &app)
	if err := app.Check(); err != nil {
		return pages.renderApplicationProblems(req, pages.newApplicationPage(app, secrets, false), err)
	}
	if err := pages.Store.UpdateApp(req.Context(), app); err != nil {
		return err
	}
	return req.Redirect("/applications/" + app.ID + "?saved=changed")
}

// AddSecret adds a client secret; the earlier one stays valid until it is deleted.
func (pages *Pages) AddSecret(req *page.Request) error {
	app, secrets, err := pages.Store.App(req.Context(), req.User.ID, req.PathValue("id"))
	if err != nil {
		return err
	}
	if app.Public {
		return fault.New(fault.BadRequest, "Public applications have no client secret.")
	}
	text, hash := account.NewClientSecret()
	if err := pages.Store.AddSecret(req.Context(), req.User.ID, app.ID, hash, pages.Now()); err != nil {
		return pages.renderApplicationProblems(req, pages.newApplicationPage(app, secrets, false), err)
	}
	return pages.showWithSecret(req, app.ID, text)
}

// changeAndShow changes an application and redirects to its page.
func (pages *Pages) changeAndShow(req *page.Request, saved string, change func(userID, id string) error) error {
	id := req.PathValue("id")
	if err := change(req.User.ID, id); err != nil {
		return err
	}
	return req.Redirect("/applications/" + id + "?saved=" + saved)
}

// DeleteSecret deletes a client secret.
func (pages *Pages) DeleteSecret(req *page.Request) error {
	return pages.changeAndShow(req, "dropped", func(userID, id string) error {
		return pages.Store.DeleteSecret(req.Context(), userID, id, req.PathValue("secret"))
	})
}

// DisableApplication stops the tokens of an application.
func (pages *Pages) DisableApplication(req *page.Request) error {
	return pages.changeAndShow(req, "disabled", func(userID, id string) error {
		return pages.Store.SetAppDisabled(req.Context(), userID, id, true, pages.Now())
	})
}

// EnableApplication makes the tokens of an application work again.
func (pages *Pages) EnableApplication(req *page.Request) error {
	return pages.changeAndShow(req, "enabled", func(userID, id string) error {
		return pages.Store.SetAppDisabled(req.Context(), userID, id, false, pages.Now())
	})
}

// DeleteApplication deletes an application and its tokens.
func (pages *Pages) DeleteApplication(req *page.Request) error {
	if err := pages.Store.DeleteApp(req.Context(), req.User.ID, req.PathValue("id"), pages.Now()); err != nil {
		return err
	}
	return req.Redirect("/applications?saved=deleted")
}
