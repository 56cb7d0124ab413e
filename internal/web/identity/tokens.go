package identity

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/mail"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// tokensPage lists the personal tokens of the user and creates new ones.
type tokensPage struct {
	page.Layout
	Tokens  []listedToken
	Secret  string // a new token, shown only now
	Base    string
	Name    string
	Days    int
	Periods []tokenPeriod
	Choices []scopeChoice
}

type listedToken struct {
	store.PersonalToken
	Expired bool
}

type tokenPeriod struct {
	Days  int
	Until time.Time
}

// tokenPeriods are the days after which a personal token can expire.
var tokenPeriods = []int{7, 30, 90, 180, 365}

const (
	defaultTokenPeriod = 90
	maxTokenName       = 100
)

func (pages *Pages) newTokensPage(req *page.Request, scopes account.Scopes) (*tokensPage, error) {
	list, err := pages.Store.PersonalTokens(req.Context(), req.User.ID)
	if err != nil {
		return nil, err
	}
	p := &tokensPage{
		Layout: page.Layout{TitleKey: "Personal tokens", Section: "applications"},
		Base:   pages.Site.BaseURL, Days: defaultTokenPeriod, Choices: scopeChoices(scopes),
	}
	now := pages.Now()
	for _, days := range tokenPeriods {
		p.Periods = append(p.Periods, tokenPeriod{days, now.AddDate(0, 0, days)})
	}
	for _, t := range list {
		p.Tokens = append(p.Tokens, listedToken{t, !now.Before(t.ExpiresAt)})
	}
	return p, nil
}

// ListTokens lists the personal tokens of the user.
func (pages *Pages) ListTokens(req *page.Request) error {
	p, err := pages.newTokensPage(req, account.Scopes{account.FormsRead, account.ResponsesRead})
	if err != nil {
		return err
	}
	if req.URL.Query().Get("saved") == "revoked" {
		p.NoticeKey = "Token revoked. It no longer works."
	}
	return pages.templates.Render(req, http.StatusOK, "tokens", p)
}

// CreateToken creates a personal token and shows it once. It asks for the password, because a
// token outlives the session.
func (pages *Pages) CreateToken(req *page.Request) error {
	now := pages.Now()
	token := store.PersonalToken{Name: strings.TrimSpace(req.Field("name")), CreatedAt: now}
	token.Scopes, _ = account.ParseScopes(strings.Join(req.PostForm["scope"], ","))
	days, err := strconv.Atoi(req.Field("days"))
	if err != nil || !slices.Contains(tokenPeriods, days) {
		days = defaultTokenPeriod
	}
	token.ExpiresAt = now.AddDate(0, 0, days)
	list := page.Problems{}
	if utf8.RuneCountInString(token.Name) > maxTokenName || !account.IsTrustworthyName(token.Name) {
		list["name"] = fault.Messagef("enter a name of 1 to %d characters", maxTokenName)
	}
	if len(token.Scopes) == 0 {
		list["scope"] = fault.Messagef("choose at least one")
	}
	if len(list) == 0 {
		correct, err := pages.confirmPassword(req, req.Field("current"))
		if err != nil {
			return err
		}
		if !correct {
			list["current"] = wrongPassword
		}
	}
	secret := account.NewSecret(account.PersonalToken, req.User.ID, now)
	if len(list) == 0 {
		if err := pages.storeToken(req, secret, token); fault.Wrap(err).Code == fault.QuotaReached && err != nil {
			list["name"] = fault.MessageOf(err)
		} else if err != nil {
			return err
		}
	}
	p, err := pages.newTokensPage(req, token.Scopes)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		p.Problems, p.Name, p.Days = list, req.Field("name"), days
		return pages.templates.Render(req, http.StatusUnprocessableEntity, "tokens", p)
	}
	p.Secret = secret.Text
	return pages.templates.Render(req, http.StatusOK, "tokens", p)
}

func (pages *Pages) storeToken(req *page.Request, secret account.Secret, token store.PersonalToken) error {
	notice := mail.NewToken{Event: pages.event(req, *req.User), Token: token.Name, Expires: token.ExpiresAt}
	for _, scope := range token.Scopes {
		notice.Scopes = append(notice.Scopes, scope.Description())
	}
	mails, err := pages.Mails.ToUser(*req.User, notice)
	if err != nil {
		return err
	}
	return pages.Store.AddPersonalToken(req.Context(), secret, token, mails)
}

// RevokeToken ends a personal token.
func (pages *Pages) RevokeToken(req *page.Request) error {
	if err := pages.Store.RevokePersonalToken(req.Context(), req.User.ID, req.PathValue("id"), pages.Now()); err != nil {
		return err
	}
	return req.Redirect("/tokens?saved=revoked")
}
