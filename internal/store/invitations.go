package store

import (
	"cmp"
	"context"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
)

const (
	// InvitationTTL is how long an invitation can be accepted.
	InvitationTTL = 7 * 24 * time.Hour
	// MaxInvitations is how many open invitations a space can have.
	MaxInvitations = 200
)

// Invitation lets a person join a shared space or, with a form, use that form.
type Invitation struct {
	Space     string // ID of its account
	ID        string
	Email     string // of the only person who can accept it; empty: whoever has the link can
	Role      account.Role
	FormID    string // empty: it is to the space
	InvitedBy string // ID of a person
	CreatedAt time.Time
	ExpiresAt time.Time
}

// IsOpen reports whether the invitation can still be accepted.
func (i Invitation) IsOpen(now time.Time) bool { return now.Before(i.ExpiresAt) }

const invitationColumns = `account_id, id, email, role, form_id, invited_by, created_at, expires_at`

func scanInvitation(r db.Row, more ...any) (Invitation, error) {
	var i Invitation
	var role string
	var created, expires int64
	err := r.Scan(append([]any{&i.Space, &i.ID, &i.Email, &role, &i.FormID, &i.InvitedBy, &created, &expires}, more...)...)
	i.Role, i.CreatedAt, i.ExpiresAt = account.Role(role), fromMillis(created), fromMillis(expires)
	return i, err
}

