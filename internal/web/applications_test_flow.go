package web

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
)

// testFlowPage shows the whole flow of an application, run against the account of the
// person who registered it, step by step.
type testFlowPage struct {
	layout
	App   account.Application
	Steps []testFlowStep
	Over  bool // every step went well
}

type testFlowStep struct {
	Name   string
	Asked  string // the request, as the application would send it
	Answer string
	Failed bool
}

// testApplication is what an application does, done by the same rules: consent, a
// code, tokens, two calls, a refresh, and at the end everything is given back.
// Pressing the button is the person's consent; the secret is not needed, as the
// person stands in for it.
func (web *Handler) testApplication(v *pageRequest) error {
	app, _, err := web.Store.App(v.ctx(), v.user.ID, v.r.PathValue("id"))
	if err != nil {
		return err
	}
	p := &testFlowPage{layout: layout{Title: app.Name, Here: "applications"}, App: app}
	t := &testFlow{web: web, v: v, app: app, page: p}
	p.Over = t.run()
	return web.render(v, http.StatusOK, "test-flow", p)
}

// testFlow runs the flow; a step that fails ends it.
type testFlow struct {
	web  *Handler
	v    *pageRequest
	app  account.Application
	page *testFlowPage
}

func (t *testFlow) step(name, asked string, do func() (any, error)) bool {
	s := testFlowStep{Name: name, Asked: asked}
	out, err := do()
	if err != nil {
		e := fault.Wrap(err)
		s.Failed, out = true, map[string]any{"errorCode": int(e.Code), "message": e.Message}
	}
	if text, ok := out.(string); ok {
		s.Answer = text
	} else if text, err := json.MarshalIndent(out, "", "  "); err == nil {
		s.Answer = string(text)
	}
	t.page.Steps = append(t.page.Steps, s)
	return !s.Failed
}

// masked shows what a secret is, and not the secret.
func masked(secret string) string {
	if len(secret) < 12 {
		return "…"
	}
	return secret[:8] + "…"
}

// tokenAnswer is what the token endpoint says, without the tokens themselves.
func tokenAnswer(token oauth.Token) map[string]any {
	return map[string]any{
		"access_token": masked(token.Access), "refresh_token": masked(token.Refresh), "token_type": "Bearer",
		"expires_in": token.ExpiresIn, "scope": token.Scopes.String(), "user": token.User,
	}
}

func (t *testFlow) run() bool {
	ctx, base := t.v.ctx(), t.web.BaseURL
	verifier := rand.Text() + rand.Text()
	redirect := t.app.RedirectURIs[0]
	query := url.Values{
		"response_type": {"code"}, "client_id": {t.app.ID}, "redirect_uri": {redirect}, "scope": {t.app.Scopes.String()}, "state": {"try"},
		"code_challenge": {account.Challenge(verifier)}, "code_challenge_method": {"S256"},
	}.Encode()
	var code string
	if !t.step("Redirect the user to the authorization page", "GET "+base+"/authorize?"+query, func() (any, error) {
		request, refused, err := t.web.OAuth.Parse(ctx, query)
		if err != nil {
			return nil, err
		}
		if refused != nil {
			return nil, fault.New(fault.BadRequest, "%s", refused.Error)
		}
		ticket, err := t.web.OAuth.BeginConsent(ctx, t.v.user.ID, request)
		if err != nil {
			return nil, err
		}
		to, err := t.web.OAuth.CompleteConsent(ctx, t.v.user.ID, ticket, true)
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
		token, err = t.web.OAuth.Exchange(ctx, t.app, code, redirect, verifier)
		return tokenAnswer(token), err
	}) {
		return false
	}
	if !t.step("Get the current user", "GET "+base+"/api/v1/me", func() (any, error) {
		caller, err := t.web.OAuth.Authenticate(ctx, token.Access)
		return map[string]string{"id": caller.User.ID, "email": caller.User.Email, "scope": caller.Scopes.String()}, err
	}) {
		return false
	}
	if t.app.Scopes.Has(account.FormsRead) && !t.step("List forms", "GET "+base+"/api/v1/forms?per_page=3", func() (any, error) {
		forms, total, err := t.web.Store.Forms(ctx, t.v.owner(), store.FormFilter{}, store.NewestFirst, store.Page{Limit: 3})
		titles := []string{}
		for _, f := range forms {
			titles = append(titles, f.Title)
		}
		return map[string]any{"total_items": total, "titles": titles}, err
	}) {
		return false
	}
	if !t.step("Refresh the access token", "POST "+base+"/api/oauth2/refresh -d grant_type=refresh_token -d refresh_token="+masked(token.Refresh)+" -d client_id="+t.app.ID+secret, func() (any, error) {
		next, err := t.web.OAuth.Refresh(ctx, t.app, token.Refresh, "")
		if err == nil {
			token = next
		}
		return tokenAnswer(next), err
	}) {
		return false
	}
	return t.step("Revoke the tokens", "POST "+base+"/api/oauth2/revoke -d token="+masked(token.Refresh), func() (any, error) {
		return "200", t.web.OAuth.Revoke(ctx, t.app, token.Refresh)
	})
}
