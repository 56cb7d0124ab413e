package identity

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/oauth"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// oauthFlowPage shows the OAuth flow of an application step by step.
type oauthFlowPage struct {
	page.Layout
	App       account.Application
	Steps     []oauthFlowStep
	Succeeded bool
}

type oauthFlowStep struct {
	Name     string
	Request  string // as the application would send it
	Response string
	Failed   bool
}

// TryApplication runs the OAuth flow of an application with the account of the user who
// registered it: consent, code, tokens, two requests, refresh, revocation. Clicking the
// button is the consent. The client secret is not needed, because the user owns the
// application.
func (pages *Pages) TryApplication(req *page.Request) error {
	app, _, err := pages.Store.App(req.Context(), req.User.ID, req.PathValue("id"))
	if err != nil {
		return err
	}
	p := &oauthFlowPage{Layout: page.Layout{Title: app.Name, Section: "applications"}, App: app}
	flow := &oauthFlow{pages: pages, req: req, app: app, page: p}
	p.Succeeded = flow.run()
	return pages.templates.Render(req, http.StatusOK, "oauth-flow", p)
}

// oauthFlow runs the steps; the first that fails is the last.
type oauthFlow struct {
	pages *Pages
	req   *page.Request
	app   account.Application
	page  *oauthFlowPage
}

func (t *oauthFlow) step(name, request string, run func() (any, error)) bool {
	s := oauthFlowStep{Name: name, Request: request}
	out, err := run()
	if err != nil {
		e := fault.Wrap(err)
		s.Failed, out = true, map[string]any{"errorCode": int(e.Code), "message": e.Message}
	}
	if text, ok := out.(string); ok {
		s.Response = text
	} else if text, err := json.MarshalIndent(out, "", "  "); err == nil {
		s.Response = string(text)
	}
	t.page.Steps = append(t.page.Steps, s)
	return !s.Failed
}

// masked returns the type of a secret without the secret itself.
func masked(secret string) string {
	if len(secret) < 12 {
		return "…"
	}
	return secret[:8] + "…"
}

// tokenResponse is the response of the token endpoint without the tokens.
func tokenResponse(token oauth.Token) map[string]any {
	return map[string]any{
		"access_token": masked(token.Access), "refresh_token": masked(token.Refresh), "token_type": "Bearer",
		"expires_in": token.ExpiresIn, "scope": token.Scopes.String(), "user": token.User,
	}
}

func (t *oauthFlow) run() bool {
	ctx, base := t.req.Context(), t.pages.Site.BaseURL
	verifier := rand.Text() + rand.Text()
	redirect := t.app.RedirectURIs[0]
	query := url.Values{
		"response_type": {"code"}, "client_id": {t.app.ID}, "redirect_uri": {redirect}, "scope": {t.app.Scopes.String()}, "state": {"try"},
		"code_challenge": {account.Challenge(verifier)}, "code_challenge_method": {"S256"},
	}.Encode()
	var code string
	if !t.step("Redirect the user to the authorization page", "GET "+base+"/authorize?"+query, func() (any, error) {
		request, refused, err := t.pages.OAuth.Parse(ctx, query)
		if err != nil {
			return nil, err
		}
		if refused != nil {
			return nil, fault.New(fault.BadRequest, "%s", refused.Error)
		}
		consentRequest, err := t.pages.OAuth.BeginConsent(ctx, t.req.User.ID, request)
		if err != nil {
			return nil, err
		}
		to, err := t.pages.OAuth.CompleteConsent(ctx, t.req.User.ID, consentRequest, oauth.Decision{Allow: true})
		if err != nil {
			return nil, err
		}
		u, err := url.Parse(to)
		if err != nil {
			return nil, err
		}
		code = u.Query().Get("code")
		return "303 " + strings.Replace(to, url.QueryEscape(code), masked(code), 1), nil
	}) {
		return false
	}
	secret := " -d client_secret=…"
	if t.app.Public {
		secret = ""
	}
	var token oauth.Token
	if !t.step("Exchange the code for tokens", "POST "+base+"/api/oauth2/token -d grant_type=authorization_code -d code="+masked(code)+" -d client_id="+t.app.ID+secret+" -d code_verifier=…", func() (any, error) {
		var err error
		token, err = t.pages.OAuth.Exchange(ctx, t.app, code, redirect, verifier)
		return tokenResponse(token), err
	}) {
		return false
	}
	if !t.step("Get the current user", "GET "+base+"/api/v1/me", func() (any, error) {
		principal, err := t.pages.OAuth.Authenticate(ctx, token.Access)
		return map[string]string{"id": principal.User.ID, "email": principal.User.Email, "scope": principal.Scopes.String()}, err
	}) {
		return false
	}
	if t.app.Scopes.Has(account.FormsRead) && !t.step("List forms", "GET "+base+"/api/v1/forms?per_page=3", func() (any, error) {
		forms, total, err := t.pages.Store.Forms(ctx, t.req.Owner(), store.FormFilter{}, store.NewestFirst, store.Page{Limit: 3})
		titles := []string{}
		for _, f := range forms {
			titles = append(titles, f.Title)
		}
		return map[string]any{"total_items": total, "titles": titles}, err
	}) {
		return false
	}
	if !t.step("Refresh the access token", "POST "+base+"/api/oauth2/refresh -d grant_type=refresh_token -d refresh_token="+masked(token.Refresh)+" -d client_id="+t.app.ID+secret, func() (any, error) {
		next, err := t.pages.OAuth.Refresh(ctx, t.app, token.Refresh, "")
		if err == nil {
			token = next
		}
		return tokenResponse(next), err
	}) {
		return false
	}
	return t.step("Revoke the tokens", "POST "+base+"/api/oauth2/revoke -d token="+masked(token.Refresh), func() (any, error) {
		return "200", t.pages.OAuth.Revoke(ctx, t.app, token.Refresh)
	})
}