const (
	insertInvitationSQL = `INSERT INTO invitation (account_id, id, hash, email, email_key, role, form_id, invited_by, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
	invitationsSQL         = `SELECT ` + invitationColumns + ` FROM invitation WHERE account_id = $1 AND form_id = $2 ORDER BY created_at DESC, id DESC`
	invitationSQL          = `SELECT ` + invitationColumns + `, hash FROM invitation WHERE account_id = $1 AND id = $2`
	countInvitationsSQL    = `SELECT COUNT(*) FROM invitation WHERE account_id = $1 AND expires_at > $2`
	dropInvitationSQL      = `DELETE FROM invitation WHERE account_id = $1 AND id = $2`
	replaceInvitationSQL   = `DELETE FROM invitation WHERE account_id = $1 AND email_key = $2 AND form_id = $3 AND email_key <> ''`
	dropFormInvitationsSQL = `DELETE FROM invitation WHERE account_id = $1 AND form_id = $2`
	// Somebody who may not manage the space any more could have kept a link to come back.
	dropInvitationsBySQL = `DELETE FROM invitation WHERE account_id = $1 AND invited_by = $2`
	spendInvitationSQL   = `DELETE FROM invitation WHERE account_id = $1 AND id = $2 AND hash = $3 AND expires_at > $4
		RETURNING ` + invitationColumns
)

// NewInvitation is an invitation with its secret.
type NewInvitation struct {
	Invitation
	Secret   account.Secret // its account is the space
	Replaces string         // ID of the invitation that this one ends; empty: none
	Mails    []Mail
}

// Invite adds an invitation. An earlier one to the same address ends.
func (s *Store) Invite(ctx context.Context, n NewInvitation, now time.Time) (err error) {
	defer wrap(&err, "invite")
	space := n.Secret.Account
	n.Space = space
	err = s.write(ctx, space, func(t db.Tx) error {
		if err := checkInvitation(t, n.Invitation, space); err != nil {
			return err
		}
		if n.Replaces != "" {
			if err := checkAffected(t.Exec(dropInvitationSQL, space, n.Replaces)); err != nil {
				return err
			}
		}
		key := account.EmailKey(n.Email)
		if _, err := t.Exec(replaceInvitationSQL, space, key, n.FormID); err != nil {
			return err
		}
		var open int64
		if err := queryOne(t.Query, countInvitationsSQL, []any{space, toMillis(now)}, &open); err != nil {
			return err
		}
		if open >= MaxInvitations {
			return fault.New(fault.QuotaReached, "A space can have %d open invitations. Withdraw one first.", MaxInvitations)
		}
		if _, err := t.Exec(insertInvitationSQL, space, n.Secret.ID, n.Secret.Hash, n.Email, key, string(n.Role), n.FormID, n.InvitedBy,
			toMillis(now), toMillis(now.Add(InvitationTTL))); err != nil {
			return err
		}
		if err := recordInvitation(ctx, t, n.Invitation, AuditInvitationCreated); err != nil {
			return err
		}
		return addMails(t, space, n.Mails...)
	})
	if len(n.Mails) > 0 {
		s.mailsAdded()
	}
	return err
}

// checkInvitation locks the space and returns an error if the invitation is to nothing, or the
// person is a member already.
func checkInvitation(t db.Tx, i Invitation, space string) error {
	if i.FormID == "" {
		if err := holdSpace(t, space); err != nil {
			return err
		}
	} else {
		if err := checkAffected(t.Exec(holdAccountSQL, space)); err != nil {
			return err
		}
		if _, err := readForm(t.Query, space, i.FormID); err != nil {
			return err
		}
	}
	if err := checkOwner(t, space, i.InvitedBy); err != nil || i.Email == "" {
		return err
	}
	person, err := queryUser(t.Query, userByEmailSQL, account.EmailKey(i.Email))
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return checkNoMember(t, space, person.ID)
}

// checkNoMember returns an error if a person is a member of a space.
func checkNoMember(t db.Tx, space, person string) error {
	var role string
	err := queryOne(t.Query, memberRoleSQL, []any{space, person}, &role)
	if err == nil || person == space {
		return fault.New(fault.Conflict, "That person is a member of this space already.")
	}
	return replaceNotFound(err, nil)
}

// Invitations lists the invitations to a space or, with the ID of a form, to that form; those
// that have expired too.
func (s *Store) Invitations(ctx context.Context, space, formID string) (_ []Invitation, err error) {
	defer wrap(&err, "list invitations")
	var list []Invitation
	err = s.db.Query(ctx, invitationsSQL, func(r db.Row) error {
		i, err := scanInvitation(r)
		list = append(list, i)
		return err
	}, space, formID)
	return list, err
}

// Invitation returns an invitation by its ID.
func (s *Store) Invitation(ctx context.Context, space, invitation string) (_ Invitation, err error) {
	defer wrap(&err, "read invitation")
	i, _, err := readInvitation(s.query(ctx), space, invitation)
	return i, err
}

func readInvitation(q querier, space, invitation string) (i Invitation, hash string, err error) {
	err = fault.NotFound
	if !account.ValidSelector(invitation) {
		return i, "", err
	}
	if e := q(invitationSQL, func(r db.Row) error {
		i, err = scanInvitation(r, &hash)
		return err
	}, space, invitation); e != nil {
		return i, "", e
	}
	return i, hash, err
}

// WithdrawInvitation ends an invitation.
func (s *Store) WithdrawInvitation(ctx context.Context, space, invitation string) error {
	return Manager{store: s}.WithdrawInvitation(ctx, space, invitation)
}

// WithdrawInvitation is Store.WithdrawInvitation.
func (m Manager) WithdrawInvitation(ctx context.Context, space, invitation string) (err error) {
	defer wrap(&err, "withdraw invitation")
	if !account.ValidSelector(invitation) {
		return fault.NotFound
	}
	return m.store.write(ctx, space, func(t db.Tx) error {
		if err := m.hold(t, space); err != nil {
			return err
		}
		withdrawn := Invitation{Space: space}
		if err := queryOne(t.Query, dropInvitationSQL+` RETURNING email`, []any{space, invitation}, &withdrawn.Email); err != nil {
			return err
		}
		return recordInvitation(ctx, t, withdrawn, AuditInvitationRevoked)
	})
}

// AnyoneWithLink names in the audit log those who can accept an invitation without an email address.
const AnyoneWithLink = "anyone with the link"

// recordInvitation records what became of an invitation.
func recordInvitation(ctx context.Context, t db.Tx, i Invitation, action AuditAction) error {
	return recordAudit(ctx, t, i.Space, AuditEntry{Action: action, ObjectName: cmp.Or(i.Email, AnyoneWithLink), Details: details{"role": string(i.Role)}})
}

// ErrInvitation is the error for an invitation that was accepted, was withdrawn or has expired.
var ErrInvitation = fault.New(fault.BadRequest, "This invitation was already used, was withdrawn, or has expired.")

// CheckInvitation returns the invitation of a link that can still be accepted.
func (s *Store) CheckInvitation(ctx context.Context, text string, now time.Time) (_ Invitation, err error) {
	defer wrap(&err, "check invitation")
	key, ok := account.ParseSecret(account.InvitationKey, text)
	if !ok {
		return Invitation{}, ErrInvitation
	}
	i, hash, err := readInvitation(s.query(ctx), key.Account, key.ID)
	if err != nil {
		return i, replaceNotFound(err, ErrInvitation)
	}
	if !account.EqualHash(hash, key.Hash) || !i.IsOpen(now) {
		return Invitation{}, ErrInvitation
	}
	return i, nil
}

// ErrOtherRecipient is the error for an invitation that was sent to the address of another account.
var ErrOtherRecipient = fault.New(fault.Forbidden, "This invitation is for another account.")

// AcceptInvitation uses an invitation: the person joins the space or may use the form. Of several
// people with the same link, the first one does.
func (s *Store) AcceptInvitation(ctx context.Context, text string, person account.User, now time.Time) (i Invitation, err error) {
	defer wrap(&err, "accept invitation")
	key, ok := account.ParseSecret(account.InvitationKey, text)
	if !ok {
		return i, ErrInvitation
	}
	err = s.writeMembers(ctx, key.Account, person.ID, func(t db.Tx) error {
		// The space's row is locked first, as wherever members change.
		if err := checkAffected(t.Exec(holdAccountSQL, key.Account)); err != nil {
			return replaceNotFound(err, ErrInvitation)
		}
		if i, err = spendInvitation(t, key, now); err != nil {
			return err
		}
		if i.Email != "" && account.EmailKey(i.Email) != account.EmailKey(person.Email) {
			return ErrOtherRecipient
		}
		var inviter string
		if err := queryOne(t.Query, grantEmailSQL, []any{i.InvitedBy}, &inviter); err != nil {
			return replaceNotFound(err, ErrInvitation) // an administrator has disabled them
		}
		if err := checkNoMember(t, i.Space, person.ID); fault.Wrap(err).Code == fault.Conflict {
			return errMember
		} else if err != nil {
			return err
		}
		if err := recordInvitation(ctx, t, i, AuditInvitationAccepted); err != nil {
			return err
		}
		if i.FormID != "" {
			share := FormShare{i.Space, i.FormID, person.ID, i.Role}
			if err := shareForm(t, share, now); err != nil {
				return replaceNotFound(err, ErrInvitation)
			}
			return recordShare(ctx, t, share, AuditFormShared)
		}
		return recordMember(ctx, t, i.Space, person.ID, func() error { return setMember(t, i.Space, person.ID, i.Role, now) })
	})
	return i, err
}

var errMember = fault.New(fault.Conflict, "You are a member of this space already.")

func spendInvitation(t db.Tx, key account.SecretRef, now time.Time) (i Invitation, err error) {
	err = ErrInvitation
	if e := t.Query(spendInvitationSQL, func(r db.Row) error {
		i, err = scanInvitation(r)
		return err
	}, key.Account, key.ID, key.Hash, toMillis(now)); e != nil {
		return i, e
	}
	return i, err
}
