package api

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"formulary/internal/account"
	"formulary/internal/compress"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

// Form is a form without its definition, as in lists.
type Form struct {
	ID            string    `json:"id" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Title         string    `json:"title" example:"Order"`
	Description   string    `json:"description" example:"What would you like?"`
	Language      string    `json:"language" doc:"Language (BCP 47 tag)" example:"en"`
	Status        string    `json:"status" enum:"draft,open,closed" example:"open"`
	Version       int64     `json:"version" doc:"Published version; 0 if never published" example:"1"`
	ResponseCount int64     `json:"response_count" example:"12"`
	Folder        string    `json:"folder" doc:"Folder in the owner's list of forms; empty if none" example:"Workshops"`
	URL           string    `json:"url" format:"uri" doc:"Address of the public page" example:"https://forms.example/f/frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	CreatedAt     Timestamp `json:"created_at"`
	UpdatedAt     Timestamp `json:"updated_at"`
}

// FormList is a page of forms.
type FormList struct {
	TotalItems int64  `json:"total_items" doc:"Total number of forms" example:"1"`
	TotalPages int64  `json:"total_pages" doc:"Total number of pages"`
	Data       []Form `json:"data" nullable:"false"`
}

func (a *API) form(f form.Form) Form {
	f = f.At(a.Now())
	return Form{
		ID: f.ID, Title: f.Title, Description: f.Description, Language: f.Language,
		Status: string(f.Status), Version: f.Version, ResponseCount: f.ResponseCount, Folder: f.Folder,
		URL: a.BaseURL + "/f/" + f.Address(), CreatedAt: Timestamp(f.CreatedAt), UpdatedAt: Timestamp(f.UpdatedAt),
	}
}

func etag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

// revisionOf parses If-Match: 0 matches any revision, -1 matches none.
func revisionOf(ifMatch string) int64 {
	ifMatch = strings.TrimSpace(ifMatch)
	if ifMatch == "" || ifMatch == "*" {
		return 0
	}
	n, err := strconv.ParseInt(strings.Trim(ifMatch, `"`), 10, 64)
	if err != nil || n <= 0 || ifMatch != etag(n) {
		return -1
	}
	return n
}

type listFormsInput struct {
	Page     int64  `query:"page" default:"1" minimum:"1" doc:"Page number, from 1" example:"1"`
	PerPage  int64  `query:"per_page" default:"20" minimum:"1" maximum:"200" doc:"Forms per page" example:"20"`
	Search   string `query:"search" maxLength:"200" doc:"Filter by text in the title or description (case-insensitive)"`
	Status   string `query:"status" enum:"draft,open,closed" doc:"Filter by status"`
	Language string `query:"language" maxLength:"35" doc:"Filter by language (BCP 47 tag)"`
	Folder   string `query:"folder" maxLength:"60" doc:"Filter by folder"`
	Sort     string `query:"sort" default:"-created_at" enum:"created_at,-created_at,updated_at,-updated_at,title,-title" doc:"Sort order; prefix with - for descending"`
}

func (a *API) listForms() typedOperation[*listFormsInput, *FormList] {
	return typedOperation[*listFormsInput, *FormList]{
		operation{
			Method: "GET", Path: "/api/v1/forms", ID: "listForms", Tag: "Forms", Status: 200,
			Scope:       account.FormsRead,
			Summary:     "List forms",
			Description: "Returns the forms in the account, newest first. Beyond the last page, `data` is empty. The `Link` header has the first, previous, next and last page.",
			Errors:      []fault.Code{fault.BadQuery},
		},
		func(ctx context.Context, c *oauth.Principal, in *listFormsInput) (*FormList, reply, error) {
			pageKey := formPageKey{owner: c.Owner(), query: *in}
			if c.Access.Forms != nil {
				pageKey.grant, pageKey.generation = c.Grant, c.Generation
			}
			rendered, generation, ok := a.formPages.Get(c.Owner(), pageKey)
			if ok {
				return nil, rendered, nil
			}
			page := pagination{in.Page, in.PerPage}
			if in.Language != "" {
				tag, ok := form.ParseLanguage(in.Language)
				if !ok {
					return nil, reply{}, badQuery("language", "is not a valid language tag")
				}
				in.Language = tag
			}
			if in.Sort == "" {
				in.Sort = string(store.NewestFirst)
			}
			if in.Status != "" {
				if err := a.Store.CloseExpiredFormsOf(ctx, c.Owner(), a.Now()); err != nil {
					return nil, reply{}, err
				}
			}
			filter := store.FormFilter{Status: in.Status, Language: in.Language, Search: in.Search, Folder: in.Folder, Only: c.Access.FormList}
			forms, total, err := a.Store.Forms(ctx, c.Owner(), filter, store.FormSort(in.Sort), store.Page{Limit: page.perPage, Offset: page.offset()})
			if err != nil {
				return nil, reply{}, err
			}
			out := &FormList{TotalItems: total, TotalPages: page.pages(total), Data: make([]Form, len(forms))}
			for i, f := range forms {
				out.Data[i] = a.form(f)
			}
			rendered = reply{Body: encode(out), Link: page.link(a.BaseURL+"/api/v1/forms", in.linkQuery(), total)}
			// Only plain pages are cached: searches and pages past the end are
			// unlimited in number and rarely repeated, and the status of a form can
			// change with time.
			if in.Search == "" && in.Status == "" && len(forms) > 0 {
				rendered.Cached = compress.NewContent(rendered.Body)
				a.formPages.Put(pageKey, generation, rendered, rendered.Cached.Cost()+int64(len(rendered.Link)+pageOverhead))
			}
			return out, rendered, nil
		},
	}
}

