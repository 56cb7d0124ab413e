package store

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/form"
)

// This file has what transactions record in the audit log, for each kind of object.

type details = map[string]string

// auditTime formats a time for details; empty: there is none.
func auditTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// recordForm records what was done to a form that exists.
func recordForm(ctx context.Context, t db.Tx, owner, formID string, action AuditAction, d details) error {
	return recordAudit(ctx, t, owner, AuditEntry{Action: action, ObjectID: formID, Details: d})
}

// recordSettings records changes of a form's availability and of its custom link.
func recordSettings(ctx context.Context, t db.Tx, owner string, before, f form.Form) error {
	if before.Slug != f.Slug {
		if err := recordForm(ctx, t, owner, f.ID, AuditLinkChanged, details{"link": f.Slug, "before": before.Slug}); err != nil {
			return err
		}
	}
	before.Slug = f.Slug
	if before.Availability == f.Availability {
		return nil
	}
	limit := ""
	if f.ResponseLimit > 0 {
		limit = strconv.FormatInt(f.ResponseLimit, 10)
	}
	return recordForm(ctx, t, owner, f.ID, AuditAvailability, details{
		"opens_at": auditTime(f.OpensAt), "closes_at": auditTime(f.ClosesAt), "response_limit": limit, "sites": f.Sites,
	})
}

// recordStatus records that a form was opened or closed by an actor.
func recordStatus(ctx context.Context, t db.Tx, owner string, f form.Form) error {
	action := AuditFormClosed
	if f.Status == form.Open {
		action = AuditFormOpened
	}
	return recordForm(ctx, t, owner, f.ID, action, nil)
}

// auditCount is an entry about a number of responses, which may be deleted in several
// transactions. Each writes the entry with the number so far.
type auditCount struct {
	id     string
	action AuditAction
	total  int64 // committed before
}

func newAuditCount(action AuditAction) *auditCount {
	return &auditCount{id: newAuditID(), action: action}
}

// record writes the entry with n more responses. Add n to the total after the commit.
func (c *auditCount) record(ctx context.Context, t db.Tx, owner, formID string, n int64) error {
	if n == 0 {
		return nil
	}
	return recordAudit(ctx, t, owner, AuditEntry{ID: c.id, Action: c.action, ObjectID: formID, Details: details{"count": strconv.FormatInt(c.total+n, 10)}})
}

// recordWebhook records what was done to a webhook. Of its URL only the host is recorded: the rest
// may be a secret.
func recordWebhook(ctx context.Context, t db.Tx, owner string, w Webhook, action AuditAction) error {
	var title string
	if err := queryOne(t.Query, formTitleSQL, []any{owner, w.FormID}, &title); err != nil {
		return err
	}
	name := ""
	if u, err := url.Parse(w.URL); err == nil {
		name = u.Host
	}
	d := details{"form_id": w.FormID, "form": title}
	if action == AuditWebhookChanged {
		d["status"] = string(w.Status)
	}
	return recordAudit(ctx, t, owner, AuditEntry{Action: action, ObjectID: w.ID, ObjectName: name, Details: d})
}

// recordWebhookChange records what differs in a webhook, if anything does.
func recordWebhookChange(ctx context.Context, t db.Tx, owner string, before, w Webhook) error {
	rotated := before.Secret != w.Secret
	if before.URL != w.URL || before.Status != w.Status || before.StrictOrder != w.StrictOrder || formatEvents(before.Events) != formatEvents(w.Events) {
		if err := recordWebhook(ctx, t, owner, w, AuditWebhookChanged); err != nil {
			return err
		}
	}
	if !rotated {
		return nil
	}
	return recordWebhook(ctx, t, owner, w, AuditWebhookRotated)
}

const (
	formTitleSQL  = `SELECT title FROM form WHERE account_id = $1 AND id = $2`
	personNameSQL = `SELECT name, email FROM account WHERE id = $1`
	ownersSQL     = `SELECT person_id FROM space_member WHERE account_id = $1 AND role = 'owner'`
)

