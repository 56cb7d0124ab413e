package api

import (
	"context"
	"net/url"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

// View is a filter of a form's responses, saved under a name.
type View struct {
	ID        string           `json:"id" example:"viw_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	FormID    string           `json:"form_id" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Name      string           `json:"name" example:"This week"`
	Filter    store.ViewFilter `json:"filter"`
	CreatedAt Timestamp        `json:"created_at"`
	UpdatedAt Timestamp        `json:"updated_at"`
}

// ViewList is a page of a form's views.
type ViewList struct {
	TotalItems int64  `json:"total_items" doc:"Total number of views" example:"1"`
	TotalPages int64  `json:"total_pages" doc:"Total number of pages" example:"1"`
	Data       []View `json:"data" nullable:"false"`
}

func viewResult(v store.View) *View {
	return &View{v.ID, v.FormID, v.Name, v.Filter, Timestamp(v.CreatedAt), Timestamp(v.UpdatedAt)}
}

const viewsPath = "/api/v1/forms/{id}/views"

type listViewsInput struct {
	ID      string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Page    int64  `query:"page" default:"1" minimum:"1" doc:"Page number, from 1, oldest views first" example:"1"`
	PerPage int64  `query:"per_page" default:"20" minimum:"1" maximum:"200" doc:"Views per page" example:"20"`
}

func (a *API) listViews() typedOperation[*listViewsInput, *ViewList] {
	return typedOperation[*listViewsInput, *ViewList]{
		operation{
			Method: "GET", Path: viewsPath, ID: "listViews", Tag: "Views", Status: 200,
			Scope:       account.ResponsesRead,
			Summary:     "List views",
			Description: "Lists the saved views of a form's responses, the oldest first. A form has at most 50.",
			Errors:      []fault.Code{fault.BadQuery, fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *listViewsInput) (*ViewList, reply, error) {
			list, err := a.Store.Views(ctx, c.Owner(), in.ID)
			if err != nil {
				return nil, reply{}, err
			}
			page, total := pagination{in.Page, in.PerPage}, int64(len(list))
			from := min(page.offset(), total)
			out := &ViewList{TotalItems: total, TotalPages: page.pages(total), Data: []View{}}
			for _, v := range list[from:min(from+in.PerPage, total)] {
				out.Data = append(out.Data, *viewResult(v))
			}
			return out, reply{Link: page.link(a.BaseURL+"/api/v1/forms/"+in.ID+"/views", url.Values{}, total)}, nil
		},
	}
}

// NewView is what a view is made from.
type NewView struct {
	Name   string           `json:"name" minLength:"1" maxLength:"60" example:"This week"`
	Filter store.ViewFilter `json:"filter"`
}

type createViewInput struct {
	ID   string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"Makes retries safe: requests with the same key and body create one view."`
	Sent string
	Body NewView
}

func (a *API) createView() typedOperation[*createViewInput, *View] {
	return typedOperation[*createViewInput, *View]{
		operation{
			Method: "POST", Path: viewsPath, ID: "createView", Tag: "Views", Status: 201, MaxBody: maxWebhook,
			Scope:       account.ResponsesWrite,
			Summary:     "Save a view",
			Description: "Saves a filter of the responses, with an order and columns, under a name. People see it above the list of responses.",
			Errors:      []fault.Code{fault.BadQuery, fault.BadJSON, fault.NotFoundInAccount, fault.IdempotencyKeyReused, fault.QuotaReached, fault.TooLarge, fault.UnsupportedMedia, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *createViewInput) (*View, reply, error) {
			once := store.IdempotencyKey{App: c.Client(), Key: in.Key, Hash: account.Hash("view " + in.ID + " " + in.Sent)}
			v, err := a.Store.AddView(ctx, c.Owner(), store.View{FormID: in.ID, Name: in.Body.Name, Filter: in.Body.Filter}, once, a.Now())
			return viewResult(v), reply{Location: a.BaseURL + "/api/v1/forms/" + in.ID + "/views/" + v.ID}, err
		},
	}
}

type viewInput struct {
	ID   string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	View string `path:"view" doc:"View ID" example:"viw_01k9z8m7q3e4r5t6y7v8w9x0a1"`
}

func (a *API) readView() typedOperation[*viewInput, *View] {
	return typedOperation[*viewInput, *View]{
		operation{
			Method: "GET", Path: viewsPath + "/{view}", ID: "readView", Tag: "Views", Status: 200,
			Scope:       account.ResponsesRead,
			Summary:     "Get a view",
			Description: "Returns a saved view. To read its responses, pass its filter to the list of responses.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *viewInput) (*View, reply, error) {
			v, err := a.Store.View(ctx, c.Owner(), in.ID, in.View)
			return viewResult(v), reply{}, err
		},
	}
}

// ViewUpdate is what to change of a view; what is left out stays.
type ViewUpdate struct {
	Name   *string           `json:"name,omitempty" minLength:"1" maxLength:"60" example:"This week"`
	Filter *store.ViewFilter `json:"filter,omitempty" doc:"Replaces the whole filter"`
}

type changeViewInput struct {
	viewInput
	Body ViewUpdate
}

func (a *API) changeView() typedOperation[*changeViewInput, *View] {
	return typedOperation[*changeViewInput, *View]{
		operation{
			Method: "PATCH", Path: viewsPath + "/{view}", ID: "changeView", Tag: "Views", Status: 200, MaxBody: maxWebhook,
			Scope:       account.ResponsesWrite,
			Summary:     "Update a view",
			Description: "Changes only the properties in the body.",
			Errors:      []fault.Code{fault.BadJSON, fault.NotFoundInAccount, fault.TooLarge, fault.UnsupportedMedia, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *changeViewInput) (*View, reply, error) {
			v, err := a.Store.UpdateView(ctx, c.Owner(), in.ID, in.View, func(v *store.View) {
				setIfGiven(&v.Name, in.Body.Name)
				setIfGiven(&v.Filter, in.Body.Filter)
			}, a.Now())
			return viewResult(v), reply{}, err
		},
	}
}

func (a *API) deleteView() typedOperation[*viewInput, *empty] {
	return typedOperation[*viewInput, *empty]{
		operation{
			Method: "DELETE", Path: viewsPath + "/{view}", ID: "deleteView", Tag: "Views", Status: 204,
			Scope:       account.ResponsesWrite,
			Summary:     "Delete a view",
			Description: "Deletes a saved view. The responses stay.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *viewInput) (*empty, reply, error) {
			return nil, reply{}, a.Store.DeleteView(ctx, c.Owner(), in.ID, in.View)
		},
	}
}