// formPageKey identifies a page of an account's forms.
type formPageKey struct {
	owner string
	query listFormsInput

	// Of a caller that may not use all forms.
	grant      string
	generation store.Generation
}

const (
	// maxFormPages limits the cache of rendered pages, in bytes.
	maxFormPages = 16 << 20
	// maxUsers limits the cache of responses of /api/v1/me, in bytes.
	maxUsers = 4 << 20
	// pageOverhead is the memory of a cache entry beside its text.
	pageOverhead = 512
)

// linkQuery returns the part of the query that pagination links repeat.
func (in *listFormsInput) linkQuery() url.Values {
	query := url.Values{}
	for _, p := range [][2]string{{"search", in.Search}, {"status", in.Status}, {"language", in.Language}, {"folder", in.Folder}} {
		if p[1] != "" {
			query.Set(p[0], p[1])
		}
	}
	if in.Sort != string(store.NewestFirst) {
		query.Set("sort", in.Sort)
	}
	return query
}

// NewForm is the input for creating a form.
type NewForm struct {
	Title       string `json:"title" minLength:"1" maxLength:"200" example:"Order"`
	Description string `json:"description,omitempty" maxLength:"5000" example:"What would you like?"`
	Language    string `json:"language,omitempty" default:"en" doc:"Language (BCP 47 tag)" example:"en"`

	Fields []*form.Field `json:"fields,omitempty" nullable:"false" maxItems:"500" doc:"The questions"`
	FormSettings
}

