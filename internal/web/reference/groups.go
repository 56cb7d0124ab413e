package reference

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// reference is the API document in the form that the pages show.
type reference struct {
	Groups []*apiGroup
	byID   map[string]*apiOperation
}

// apiGroup is a group of operations: those with one tag of the document.
type apiGroup struct {
	Name       string
	About      string
	Anchor     string
	Operations []*apiOperation
}

// newReference reads an OpenAPI document.
func newReference(text []byte, base string) (*reference, error) {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("read the API document: %w", err)
	}
	ref := &reference{byID: map[string]*apiOperation{}}
	groups := map[string]*apiGroup{}
	for _, tag := range d.Tags {
		g := &apiGroup{Name: tag.Name, About: tag.Description, Anchor: anchor(tag.Name)}
		groups[tag.Name] = g
		ref.Groups = append(ref.Groups, g)
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			if len(op.Tags) != 1 || groups[op.Tags[0]] == nil {
				return nil, fmt.Errorf("the API document has %s without a group", op.ID)
			}
			g := groups[op.Tags[0]]
			o := d.operation(base, strings.ToUpper(method), path, op)
			o.Group = g
			g.Operations = append(g.Operations, o)
			ref.byID[o.ID] = o
		}
	}
	var last *apiOperation
	for _, g := range ref.Groups {
		slices.SortFunc(g.Operations, func(a, b *apiOperation) int { return cmp.Compare(a.order, b.order) })
		for _, o := range g.Operations {
			if o.Before = last; last != nil {
				last.After = o
			}
			last = o
		}
	}
	return ref, nil
}

// anchor turns a name into the fragment of an address.
func anchor(name string) string {
	return strings.Trim(notInAnchor.ReplaceAllString(strings.ToLower(name), "-"), "-")
}

var notInAnchor = regexp.MustCompile(`[^a-z0-9]+`)
