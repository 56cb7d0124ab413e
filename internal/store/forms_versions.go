package store

import (
	"context"
	"sync"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
)

// Version is what a form was when it was published.
type Version struct {
	Number      int64
	Head        form.Head
	Definition  *form.Definition // nil in lists
	PublishedAt time.Time
}

const (
	versionHeadColumns = `version, title, description, language, published_at`
	versionsSQL        = `SELECT ` + versionHeadColumns + ` FROM form_version
		WHERE account_id = $1 AND form_id = $2 ORDER BY version DESC LIMIT $3 OFFSET $4`
	versionSQL = `SELECT ` + versionHeadColumns + `, definition FROM form_version WHERE account_id = $1 AND form_id = $2 AND version = $3
		AND EXISTS (SELECT 1 FROM form WHERE account_id = $1 AND id = $2)`
	definitionSQL = `SELECT definition FROM form_version WHERE account_id = $1 AND form_id = $2 AND version = $3`
)

// Versions are what was published of a form, the newest first, and how many there
// are.
func (s *Store) Versions(ctx context.Context, owner, formID string, limit, offset int64) ([]Version, int64, error) {
	f, err := s.Form(ctx, owner, formID)
	if err != nil || offset >= f.Version {
		return nil, f.Version, err
	}
	var list []Version
	err = s.db.Query(ctx, versionsSQL, func(r row) error {
		var v Version
		var published int64
		err := r.Scan(&v.Number, &v.Head.Title, &v.Head.Description, &v.Head.Language, &published)
		v.PublishedAt = at(published)
		list = append(list, v)
		return err
	}, owner, formID, limit, offset)
	return list, f.Version, err
}

// Version is one of them, with what it asked.
func (s *Store) Version(ctx context.Context, owner, formID string, number int64) (Version, error) {
	var v Version
	if _, ok := account.ParseID(account.FormPrefix, formID); !ok {
		return v, fault.NotFound
	}
	var published int64
	var text string
	err := one(s.query(ctx), versionSQL, []any{owner, formID, number}, &v.Number, &v.Head.Title, &v.Head.Description, &v.Head.Language, &published, &text)
	if err != nil {
		return v, err
	}
	v.PublishedAt = at(published)
	v.Definition, err = parseDefinition(text)
	return v, err
}

// Definition is what a version asked. It never changes, so it is read once.
func (s *Store) Definition(ctx context.Context, owner, formID string, version int64) (*form.Definition, error) {
	return s.definitions.of(s.query(ctx), owner, formID, version)
}

// Definitions are what each version asked, in their order.
func (s *Store) Definitions(ctx context.Context, owner, formID string) ([]*form.Definition, error) {
	f, err := s.Form(ctx, owner, formID)
	if err != nil {
		return nil, err
	}
	list := make([]*form.Definition, 0, f.Version)
	for number := int64(1); number <= f.Version; number++ {
		d, err := s.Definition(ctx, owner, formID, number)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// definitions keeps what versions asked.
type definitions struct {
	mu     sync.Mutex
	known  map[definitionKey]*form.Definition
	weight int
}

type definitionKey struct {
	owner, form string
	version     int64
}

// maxDefinitions is about how many bytes of them are kept.
const maxDefinitions = 16 << 20

func (c *definitions) of(q querier, owner, formID string, version int64) (*form.Definition, error) {
	key := definitionKey{owner, formID, version}
	c.mu.Lock()
	d := c.known[key]
	c.mu.Unlock()
	if d != nil {
		return d, nil
	}
	var text string
	if err := one(q, definitionSQL, []any{owner, formID, version}, &text); err != nil {
		return nil, err
	}
	d, err := parseDefinition(text)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.weight += 4*len(text) + 1024; c.known == nil || c.weight > maxDefinitions {
		c.known, c.weight = map[definitionKey]*form.Definition{}, 4*len(text)+1024
	}
	c.known[key] = d
	return d, nil
}
