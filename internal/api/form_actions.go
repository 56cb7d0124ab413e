package api

import (
	"context"
	"strings"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

// FormDetail is a form with its definition and availability.
type FormDetail struct {
	Form
	Fields        []*form.Field  `json:"fields" nullable:"false" doc:"The draft's questions. Respondents see them once the draft is published."`
	Endings       []*form.Ending `json:"endings" nullable:"false" doc:"The pages respondents see after submitting"`
	Settings      form.Settings  `json:"settings"`
	Design        form.Design    `json:"design" doc:"How the form looks"`
	Slug          string         `json:"slug" doc:"Custom link: the last part of the public address" example:"order"`
	OpensAt       *Timestamp     `json:"opens_at,omitempty"`
	ClosesAt      *Timestamp     `json:"closes_at,omitempty"`
	ResponseLimit int64          `json:"response_limit" doc:"Maximum number of responses; 0 for no limit" example:"100"`
	Sites         []string       `json:"sites" nullable:"false" doc:"Sites that can embed the form and submit responses; * for any site"`
}

// withDefinition returns the response for one form.
func (a *API) withDefinition(ctx context.Context, owner string, f form.Form) (*FormDetail, reply, error) {
	d, err := a.Store.Draft(ctx, owner, f.ID)
	if err != nil {
		return nil, reply{}, err
	}
	return a.formResponse(f, d)
}

func (a *API) formResponse(f form.Form, d *form.Definition) (*FormDetail, reply, error) {
	out := &FormDetail{
		Form: a.form(f), Fields: d.Fields, Endings: d.Endings, Settings: d.Settings, Design: d.Design, Slug: f.Slug,
		OpensAt: optionalTimestamp(f.OpensAt), ClosesAt: optionalTimestamp(f.ClosesAt), ResponseLimit: f.ResponseLimit, Sites: strings.Fields(f.Sites),
	}
	if out.Endings == nil {
		out.Endings = []*form.Ending{}
	}
	if out.Sites == nil {
		out.Sites = []string{}
	}
	return out, reply{ETag: etag(f.Revision)}, nil
}

// FormSettings are the settings of a form beside its questions; omitted fields stay
// unchanged. It is exported because only exported fields appear in the OpenAPI
// document.
type FormSettings struct {
	Endings       []*form.Ending `json:"endings,omitempty" nullable:"false" maxItems:"50" doc:"The endings. Replaces the whole list."`
	Settings      *form.Settings `json:"settings,omitempty"`
	Design        *form.Design   `json:"design,omitempty" doc:"How the form looks. Replaces all parts of the design."`
	Slug          *string        `json:"slug,omitempty" maxLength:"64" doc:"Custom link; empty for none"`
	OpensAt       *string        `json:"opens_at,omitempty" maxLength:"40" doc:"When the form opens (RFC 3339); empty to open on publishing"`
	ClosesAt      *string        `json:"closes_at,omitempty" maxLength:"40" doc:"When the form closes (RFC 3339); empty for never"`
	ResponseLimit *int64         `json:"response_limit,omitempty" minimum:"0" doc:"Maximum number of responses; 0 for no limit"`
	Sites         []string       `json:"sites,omitempty" nullable:"false" maxItems:"50" doc:"Sites that can embed the form and submit responses; * for any site, an empty list for none"`
}

// applyTo copies the given settings to p. Callers normalize the whole afterwards.
func (in *FormSettings) applyTo(p *form.FormInput) error {
	if in.Endings != nil {
		p.Definition.Endings = in.Endings
	}
	setIfGiven(&p.Definition.Settings, in.Settings)
	setIfGiven(&p.Definition.Design, in.Design)
	setIfGiven(&p.Slug, in.Slug)
	setIfGiven(&p.ResponseLimit, in.ResponseLimit)
	if in.Sites != nil {
		for _, site := range in.Sites {
			if strings.ContainsAny(site, " \t\r\n") {
				return fault.InvalidField("sites", "%q is not a valid site; use one such as https://example.com", site)
			}
		}
		p.Sites = strings.Join(in.Sites, " ")
	}
	for field, to := range map[string]struct {
		text *string
		time *time.Time
	}{"opens_at": {in.OpensAt, &p.OpensAt}, "closes_at": {in.ClosesAt, &p.ClosesAt}} {
		if to.text == nil {
			continue
		}
		if *to.text == "" {
			*to.time = time.Time{}
			continue
		}
		t, err := time.Parse(time.RFC3339, *to.text)
		if err != nil || t.IsZero() { // the zero time would remove the setting
			return fault.InvalidField(field, "use an RFC 3339 time, such as 2026-05-31T17:30:00Z")
		}
		*to.time = t.UTC().Truncate(time.Millisecond)
	}
	if p.Definition.Fields == nil {
		p.Definition.Fields = []*form.Field{}
	}
	return p.Normalize()
}

type statusInput struct {
	ID      string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	IfMatch string `header:"If-Match" maxLength:"100" doc:"The form's ETag. The request fails if the form has changed since."`
}

type publishInput struct {
	statusInput
	Key string `header:"Idempotency-Key" maxLength:"255" doc:"Makes retries safe: requests with the same key publish one version"`
}

func (a *API) publishForm() typedOperation[*publishInput, *Form] {
	return typedOperation[*publishInput, *Form]{
		operation{
			Method: "POST", Path: "/api/v1/forms/{id}/publish", ID: "publishForm", Tag: "Forms", Status: 201,
			Scope:       account.FormsWrite,
			Summary:     "Publish a form",
			Description: "Publishes the draft as the next version and opens the form. Earlier responses keep their version.",
			Errors:      []fault.Code{fault.BadQuery, fault.NotFoundInAccount, fault.Conflict, fault.IdempotencyKeyReused, fault.QuotaReached, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *publishInput) (*Form, reply, error) {
			key := store.IdempotencyKey{App: c.Client(), Key: in.Key, Hash: account.Hash("publish " + in.ID)}
			f, err := a.Store.Publish(ctx, c.Owner(), store.FormRevision{ID: in.ID, Revision: revisionOf(in.IfMatch)}, key, a.Now())
			return a.formStatus(f, err)
		},
	}
}

// statusOperation completes an operation that opens or closes a form with one call of the
// store.
func (a *API) statusOperation(op operation, change func(ctx context.Context, owner, id string, revision int64, now time.Time) (form.Form, error)) typedOperation[*statusInput, *Form] {
	return typedOperation[*statusInput, *Form]{
		op,
		func(ctx context.Context, c *oauth.Principal, in *statusInput) (*Form, reply, error) {
			f, err := change(ctx, c.Owner(), in.ID, revisionOf(in.IfMatch), a.Now())
			return a.formStatus(f, err)
		},
	}
}

func (a *API) formStatus(f form.Form, err error) (*Form, reply, error) {
	out := a.form(f)
	return &out, reply{ETag: etag(f.Revision)}, err
}

func (a *API) closeForm() typedOperation[*statusInput, *Form] {
	return a.statusOperation(operation{
		Method: "POST", Path: "/api/v1/forms/{id}/close", ID: "closeForm", Tag: "Forms", Status: 200,
		Scope:       account.FormsWrite,
		Summary:     "Close a form",
		Description: "The form stops accepting responses until it is reopened or published again.",
		Errors:      []fault.Code{fault.BadQuery, fault.NotFoundInAccount, fault.Conflict, fault.FormNotOpen},
	}, a.Store.CloseForm)
}

func (a *API) openForm() typedOperation[*statusInput, *Form] {
	return a.statusOperation(operation{
		Method: "POST", Path: "/api/v1/forms/{id}/open", ID: "openForm", Tag: "Forms", Status: 200,
		Scope:       account.FormsWrite,
		Summary:     "Reopen a form",
		Description: "The form accepts responses to the last published version. The draft does not change.",
		Errors:      []fault.Code{fault.BadQuery, fault.NotFoundInAccount, fault.Conflict, fault.FormNotOpen, fault.Invalid},
	}, a.Store.ReopenForm)
}

type duplicateInput struct {
	ID  string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Key string `header:"Idempotency-Key" maxLength:"255" doc:"Makes retries safe: requests with the same key create one copy"`
}

func (a *API) duplicateForm() typedOperation[*duplicateInput, *FormDetail] {
	return typedOperation[*duplicateInput, *FormDetail]{
		operation{
			Method: "POST", Path: "/api/v1/forms/{id}/duplicate", ID: "duplicateForm", Tag: "Forms", Status: 201,
			Scope: account.FormsWrite, WholeSpace: true,
			Summary:     "Duplicate a form",
			Description: "Creates a new draft from this form's draft. The retention of responses is copied; responses and the custom link are not.",
			Errors:      []fault.Code{fault.BadQuery, fault.NotFoundInAccount, fault.IdempotencyKeyReused, fault.QuotaReached},
		},
		func(ctx context.Context, c *oauth.Principal, in *duplicateInput) (*FormDetail, reply, error) {
			if err := store.CheckGrantForms(c.Access); err != nil {
				return nil, reply{}, err
			}
			key := store.IdempotencyKey{App: c.Client(), Key: in.Key, Hash: account.Hash("duplicate " + in.ID)}
			created, err := a.Store.DuplicateForm(ctx, c.Owner(), in.ID, key, a.Now())
			if err == nil {
				err = a.joinGrant(ctx, c, created.ID)
			}
			if err != nil {
				return nil, reply{}, err
			}
			out, rep, err := a.withDefinition(ctx, c.Owner(), created)
			rep.Location = a.BaseURL + "/api/v1/forms/" + created.ID
			return out, rep, err
		},
	}
}

func (a *API) formSchema() typedOperation[*formInput, *map[string]any] {
	return typedOperation[*formInput, *map[string]any]{
		operation{
			Method: "GET", Path: "/api/v1/forms/{id}/schema", ID: "formSchema", Tag: "Forms", Status: 200,
			Scope:       account.FormsRead,
			Summary:     "Get the JSON Schema of the answers",
			Description: "For the published version, or for the draft if the form has never been published. Conditions are not included.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *formInput) (*map[string]any, reply, error) {
			f, err := a.Store.Form(ctx, c.Owner(), in.ID)
			if err != nil {
				return nil, reply{}, err
			}
			d, err := a.Store.Draft(ctx, c.Owner(), in.ID)
			if err == nil && f.Version > 0 {
				d, err = a.Store.Definition(ctx, c.Owner(), in.ID, f.Version)
			}
			if err != nil {
				return nil, reply{}, err
			}
			schema := d.Schema()
			return &schema, reply{}, nil
		},
	}
}

// kindNames are the values of a field's kind, for the OpenAPI document.
func kindNames() []any {
	kinds := form.Kinds()
	names := make([]any, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name()
	}
	return names
}