// personName returns the name of a person as others see it; empty: they do not exist.
func personName(t db.Tx, person string) (string, error) {
	var u account.User
	err := queryOne(t.Query, personNameSQL, []any{person}, &u.Name, &u.Email)
	return u.DisplayName(), replaceNotFound(err, nil)
}

// recordPerson records what was done to a person in a space.
func recordPerson(ctx context.Context, t db.Tx, space, person string, action AuditAction, d details) error {
	name, err := personName(t, person)
	if err != nil {
		return err
	}
	return recordAudit(ctx, t, space, AuditEntry{Action: action, ObjectID: person, ObjectName: name, Details: d})
}

// recordMember runs a change of a person's membership, and records how their role has changed.
func recordMember(ctx context.Context, t db.Tx, space, person string, change func() error) error {
	var before, after string
	if err := queryOne(t.Query, memberRoleSQL, []any{space, person}, &before); replaceNotFound(err, nil) != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	if err := queryOne(t.Query, memberRoleSQL, []any{space, person}, &after); replaceNotFound(err, nil) != nil {
		return err
	}
	switch {
	case before == after:
		return nil
	case before == "":
		return recordPerson(ctx, t, space, person, AuditMemberAdded, details{"role": after})
	case after != "":
		return recordPerson(ctx, t, space, person, AuditMemberChanged, details{"role": after, "before": before})
	case actorOf(ctx).PersonID == person:
		return recordPerson(ctx, t, space, person, AuditMemberLeft, details{"role": before})
	}
	return recordPerson(ctx, t, space, person, AuditMemberRemoved, details{"role": before})
}

// recordShare records that a form is, or is no longer, shared with a person.
func recordShare(ctx context.Context, t db.Tx, f FormShare, action AuditAction) error {
	name, err := personName(t, f.Person)
	if err != nil {
		return err
	}
	return recordForm(ctx, t, f.Owner, f.FormID, action, details{"person_id": f.Person, "person": name, "role": string(f.Role)})
}

// recordDeletion records, before an account is deleted, that it leaves the spaces of others or,
// if it is a shared space, that it is gone. Its own log is deleted too, so the latter is recorded
// in the owners' own spaces.
func recordDeletion(ctx context.Context, t db.Tx, deleted string) error {
	roles := map[string]string{}
	if err := t.Query(ownMembershipsSQL, func(r db.Row) error {
		var space, role string
		err := r.Scan(&space, &role)
		roles[space] = role
		return err
	}, deleted); err != nil {
		return err
	}
	for space, role := range roles {
		if err := recordPerson(ctx, t, space, deleted, AuditMemberLeft, details{"role": role}); err != nil {
			return err
		}
	}
	var owners []string
	if err := t.Query(ownersSQL, func(r db.Row) error {
		var person string
		err := r.Scan(&person)
		owners = append(owners, person)
		return err
	}, deleted); err != nil || len(owners) == 0 {
		return err
	}
	name, err := personName(t, deleted)
	if err != nil {
		return err
	}
	for _, person := range owners {
		if err := recordAudit(ctx, t, person, AuditEntry{Action: AuditSpaceDeleted, ObjectID: account.SpaceID(deleted), ObjectName: name}); err != nil {
			return err
		}
	}
	return nil
}

// recordMove records, in both spaces, that a form is moved from one to the other.
func recordMove(ctx context.Context, t db.Tx, from string, f form.Form, to string) error {
	for _, side := range []struct {
		space, other string
		action       AuditAction
	}{{from, to, AuditFormMovedOut}, {to, from, AuditFormMovedIn}} {
		name, err := personName(t, side.other)
		if err != nil {
			return err
		}
		e := AuditEntry{Action: side.action, ObjectID: f.ID, ObjectName: f.Title, Details: details{"space_id": account.SpaceID(side.other), "space": name}}
		if err := recordAudit(ctx, t, side.space, e); err != nil {
			return err
		}
	}
	return nil
}
