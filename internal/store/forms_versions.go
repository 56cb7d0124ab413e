package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
)

// Version is a published version of a form.
type Version struct {
	Number      int64
	Header      form.Header
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

// Versions lists the versions of a form, newest first, and returns their total number.
func (s *Store) Versions(ctx context.Context, owner, formID string, limit, offset int64) (_ []Version, _ int64, err error) {
	defer wrap(&err, "list versions")
	f, err := s.Form(ctx, owner, formID)
	if err != nil || offset >= f.Version {
		return nil, f.Version, err
	}
	var list []Version
	err = s.db.Query(ctx, versionsSQL, func(r db.Row) error {
		var v Version
		var published int64
		err := r.Scan(&v.Number, &v.Header.Title, &v.Header.Description, &v.Header.Language, &published)
		v.PublishedAt = fromMillis(published)
		list = append(list, v)
		return err
	}, owner, formID, limit, offset)
	return list, f.Version, err
}

// Version returns a version with its definition.
func (s *Store) Version(ctx context.Context, owner, formID string, number int64) (_ Version, err error) {
	defer wrap(&err, "read version")
	var v Version
	if _, ok := id.Parse(id.Form, formID); !ok {
		return v, fault.NotFound
	}
	var published int64
	var text string
	err = queryOne(s.query(ctx), versionSQL, []any{owner, formID, number}, &v.Number, &v.Header.Title, &v.Header.Description, &v.Header.Language, &published, &text)
	if err != nil {
		return v, err
	}
	v.PublishedAt = fromMillis(published)
	v.Definition, err = parseDefinition(text)
	return v, err
}

// Definition returns the definition of a version. It never changes, so it is cached.
func (s *Store) Definition(ctx context.Context, owner, formID string, version int64) (_ *form.Definition, err error) {
	defer wrap(&err, "read definition")
	return s.definitions.of(s.query(attributed(ctx, owner)), owner, formID, version)
}

const allDefinitionsSQL = `SELECT definition FROM form_version WHERE account_id = $1 AND form_id = $2 ORDER BY version`

// Definitions returns the fields and the layout of each version in order, for reading
// answers. They have no endings and settings and must not be evaluated: versions share
// equal fields, so that many versions of a large form need little more memory than one.
func (s *Store) Definitions(ctx context.Context, owner, formID string) (_ []*form.Definition, err error) {
	defer wrap(&err, "read definitions")
	f, err := s.Form(ctx, owner, formID)
	if err != nil {
		return nil, err
	}
	key := definitionKey{owner, formID, f.Version}
	if list, ok := s.versions.get(key); ok {
		return list, nil
	}
	fields := fieldsByText{}
	list := make([]*form.Definition, 0, f.Version)
	err = s.db.Query(ctx, allDefinitionsSQL, func(r db.Row) error {
		var text string
		if err := r.Scan(&text); err != nil {
			return err
		}
		d, err := fields.parse(text)
		list = append(list, d)
		return err
	}, owner, formID)
	if err != nil {
		return nil, err
	}
	// A version may have been published since the form was read.
	if int64(len(list)) == f.Version {
		s.versions.put(key, list, fields.size()+int64(len(list))*1024)
	}
	return list, nil
}

// fieldsByText caches fields by their JSON, so that a field of several versions is
// parsed once.
type fieldsByText map[string]*form.Field

func (known fieldsByText) parse(text string) (*form.Definition, error) {
	var raw struct {
		Fields []json.RawMessage `json:"fields"`
		Design struct {
			Layout string `json:"layout"`
		} `json:"design"`
	}
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, fmt.Errorf("stored definition: %w", err)
	}
	d := &form.Definition{Fields: make([]*form.Field, len(raw.Fields)), Design: form.Design{Layout: raw.Design.Layout}}
	for i, field := range raw.Fields {
		f := known[string(field)]
		if f == nil {
			f = &form.Field{}
			if err := json.Unmarshal(field, f); err != nil {
				return nil, fmt.Errorf("stored definition: %w", err)
			}
			known[string(field)] = f
		}
		d.Fields[i] = f
	}
	return d, nil
}

// size estimates the memory of the fields.
func (known fieldsByText) size() int64 {
	var size int64
	for text := range known {
		size += 512 + 4*int64(len(text))
	}
	return size
}

// definitions caches definitions of versions, which never change.
type definitions struct {
	recent *lruCache[definitionKey, *form.Definition]
}

type definitionKey struct {
	owner, form string
	version     int64
}

// Cache sizes in bytes: of single versions, and of all versions of a form.
const (
	maxDefinitions = 16 << 20
	maxVersions    = 8 << 20
)

func (c *definitions) of(q querier, owner, formID string, version int64) (*form.Definition, error) {
	key := definitionKey{owner, formID, version}
	if d, ok := c.recent.get(key); ok {
		return d, nil
	}
	var text string
	if err := queryOne(q, definitionSQL, []any{owner, formID, version}, &text); err != nil {
		return nil, err
	}
	d, err := parseDefinition(text)
	if err != nil {
		return nil, err
	}
	c.recent.put(key, d, d.Size())
	return d, nil
}

// RestoreVersion makes a version the draft of its form, with the title and the design that it
// had. Respondents see no change until the draft is published.
func (s *Store) RestoreVersion(ctx context.Context, owner string, target FormRevision, number int64, now time.Time) (form.Form, error) {
	v, err := s.Version(ctx, owner, target.ID, number)
	if err != nil {
		return form.Form{}, err
	}
	return s.UpdateForm(ctx, owner, target, func(p *form.FormInput) error {
		// A version of an earlier release may have what is a mistake now.
		restored, _, err := form.Accept(v.Definition, p.Definition)
		if err == nil {
			p.Header, p.Definition = v.Header, restored
		}
		return err
	}, now)
}
