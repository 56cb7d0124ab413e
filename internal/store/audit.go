package store

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"formulary/internal/db"
	"formulary/internal/form"
	"formulary/internal/id"
)

// ActorKind is who acts, as the API spells it.
type ActorKind string

// The kinds of actors.
const (
	ActorPerson      ActorKind = "person"
	ActorApplication ActorKind = "application" // for a person, with a grant or a personal token
	ActorCommandLine ActorKind = "command_line"
	ActorService     ActorKind = "service" // background work
)

// Actor is who causes a change, for the audit log. It has nothing to do with access control.
type Actor struct {
	Kind                 ActorKind
	PersonID, PersonName string
	AppID, AppName       string // a personal token has its name here, and no ID
	Address              netip.Addr
}

// actorContext is a context with an actor, in one allocation.
type actorContext struct {
	context.Context
	actor Actor
}

type actorKey struct{}

func (c *actorContext) Value(key any) any {
	if key == (actorKey{}) {
		return &c.actor
	}
	return c.Context.Value(key)
}

// WithActor returns a context whose changes are attributed to an actor.
func WithActor(ctx context.Context, a Actor) context.Context { return &actorContext{ctx, a} }

// actorOf returns who causes the changes of a context: the service itself, unless WithActor says
// otherwise.
func actorOf(ctx context.Context) Actor {
	if a, ok := ctx.Value(actorKey{}).(*Actor); ok {
		return *a
	}
	return Actor{Kind: ActorService}
}

// AuditEntry is one entry of the audit log of a space.
type AuditEntry struct {
	ID     string // in the order of time
	Actor  Actor
	Action AuditAction
	// What it was done to: a form, a webhook, a person, an application, a token or the space. The
	// name is that of the time.
	ObjectID, ObjectName string
	Details              map[string]string
}

// At returns the time of the entry.
func (e AuditEntry) At() time.Time {
	u, _ := id.Parse(id.Audit, e.ID)
	return u.Time()
}

// Limits of the audit log of a space.
const (
	AuditRetention  = 365 * 24 * time.Hour
	MaxAuditEntries = 100_000
	maxAuditText    = 200 // characters of a name or a detail
)

const (
	auditColumns = `id, actor, person_id, person_name, app_id, app_name, address, action, object_id, object_name, details`
	// An entry of a form shows its title. Deletions in batches write the same entry again, with
	// their number.
	insertAuditSQL = `INSERT INTO audit (account_id, ` + auditColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
		COALESCE((SELECT SUBSTR(title, 1, 200) FROM form WHERE account_id = $1 AND id = $10), $11), $12)
		ON CONFLICT (account_id, id) DO UPDATE SET details = excluded.details`
	auditSQL = `SELECT ` + auditColumns + ` FROM audit WHERE account_id = $1 AND id < $2 AND id >= $3
		AND ($4 = '' OR action = $4) AND ($5 = '' OR person_id = $5) ORDER BY id DESC LIMIT $6`
)

// recordAudit adds an entry to the audit log of a space, in the transaction of what it records.
func recordAudit(ctx context.Context, t db.Tx, owner string, e AuditEntry) error {
	if e.ID == "" {
		e.ID = newAuditID()
	}
	details := map[string]string{}
	for name, value := range e.Details {
		if value != "" {
			details[name] = cutText(value)
		}
	}
	text, err := json.Marshal(details)
	if err != nil {
		return err
	}
	a, address := actorOf(ctx), ""
	if a.Address.IsValid() {
		address = a.Address.String()
	}
	if _, err := t.Exec(insertAuditSQL, owner, e.ID, string(a.Kind), a.PersonID, cutText(a.PersonName), a.AppID, cutText(a.AppName), address,
		string(e.Action), cutText(e.ObjectID), cutText(e.ObjectName), string(text)); err != nil {
		return fmt.Errorf("record %s: %w", e.Action, err)
	}
	return nil
}

// newAuditID returns an ID that sorts after those of earlier calls in this process.
func newAuditID() string {
	auditID, _ := id.NewTick(time.Now()).ID(id.Audit)
	return auditID
}

// cutText bounds a text by its number of characters.
func cutText(text string) string {
	if len(text) <= maxAuditText {
		return text
	}
	runes := []rune(strings.ToValidUTF8(text, ""))
	if len(runes) <= maxAuditText {
		return string(runes)
	}
	return string(runes[:maxAuditText-1]) + "…"
}

// RecordAudit records something that changes no data, such as an export. Call it before the first
// byte is sent.
func (s *Store) RecordAudit(ctx context.Context, owner string, e AuditEntry) (err error) {
	defer wrap(&err, "record in audit log")
	return s.db.Write(ctx, func(t db.Tx) error { return recordAudit(ctx, t, owner, e) })
}

// RecordExport records that responses to a form are exported.
func (s *Store) RecordExport(ctx context.Context, owner, formID, format string) error {
	return s.RecordAudit(ctx, owner, AuditEntry{Action: AuditResponsesExported, ObjectID: formID, Details: map[string]string{"format": format}})
}

// RecordFiles records that the files of a response are downloaded.
func (s *Store) RecordFiles(ctx context.Context, owner string, r form.Response) error {
	return s.RecordAudit(ctx, owner, AuditEntry{Action: AuditFilesDownloaded, ObjectID: r.FormID, Details: map[string]string{"response_id": r.ID}})
}

// AuditFilter selects entries of an audit log. Empty parts select all.
type AuditFilter struct {
	Action       AuditAction
	PersonID     string
	Since, Until time.Time
	Before       string // ID of an entry: only older ones
}

// lastAuditID is greater than the IDs of all entries.
const lastAuditID = id.Audit + lastID

// Audit returns entries of the audit log of a space, newest first.
func (s *Store) Audit(ctx context.Context, owner string, f AuditFilter, limit int64) (list []AuditEntry, err error) {
	defer wrap(&err, "read audit log")
	before, since := f.Before, ""
	if before == "" {
		before = lastAuditID
	}
	if !f.Until.IsZero() {
		before = min(before, id.First(id.Audit, f.Until))
	}
	if !f.Since.IsZero() {
		since = id.First(id.Audit, f.Since)
	}
	err = s.db.Query(ctx, auditSQL, func(r db.Row) error {
		e, err := scanAudit(r)
		list = append(list, e)
		return err
	}, owner, before, since, string(f.Action), f.PersonID, limit)
	return list, err
}

func scanAudit(r db.Row) (e AuditEntry, err error) {
	var kind, address, action, details string
	if err := r.Scan(&e.ID, &kind, &e.Actor.PersonID, &e.Actor.PersonName, &e.Actor.AppID, &e.Actor.AppName, &address,
		&action, &e.ObjectID, &e.ObjectName, &details); err != nil {
		return e, err
	}
	e.Actor.Kind, e.Action = ActorKind(kind), AuditAction(action)
	e.Actor.Address, _ = netip.ParseAddr(address)
	return e, json.Unmarshal([]byte(details), &e.Details)
}

// auditBatch is how many entries StreamAudit reads at a time.
const auditBatch = 500

// StreamAudit calls fn with the entries that the filter selects, newest first.
func (s *Store) StreamAudit(ctx context.Context, owner string, f AuditFilter, fn func(AuditEntry) error) error {
	for {
		list, err := s.Audit(ctx, owner, f, auditBatch)
		if err != nil {
			return err
		}
		for _, e := range list {
			if err := fn(e); err != nil {
				return err
			}
			f.Before = e.ID
		}
		if len(list) < auditBatch {
			return nil
		}
	}
}
