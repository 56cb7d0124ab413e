package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
)

const (
	keepSettingSQL = `INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`
	settingSQL     = `SELECT value FROM setting WHERE name = $1`
)

// SigningKey signs what pages carry along. All nodes have the same one; it is made
// when it is first asked for.
func (s *Store) SigningKey(ctx context.Context) ([]byte, error) {
	const name = "signing_key"
	var text string
	err := s.db.Write(ctx, func(t tx) error {
		fresh := make([]byte, 32)
		rand.Read(fresh)
		if _, err := t.Exec(keepSettingSQL, name, base64.RawURLEncoding.EncodeToString(fresh)); err != nil {
			return err
		}
		return one(t.Query, settingSQL, []any{name}, &text)
	})
	if err != nil {
		return nil, err
	}
	return base64.RawURLEncoding.DecodeString(text)
}
