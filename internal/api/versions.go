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

// Version is a published version of a form.
type Version struct {
	Version     int64     `json:"version" example:"1"`
	Title       string    `json:"title" example:"Order"`
	Description string    `json:"description" example:"What would you like?"`
	Language    string    `json:"language" doc:"Language (BCP 47 tag)" example:"en"`
	PublishedAt Timestamp `json:"published_at"`
}

// VersionList is a page of versions.
type VersionList struct {
	TotalItems int64     `json:"total_items" doc:"Total number of versions"`
	TotalPages int64     `json:"total_pages" doc:"Total number of pages"`
	Data       []Version `json:"data" nullable:"false"`
}

// VersionDetail is a version with its definition.
type VersionDetail struct {
	Version
	Fields   []*form.Field  `json:"fields" nullable:"false"`
	Endings  []*form.Ending `json:"endings" nullable:"false"`
	Settings form.Settings  `json:"settings"`
	Design   form.Design    `json:"design"`
}

func version(v store.Version) Version {
	return Version{v.Number, v.Header.Title, v.Header.Description, v.Header.Language, Timestamp(v.PublishedAt)}
}

type listVersionsInput struct {
	ID      string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Page    int64  `query:"page" default:"1" minimum:"1" doc:"Page number, from 1, newest versions first" example:"1"`
	PerPage int64  `query:"per_page" default:"20" minimum:"1" maximum:"200" doc:"Versions per page" example:"20"`
}

func (a *API) listVersions() typedOperation[*listVersionsInput, *VersionList] {
	return typedOperation[*listVersionsInput, *VersionList]{
		operation{
			Method: "GET", Path: "/api/v1/forms/{id}/versions", ID: "listVersions", Tag: "Forms", Status: 200,
			Scope:       account.FormsRead,
			Summary:     "List versions",
			Description: "Lists the published versions, the newest first.",
			Errors:      []fault.Code{fault.BadQuery, fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *listVersionsInput) (*VersionList, reply, error) {
			page := pagination{in.Page, in.PerPage}
			list, total, err := a.Store.Versions(ctx, c.Owner(), in.ID, page.perPage, page.offset())
			if err != nil {
				return nil, reply{}, err
			}
			out := &VersionList{TotalItems: total, TotalPages: page.pages(total), Data: make([]Version, len(list))}
			for i, v := range list {
				out.Data[i] = version(v)
			}
			return out, reply{Link: page.link(a.BaseURL+"/api/v1/forms/"+in.ID+"/versions", url.Values{}, total)}, nil
		},
	}
}

type versionInput struct {
	ID      string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Version string `path:"version" doc:"Version number" example:"1"`
}

func (a *API) readVersion() typedOperation[*versionInput, *VersionDetail] {
	return typedOperation[*versionInput, *VersionDetail]{
		operation{
			Method: "GET", Path: "/api/v1/forms/{id}/versions/{version}", ID: "readVersion", Tag: "Forms", Status: 200,
			Scope:       account.FormsRead,
			Summary:     "Get a version",
			Description: "Returns the questions of one published version.",
			Errors:      []fault.Code{fault.NotFoundInAccount},
		},
		func(ctx context.Context, c *oauth.Principal, in *versionInput) (*VersionDetail, reply, error) {
			number, ok := wholeNumber(in.Version)
			if !ok {
				return nil, reply{}, fault.NotFound
			}
			v, err := a.Store.Version(ctx, c.Owner(), in.ID, number)
			if err != nil {
				return nil, reply{}, err
			}
			out := &VersionDetail{version(v), v.Definition.Fields, v.Definition.Endings, v.Definition.Settings, v.Definition.Design}
			if out.Endings == nil {
				out.Endings = []*form.Ending{}
			}
			return out, reply{}, nil
		},
	}
}

type restoreVersionInput struct {
	ID      string `path:"id" doc:"Form ID" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Version string `path:"version" doc:"Version number" example:"1"`
	IfMatch string `header:"If-Match" maxLength:"100" doc:"The form's ETag. The request fails if the form has changed since."`
}

func (a *API) restoreVersion() typedOperation[*restoreVersionInput, *FormDetail] {
	return typedOperation[*restoreVersionInput, *FormDetail]{
		operation{
			Method: "POST", Path: "/api/v1/forms/{id}/versions/{version}/restore", ID: "restoreVersion", Tag: "Forms", Status: 200,
			Scope:       account.FormsWrite,
			Summary:     "Restore a version",
			Description: "Replaces the draft by a published version, with its title, questions and design. Respondents see no change until the draft is published.",
			Errors:      []fault.Code{fault.BadQuery, fault.NotFoundInAccount, fault.Conflict, fault.QuotaReached},
		},
		func(ctx context.Context, c *oauth.Principal, in *restoreVersionInput) (*FormDetail, reply, error) {
			number, ok := wholeNumber(in.Version)
			if !ok {
				return nil, reply{}, fault.NotFound
			}
			f, err := a.Store.RestoreVersion(ctx, c.Owner(), store.FormRevision{ID: in.ID, Revision: revisionOf(in.IfMatch)}, number, a.Now())
			if err != nil {
				return nil, reply{}, err
			}
			return a.withDefinition(ctx, c.Owner(), f)
		},
	}
}
