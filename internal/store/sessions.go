package store

import (
	"context"
	"errors"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
)

const (
	insertSessionSQL = `INSERT INTO session (account_id, id, hash, created_at, used_at, address, agent)
		VALUES ($1, $2, $3, $4, $4, $5, $6)`
	sessionSQL = `SELECT s.hash, s.created_at, s.used_at, a.id, a.email, a.name, a.language, a.role, a.password, a.created_at, a.disabled_at, a.time_zone, a.email_verified_at,
		COALESCE((SELECT 1 FROM membership m WHERE m.account_id = s.account_id LIMIT 1), 0)
		FROM session s JOIN account a ON a.id = s.account_id WHERE s.account_id = $1 AND s.id = $2`
	sessionsSQL        = `SELECT id, created_at, used_at, address, agent FROM session WHERE account_id = $1 ORDER BY used_at DESC, id DESC`
	markSessionUsedSQL = `UPDATE session SET used_at = $3 WHERE account_id = $1 AND id = $2`
	endSessionSQL      = `DELETE FROM session WHERE account_id = $1 AND id = $2`
	endSessionsSQL     = `DELETE FROM session WHERE account_id = $1 AND id <> $2`
)

// NewSession is a session that begins.
type NewSession struct {
	Secret  account.Secret
	Address string
	Agent   string
	Mails   []Mail
}

// AddSession stores a new session.
func (s *Store) AddSession(ctx context.Context, n NewSession, now time.Time) (err error) {
	defer wrap(&err, "add session")
	owner := n.Secret.Account
	err = s.db.Write(ctx, func(t db.Tx) error {
		if _, err := t.Exec(insertSessionSQL, owner, n.Secret.ID, n.Secret.Hash, toMillis(now), n.Address, n.Agent); err != nil {
			return err
		}
		return addMails(t, owner, n.Mails...)
	})
	if len(n.Mails) > 0 {
		s.mailsAdded()
	}
	return err
}

// Session returns a session and its user. The caller decides whether it has expired.
func (s *Store) Session(ctx context.Context, key account.SecretRef) (_ account.Session, _ account.User, err error) {
	defer wrap(&err, "read session")
	session := account.Session{Account: key.Account, ID: key.ID}
	var p account.User
	var created, used, joined, disabled, verified, others int64
	err = queryOne(s.query(forCaller(ctx, key.Account)), sessionSQL, []any{key.Account, key.ID}, &session.Hash, &created, &used,
		&p.ID, &p.Email, &p.Name, &p.Language, &p.Role, &p.Password, &joined, &disabled, &p.TimeZone, &verified, &others)
	if err == nil && !account.EqualHash(session.Hash, key.Hash) {
		err = fault.NotFound
	}
	session.CreatedAt, session.UsedAt, session.InOtherSpaces = fromMillis(created), fromMillis(used), others != 0
	p.CreatedAt, p.Disabled, p.EmailVerifiedAt = fromMillis(joined), disabled != 0, fromMillis(verified)
	return session, p, err
}

// Sessions lists the active sessions of a user.
func (s *Store) Sessions(ctx context.Context, owner string) (_ []account.Session, err error) {
	defer wrap(&err, "list sessions")
	var list []account.Session
	err = s.db.Query(ctx, sessionsSQL, func(r db.Row) error {
		session := account.Session{Account: owner}
		var created, used int64
		err := r.Scan(&session.ID, &created, &used, &session.Address, &session.Agent)
		session.CreatedAt, session.UsedAt = fromMillis(created), fromMillis(used)
		list = append(list, session)
		return err
	}, owner)
	return list, err
}

// MarkSessionUsed stores that a session was used.
func (s *Store) MarkSessionUsed(ctx context.Context, owner, id string, now time.Time) (err error) {
	defer wrap(&err, "mark session used")
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(markSessionUsedSQL, owner, id, toMillis(now))
		return err
	})
}

// EndSession ends one session.
func (s *Store) EndSession(ctx context.Context, owner, id string) (err error) {
	defer wrap(&err, "end session")
	if !account.ValidSelector(id) {
		return fault.NotFound
	}
	return s.db.Write(ctx, func(t db.Tx) error { return checkAffected(t.Exec(endSessionSQL, owner, id)) })
}

// EndOtherSessions ends all sessions of a user but one, and deletes all known devices but
// one.
func (s *Store) EndOtherSessions(ctx context.Context, owner, keepSession, keepDevice string) (err error) {
	defer wrap(&err, "end other sessions")
	return s.db.Write(ctx, func(t db.Tx) error { return endSessions(t, owner, keepSession, keepDevice) })
}

func endSessions(t db.Tx, owner, keepSession, keepDevice string) error {
	if _, err := t.Exec(endSessionsSQL, owner, keepSession); err != nil {
		return err
	}
	_, err := t.Exec(forgetDevicesSQL, owner, keepDevice)
	return err
}

// maxDevices limits the known devices of an account; those unused for longest are
// deleted.
const maxDevices = 20

const (
	keepDeviceSQL = `INSERT INTO device (account_id, id, hash, created_at, used_at) VALUES ($1, $2, $3, $4, $4)
		ON CONFLICT (account_id, id) DO UPDATE SET used_at = $4`
	deviceSQL     = `SELECT hash FROM device WHERE account_id = $1 AND id = $2 AND used_at > $3`
	oldDevicesSQL = `DELETE FROM device WHERE account_id = $1 AND id IN
		(SELECT id FROM device WHERE account_id = $1 ORDER BY used_at DESC, id DESC LIMIT 1000 OFFSET $2)`
	forgetDevicesSQL = `DELETE FROM device WHERE account_id = $1 AND id <> $2`
)

// KeepDevice stores a device from which a user has signed in.
func (s *Store) KeepDevice(ctx context.Context, key account.SecretRef, now time.Time) (err error) {
	defer wrap(&err, "keep device")
	return s.db.Write(ctx, func(t db.Tx) error {
		if _, err := t.Exec(keepDeviceSQL, key.Account, key.ID, key.Hash, toMillis(now)); err != nil {
			return err
		}
		_, err := t.Exec(oldDevicesSQL, key.Account, maxDevices)
		return err
	})
}

// KnowsDevice reports whether the key is that of a known device of its account.
func (s *Store) KnowsDevice(ctx context.Context, key account.SecretRef, now time.Time) (_ bool, err error) {
	defer wrap(&err, "look up device")
	var hash string
	err = queryOne(s.query(ctx), deviceSQL, []any{key.Account, key.ID, toMillis(now.Add(-account.DeviceIdle))}, &hash)
	if errors.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil && account.EqualHash(hash, key.Hash), err
}
