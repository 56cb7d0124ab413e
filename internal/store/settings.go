package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
)

// Names of settings that are secret. Backups leave them out.
const (
	signingKey      = "signing_key"
	previousSigning = "signing_key_previous"
)

const (
	keepSettingSQL = `INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`
	setSettingSQL  = `INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2`
	settingSQL     = `SELECT value FROM setting WHERE name = $1`
	signingKeysSQL = `SELECT name, value FROM setting WHERE name = $1 OR name = $2`
	dropSecretsSQL = `DELETE FROM setting WHERE name = $1 OR name = $2`
)

// previousKeyLife is how long the previous key still verifies: as long as an open page
// can be submitted.
const previousKeyLife = IdempotencyKeyTTL

// signingOwner is the invalidation key of the signing keys.
const signingOwner = "setting/signing_key"

// SigningKeys sign values inside pages. All nodes use the same keys.
type SigningKeys struct {
	Current  []byte
	Previous []byte    // verifies only; nil: none
	Until    time.Time // end of Previous
}

// SigningKeys returns the keys in use, and creates the first one. A rotation by another node
// takes effect like other changes. While the database is unavailable, the last known keys
// are used.
func (s *Store) SigningKeys(ctx context.Context) (_ SigningKeys, err error) {
	defer wrap(&err, "read signing keys")
	keys, generation, ok := s.signing.Get(signingOwner, signingOwner)
	if ok {
		return keys, nil
	}
	keys, err = s.readSigningKeys(ctx)
	if err == nil && keys.Current == nil {
		if err = s.makeSigningKey(ctx); err == nil {
			keys, err = s.readSigningKeys(ctx)
		}
	}
	if err != nil {
		if last := s.lastSigning.Load(); last != nil {
			return *last, nil
		}
		return keys, err
	}
	s.lastSigning.Store(&keys)
	s.signing.Put(signingOwner, generation, keys, 1)
	return keys, nil
}

func (s *Store) readSigningKeys(ctx context.Context) (SigningKeys, error) {
	var keys SigningKeys
	err := s.db.Query(ctx, signingKeysSQL, func(r db.Row) (err error) {
		var name, value string
		if err := r.Scan(&name, &value); err != nil {
			return err
		}
		if name == signingKey {
			keys.Current, err = base64.RawURLEncoding.DecodeString(value)
			return err
		}
		keys.Previous, keys.Until, err = parsePreviousKey(value)
		return err
	}, signingKey, previousSigning)
	return keys, err
}

func (s *Store) makeSigningKey(ctx context.Context) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(keepSettingSQL, signingKey, newSigningKey())
		return err
	})
}

// RotateSigningKey creates a new key. The previous one verifies until the returned time;
// older ones no longer do.
func (s *Store) RotateSigningKey(ctx context.Context, now time.Time) (_ time.Time, err error) {
	defer wrap(&err, "rotate signing key")
	until := now.Add(previousKeyLife)
	err = s.write(ctx, signingOwner, func(t db.Tx) error {
		var old string
		err := queryOne(t.Query, settingSQL, []any{signingKey}, &old)
		if err != nil && !errors.Is(err, fault.NotFound) {
			return err
		}
		if err == nil {
			if _, err := t.Exec(setSettingSQL, previousSigning, strconv.FormatInt(toMillis(until), 10)+" "+old); err != nil {
				return err
			}
		}
		_, err = t.Exec(setSettingSQL, signingKey, newSigningKey())
		return err
	})
	return until, err
}

func newSigningKey() string {
	key := make([]byte, 32)
	rand.Read(key)
	return base64.RawURLEncoding.EncodeToString(key)
}

// parsePreviousKey reads the milliseconds until which a key verifies, and the key.
func parsePreviousKey(value string) ([]byte, time.Time, error) {
	until, text, _ := strings.Cut(value, " ")
	milli, err := strconv.ParseInt(until, 10, 64)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("previous signing key: %w", err)
	}
	key, err := base64.RawURLEncoding.DecodeString(text)
	return key, fromMillis(milli), err
}