type createFormInput struct {
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"Makes retries safe: requests with the same key and body create one form. Keys are kept for 24 hours."`
	Sent string
	Body NewForm
}

func (a *API) createForm() typedOperation[*createFormInput, *FormDetail] {
	return typedOperation[*createFormInput, *FormDetail]{
		operation{
			Method: "POST", Path: "/api/v1/forms", ID: "createForm", Tag: "Forms", Status: 201, MaxBody: maxForm,
			Scope:       account.FormsWrite,
			Summary:     "Create a form",
			Description: "Creates a draft.",
			Errors:      []fault.Code{fault.BadQuery, fault.BadJSON, fault.IdempotencyKeyReused, fault.QuotaReached, fault.TooLarge, fault.UnsupportedMedia, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *createFormInput) (*FormDetail, reply, error) {
			if err := store.CheckGrantForms(c.Access); err != nil {
				return nil, reply{}, err
			}
			key := store.IdempotencyKey{App: c.Client(), Key: in.Key, Hash: account.Hash(in.Sent)}
			plan := form.FormInput{
				Header:       form.Header{Title: in.Body.Title, Description: in.Body.Description, Language: in.Body.Language},
				Availability: form.Availability{Sites: form.AnySite}, Definition: &form.Definition{Fields: in.Body.Fields},
			}
			if err := in.Body.applyTo(&plan); err != nil {
				return nil, reply{}, err
			}
			created, err := a.Store.CreateFormFrom(ctx, c.Owner(), plan, key, a.Now())
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

// joinGrant makes a form that was created through a grant of some forms one of these.
func (a *API) joinGrant(ctx context.Context, c *oauth.Principal, formID string) error {
	if c.Access.Forms == nil {
		return nil
	}
	return a.Store.AddGrantForm(ctx, c.User.ID, c.Grant, formID)
}

type formInput struct {
	ID string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
}

func (a *API) readForm() typedOperation[*formInput, *FormDetail] {
	return typedOperation[*formInput, *FormDetail]{
		operation{
			Method: "GET", Path: "/api/v1/forms/{id}", ID: "readForm", Tag: "Forms", Status: 200,
			Scope:       account.FormsRead,
			Summary:     "Get a form",
			Description: "Returns the settings and the questions of the draft.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *formInput) (*FormDetail, reply, error) {
			f, d, err := a.Store.FormDraft(ctx, c.Owner(), in.ID)
			if err != nil {
				return nil, reply{}, err
			}
			return a.formResponse(f, d)
		},
	}
}

// FormUpdate contains the changes to a form; omitted fields stay unchanged.
type FormUpdate struct {
	Title       *string `json:"title,omitempty" minLength:"1" maxLength:"200" example:"Order"`
	Description *string `json:"description,omitempty" maxLength:"5000"`
	Language    *string `json:"language,omitempty" doc:"Language (BCP 47 tag)" example:"pt-BR"`

	Fields []*form.Field `json:"fields,omitempty" nullable:"false" maxItems:"500" doc:"The questions. Replaces the whole list; the published version does not change."`
	FormSettings
}

type changeFormInput struct {
	ID      string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	IfMatch string `header:"If-Match" maxLength:"100" doc:"The form's ETag. The request fails if the form has changed since."`
	Body    FormUpdate
}

func (a *API) changeForm() typedOperation[*changeFormInput, *FormDetail] {
	return typedOperation[*changeFormInput, *FormDetail]{
		operation{
			Method: "PATCH", Path: "/api/v1/forms/{id}", ID: "changeForm", Tag: "Forms", Status: 200, MaxBody: maxForm,
			Scope:       account.FormsWrite,
			Summary:     "Update a form",
			Description: "Changes only the properties in the body. With `If-Match`, the change is made only if the form still has this `ETag`.",
			Errors:      []fault.Code{fault.BadQuery, fault.BadJSON, fault.NotFoundInAccount, fault.Conflict, fault.QuotaReached, fault.TooLarge, fault.UnsupportedMedia, fault.Invalid},
		},
		func(ctx context.Context, c *oauth.Principal, in *changeFormInput) (*FormDetail, reply, error) {
			change := func(p *form.FormInput) error {
				setIfGiven(&p.Title, in.Body.Title)
				setIfGiven(&p.Description, in.Body.Description)
				setIfGiven(&p.Language, in.Body.Language)
				if in.Body.Fields != nil {
					p.Definition = &form.Definition{Fields: in.Body.Fields, Endings: p.Definition.Endings, Settings: p.Definition.Settings, Design: p.Definition.Design}
				}
				return in.Body.applyTo(p)
			}
			f, err := a.Store.UpdateForm(ctx, c.Owner(), store.FormRevision{ID: in.ID, Revision: revisionOf(in.IfMatch)}, change, a.Now())
			if err != nil {
				return nil, reply{}, err
			}
			return a.withDefinition(ctx, c.Owner(), f)
		},
	}
}

func setIfGiven[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

type deleteFormInput struct {
	ID      string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	IfMatch string `header:"If-Match" maxLength:"100" doc:"The form's ETag. The request fails if the form has changed since."`
}

func (a *API) deleteForm() typedOperation[*deleteFormInput, *empty] {
	return typedOperation[*deleteFormInput, *empty]{
		operation{
			Method: "DELETE", Path: "/api/v1/forms/{id}", ID: "deleteForm", Tag: "Forms", Status: 204,
			Scope:       account.FormsWrite,
			Summary:     "Delete a form",
			Description: "Deletes the form with its responses. The owner can restore it in the workspace for one hour.",
			Errors:      []fault.Code{fault.BadQuery, fault.NotFoundInAccount, fault.Conflict},
		},
		func(ctx context.Context, c *oauth.Principal, in *deleteFormInput) (*empty, reply, error) {
			return nil, reply{}, a.Store.DeleteForm(ctx, c.Owner(), in.ID, revisionOf(in.IfMatch), a.Now())
		},
	}
}
