package api

import (
	"context"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/oauth"
)

// FormWithFields is a form with what it asks.
type FormWithFields struct {
	Form
	Fields []*form.Field `json:"fields" nullable:"false" doc:"What the draft asks; publishing shows it to people"`
}

// whole is the answer about one form.
func (a *API) whole(ctx context.Context, owner string, f form.Form) (*FormWithFields, reply, error) {
	d, err := a.Store.Draft(ctx, owner, f.ID)
	if err != nil {
		return nil, reply{}, err
	}
	return &FormWithFields{a.form(f), d.Fields}, reply{ETag: etag(f.Revision)}, nil
}

// definitionOf is nil where no fields were sent.
func definitionOf(fields []*form.Field) (*form.Definition, error) {
	if fields == nil {
		return nil, nil
	}
	d := &form.Definition{Fields: fields}
	return d, d.Clean()
}

type statusInput struct {
	ID      string `path:"id" doc:"The form's id"`
	IfMatch string `header:"If-Match" maxLength:"100" doc:"The form's ETag: only if nobody has changed it"`
}

func (a *API) publishForm() typed[statusInput, Form] {
	return typed[statusInput, Form]{
		operation{
			Method: "POST", Path: "/api/v1/forms/{id}/publish", ID: "publishForm", Tag: "Forms", Status: 201,
			Scope:       account.FormsWrite,
			Summary:     "Publish a form",
			Description: "Makes the draft the next version and opens the form. Earlier responses keep the version that they answered.",
			Errors:      []fault.Code{fault.BadQuery, fault.NoResource, fault.Changed, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Caller, in *statusInput) (*Form, reply, error) {
			f, err := a.Store.Publish(ctx, c.Owner(), in.ID, revisionOf(in.IfMatch), a.Now())
			out := a.form(f)
			return &out, reply{ETag: etag(f.Revision)}, err
		},
	}
}

func (a *API) closeForm() typed[statusInput, Form] {
	return typed[statusInput, Form]{
		operation{
			Method: "POST", Path: "/api/v1/forms/{id}/close", ID: "closeForm", Tag: "Forms", Status: 200,
			Scope:       account.FormsWrite,
			Summary:     "Close a form",
			Description: "It takes no more responses until it is published again.",
			Errors:      []fault.Code{fault.BadQuery, fault.NoResource, fault.Changed, fault.FormNotOpen},
		},
		func(ctx context.Context, c *oauth.Caller, in *statusInput) (*Form, reply, error) {
			f, err := a.Store.CloseForm(ctx, c.Owner(), in.ID, revisionOf(in.IfMatch), a.Now())
			out := a.form(f)
			return &out, reply{ETag: etag(f.Revision)}, err
		},
	}
}

func (a *API) formSchema() typed[formInput, map[string]any] {
	return typed[formInput, map[string]any]{
		operation{
			Method: "GET", Path: "/api/v1/forms/{id}/schema", ID: "formSchema", Tag: "Forms", Status: 200,
			Scope:       account.FormsRead,
			Summary:     "JSON Schema of the answers",
			Description: "Of the published version, or of the draft before the first. Conditions are not part of it.",
			Errors:      []fault.Code{fault.NoResource},
		},
		func(ctx context.Context, c *oauth.Caller, in *formInput) (*map[string]any, reply, error) {
			f, err := a.Store.Form(ctx, c.Owner(), in.ID)
			if err != nil {
				return nil, reply{}, err
			}
			d, err := a.Store.Draft(ctx, c.Owner(), in.ID)
			if err == nil && f.Version > 0 {
				public, e := a.Store.PublicForm(ctx, in.ID)
				d, err = public.Definition, e
			}
			if err != nil {
				return nil, reply{}, err
			}
			schema := d.Schema()
			return &schema, reply{}, nil
		},
	}
}

// kindNames are the values of a field's kind, for the document.
func kindNames() []any {
	names := make([]any, len(form.Kinds))
	for i, k := range form.Kinds {
		names[i] = k.Name()
	}
	return names
}
