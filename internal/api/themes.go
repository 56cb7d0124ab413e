package api

import (
	"context"
	"net/url"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

// Theme is a design that is used in several forms.
type Theme struct {
	ID        string      `json:"id" example:"thm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Name      string      `json:"name" example:"Studio"`
	Design    form.Design `json:"design"`
	CreatedAt Timestamp   `json:"created_at"`
	UpdatedAt Timestamp   `json:"updated_at"`
}

// ThemeList is a page of themes.
type ThemeList struct {
	TotalItems int64   `json:"total_items" doc:"Total number of themes" example:"1"`
	TotalPages int64   `json:"total_pages" doc:"Total number of pages" example:"1"`
	Data       []Theme `json:"data" nullable:"false"`
}

func themeResult(t store.Theme) *Theme {
	return &Theme{t.ID, t.Name, t.Design, Timestamp(t.CreatedAt), Timestamp(t.UpdatedAt)}
}

const themesPath = "/api/v1/themes"

type listThemesInput struct {
	Page    int64 `query:"page" default:"1" minimum:"1" doc:"Page number, from 1, newest themes first" example:"1"`
	PerPage int64 `query:"per_page" default:"20" minimum:"1" maximum:"200" doc:"Themes per page" example:"20"`
}

func (a *API) listThemes() typedOperation[*listThemesInput, *ThemeList] {
	return typedOperation[*listThemesInput, *ThemeList]{
		operation{
			Method: "GET", Path: themesPath, ID: "listThemes", Tag: "Themes", Status: 200,
			Scope:       account.FormsRead,
			Summary:     "List themes",
			Description: "Lists the saved themes of the account, the newest first.",
			Errors:      []fault.Code{fault.BadQuery},
		},
		func(ctx context.Context, c *oauth.Principal, in *listThemesInput) (*ThemeList, reply, error) {
			page := pagination{in.Page, in.PerPage}
			list, total, err := a.Store.Themes(ctx, c.Owner(), store.Page{Limit: page.perPage, Offset: page.offset()})
			if err != nil {
				return nil, reply{}, err
			}
			out := &ThemeList{TotalItems: total, TotalPages: page.pages(total), Data: make([]Theme, len(list))}
			for i, t := range list {
				out.Data[i] = *themeResult(t)
			}
			return out, reply{Link: page.link(a.BaseURL+themesPath, url.Values{}, total)}, nil
		},
	}
}

// NewTheme is what a theme is made from.
type NewTheme struct {
	Name   string      `json:"name" minLength:"1" maxLength:"100" example:"Studio"`
	Design form.Design `json:"design" doc:"As in a form. Forms keep their layout if it is omitted here."`
}

type createThemeInput struct {
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"Makes retries safe: requests with the same key and body create one theme."`
	Sent string
	Body NewTheme
}

func (a *API) createTheme() typedOperation[*createThemeInput, *Theme] {
	return typedOperation[*createThemeInput, *Theme]{
		operation{
			Method: "POST", Path: themesPath, ID: "createTheme", Tag: "Themes", Status: 201, MaxBody: maxWebhook,
			Scope: account.FormsWrite, AllForms: true,
			Summary:     "Save a theme",
			Description: "Saves a design under a name. To use it, put its design into forms. An account has at most 50 themes.",
			Errors:      []fault.Code{fault.BadQuery, fault.BadJSON, fault.NotFoundInAccount, fault.IdempotencyKeyReused, fault.QuotaReached, fault.TooLarge, fault.UnsupportedMedia, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *createThemeInput) (*Theme, reply, error) {
			once := store.IdempotencyKey{App: c.Client(), Key: in.Key, Hash: account.Hash("theme " + in.Sent)}
			t, err := a.Store.AddTheme(ctx, c.Owner(), form.Theme{Name: in.Body.Name, Design: in.Body.Design}, once, a.Now())
			return themeResult(t), reply{Location: a.BaseURL + themesPath + "/" + t.ID}, err
		},
	}
}

type themeInput struct {
	Theme string `path:"theme" doc:"Theme ID" example:"thm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
}

func (a *API) readTheme() typedOperation[*themeInput, *Theme] {
	return typedOperation[*themeInput, *Theme]{
		operation{
			Method: "GET", Path: themesPath + "/{theme}", ID: "readTheme", Tag: "Themes", Status: 200,
			Scope:       account.FormsRead,
			Summary:     "Get a theme",
			Description: "Returns a saved theme.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *themeInput) (*Theme, reply, error) {
			t, err := a.Store.Theme(ctx, c.Owner(), in.Theme)
			return themeResult(t), reply{}, err
		},
	}
}

// ThemeUpdate is what to change of a theme; what is left out stays.
type ThemeUpdate struct {
	Name   *string      `json:"name,omitempty" minLength:"1" maxLength:"100" example:"Studio"`
	Design *form.Design `json:"design,omitempty" doc:"Replaces the whole design"`
}

type changeThemeInput struct {
	themeInput
	Body ThemeUpdate
}

func (a *API) changeTheme() typedOperation[*changeThemeInput, *Theme] {
	return typedOperation[*changeThemeInput, *Theme]{
		operation{
			Method: "PATCH", Path: themesPath + "/{theme}", ID: "changeTheme", Tag: "Themes", Status: 200, MaxBody: maxWebhook,
			Scope: account.FormsWrite, AllForms: true,
			Summary:     "Update a theme",
			Description: "Changes only the properties in the body. Forms that use the theme do not change.",
			Errors:      []fault.Code{fault.BadJSON, fault.NotFoundInAccount, fault.TooLarge, fault.UnsupportedMedia, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *changeThemeInput) (*Theme, reply, error) {
			t, err := a.Store.UpdateTheme(ctx, c.Owner(), in.Theme, func(t *form.Theme) {
				setIfGiven(&t.Name, in.Body.Name)
				setIfGiven(&t.Design, in.Body.Design)
			}, a.Now())
			return themeResult(t), reply{}, err
		},
	}
}

func (a *API) deleteTheme() typedOperation[*themeInput, *empty] {
	return typedOperation[*themeInput, *empty]{
		operation{
			Method: "DELETE", Path: themesPath + "/{theme}", ID: "deleteTheme", Tag: "Themes", Status: 204,
			Scope: account.FormsWrite, AllForms: true,
			Summary:     "Delete a theme",
			Description: "Deletes a saved theme. Forms that use it keep their design.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *themeInput) (*empty, reply, error) {
			return nil, reply{}, a.Store.DeleteTheme(ctx, c.Owner(), in.Theme)
		},
	}
}
