package reference

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"
)

// These are the parts of the OpenAPI document that the reference shows.
type (
	document struct {
		Tags []struct {
			Name        string `json:"name"`
			Description string `json:"description"`
		} `json:"tags"`
		Paths      map[string]map[string]*documented `json:"paths"`
		Components struct {
			Schemas map[string]*schema `json:"schemas"`
		} `json:"components"`
	}

	documented struct {
		ID          string                `json:"operationId"`
		Order       int                   `json:"x-order"`
		Summary     string                `json:"summary"`
		Description string                `json:"description"`
		Tags        []string              `json:"tags"`
		Security    []map[string][]string `json:"security"`
		Parameters  []struct {
			Name        string  `json:"name"`
			In          string  `json:"in"`
			Required    bool    `json:"required"`
			Description string  `json:"description"`
			Schema      *schema `json:"schema"`
		} `json:"parameters"`
		Body      content           `json:"requestBody"`
		Responses map[string]answer `json:"responses"`
	}

	answer struct {
		content
		Description string `json:"description"`
		Headers     map[string]struct {
			Description string  `json:"description"`
			Schema      *schema `json:"schema"`
		} `json:"headers"`
	}

	content struct {
		Content map[string]struct {
			Schema *schema `json:"schema"`
		} `json:"content"`
	}

	schema struct {
		Ref         string             `json:"$ref"`
		Type        schemaType         `json:"type"`
		Format      string             `json:"format"`
		Description string             `json:"description"`
		Pattern     string             `json:"pattern"`
		Enum        []any              `json:"enum"`
		Default     any                `json:"default"`
		Examples    []any              `json:"examples"`
		Minimum     *float64           `json:"minimum"`
		Maximum     *float64           `json:"maximum"`
		MinLength   int                `json:"minLength"`
		MaxLength   int                `json:"maxLength"`
		MaxItems    int                `json:"maxItems"`
		Items       *schema            `json:"items"`
		Properties  map[string]*schema `json:"properties"`
		Required    []string           `json:"required"`
	}
)

// schemaType is the type of a value. It ignores null, which only says that a parameter is
// optional.
type schemaType string

func (t *schemaType) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = schemaType(one)
		return nil
	}
	var several []string
	err := json.Unmarshal(text, &several)
	for _, name := range several {
		if name != "null" {
			*t = schemaType(name)
		}
	}
	return err
}

// name is the name of the schema that this one refers to.
func (s *schema) name() string { return strings.TrimPrefix(s.Ref, "#/components/schemas/") }

// resolve returns the schema that a reference refers to.
func (d *document) resolve(s *schema) *schema {
	if s.Ref == "" {
		return s
	}
	if known := d.Components.Schemas[s.name()]; known != nil {
		return known
	}
	return &schema{}
}

// leading are properties that identify an object, and so come first.
var leading = []string{"id", "key", "kind", "title", "label", "description"}

// names are the properties in the order in which readers expect them: those that identify
// the object, required ones as the document lists them, then the others.
func (s *schema) names() []string {
	list := slices.Clone(s.Required)
	var rest []string
	for name := range s.Properties {
		if !slices.Contains(s.Required, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	list = append(list, rest...)
	rank := func(name string) int {
		if at := slices.Index(leading, name); at >= 0 {
			return at
		}
		return len(leading)
	}
	sort.SliceStable(list, func(i, j int) bool { return rank(list[i]) < rank(list[j]) })
	return list
}

// media returns the type and the schema of a body, the first by name if there are
// several.
func (c content) media() (string, *schema) {
	types := c.types()
	if len(types) == 0 {
		return "", nil
	}
	return types[0], c.Content[types[0]].Schema
}

func (c content) types() []string {
	var list []string
	for name := range c.Content {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
