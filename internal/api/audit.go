package api

import (
	"context"
	"encoding/base64"
	"slices"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

// AuditEntry is an entry of the audit log.
type AuditEntry struct {
	ID            string            `json:"id" example:"aud_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	At            Timestamp         `json:"at" doc:"Time of the action"`
	Actor         string            `json:"actor" enum:"person,application,command_line,service" doc:"Who acted: a person on a page, an application or personal token for a person, the command line, or the service in the background"`
	PersonID      string            `json:"person_id" doc:"User ID of the person; empty for the command line and the service" example:"usr_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Person        string            `json:"person" doc:"Name of the person at that time" example:"Ada Lovelace"`
	ApplicationID string            `json:"application_id" doc:"client_id of the application; empty for a personal token" example:"app_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Application   string            `json:"application" doc:"Name of the application or the personal token at that time" example:"Report builder"`
	Address       string            `json:"address" doc:"Network address that the request came from" example:"192.0.2.7"`
	Action        string            `json:"action" doc:"What was done" example:"form.deleted"`
	ObjectID      string            `json:"object_id" doc:"ID of what it was done to" example:"frm_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Object        string            `json:"object" doc:"Its name at that time" example:"Order"`
	Details       map[string]string `json:"details" nullable:"false" doc:"More about the action, depending on it"`
}

// AuditList is a part of the audit log.
type AuditList struct {
	Data []AuditEntry `json:"data" nullable:"false"`
	Next string       `json:"next" doc:"Cursor for the entries before these; empty if there are none"`
	More bool         `json:"more" doc:"Whether there are entries before these"`
}

type listAuditInput struct {
	Before string `query:"before" maxLength:"100" doc:"Cursor from next. If it is left out, the newest entries are returned."`
	Limit  int64  `query:"limit" default:"100" minimum:"1" maximum:"500" doc:"Maximum number of entries" example:"100"`
	Action string `query:"action" maxLength:"100" doc:"Filter by action" example:"form.deleted"`
	Person string `query:"person" maxLength:"100" doc:"Filter by the user ID of the person" example:"usr_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Since  string `query:"since" maxLength:"100" doc:"Only entries from this time on (RFC 3339)" example:"2026-05-01T00:00:00Z"`
	Until  string `query:"until" maxLength:"100" doc:"Only entries before this time (RFC 3339)" example:"2026-06-01T00:00:00Z"`
}

func (a *API) listAudit() typedOperation[*listAuditInput, *AuditList] {
	return typedOperation[*listAuditInput, *AuditList]{
		operation{
			Method: "GET", Path: "/api/v1/audit", ID: "listAudit", Tag: "Audit log", Status: 200,
			Scope:   account.AuditRead,
			Summary: "List the audit log",
			Description: "Lists what was done in the space of the access token, newest first. Only owners of the space can read it, and only with access to all of its forms: " +
				"for other roles, and for a grant of some forms, the answer is 403002. Applications do not have the scope `audit:read` unless their developer adds it. " +
				"A space keeps its entries for one year, and at most 100,000.",
			Errors: []fault.Code{fault.BadQuery},
		},
		func(ctx context.Context, c *oauth.Principal, in *listAuditInput) (*AuditList, reply, error) {
			filter, err := in.filter()
			if err != nil {
				return nil, reply{}, err
			}
			list, err := a.Store.Audit(ctx, c.Owner(), filter, in.Limit+1)
			if err != nil {
				return nil, reply{}, err
			}
			out := &AuditList{Data: []AuditEntry{}, More: int64(len(list)) > in.Limit}
			if out.More {
				list = list[:in.Limit]
				out.Next = cursor(list[in.Limit-1].ID)
			}
			for _, e := range list {
				out.Data = append(out.Data, auditResult(e))
			}
			return out, reply{}, nil
		},
	}
}

func auditResult(e store.AuditEntry) AuditEntry {
	out := AuditEntry{
		ID: e.ID, At: Timestamp(e.At()), Actor: string(e.Actor.Kind), PersonID: e.Actor.PersonID, Person: e.Actor.PersonName,
		ApplicationID: e.Actor.AppID, Application: e.Actor.AppName, Action: string(e.Action), ObjectID: e.ObjectID, Object: e.ObjectName, Details: e.Details,
	}
	if e.Actor.Address.IsValid() {
		out.Address = e.Actor.Address.String()
	}
	return out
}

// filter reads the filter of the query.
func (in *listAuditInput) filter() (f store.AuditFilter, err error) {
	f.Action, f.PersonID = store.AuditAction(in.Action), in.Person
	if in.Action != "" && !slices.ContainsFunc(store.AuditActions, func(a store.AuditActionInfo) bool { return a.Action == f.Action }) {
		return f, badQuery("action", "is not an action of the audit log")
	}
	if _, ok := id.Parse(id.User, in.Person); in.Person != "" && !ok {
		return f, badQuery("person", "is not a user ID")
	}
	if in.Before != "" {
		raw, err := base64.RawURLEncoding.Strict().DecodeString(in.Before)
		if _, ok := id.Parse(id.Audit, string(raw)); err != nil || !ok {
			return f, badQuery("before", "is not a valid cursor")
		}
		f.Before = string(raw)
	}
	if f.Since, err = queryTime("since", in.Since); err != nil {
		return f, err
	}
	f.Until, err = queryTime("until", in.Until)
	return f, err
}
