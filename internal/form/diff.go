package form

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Change is one difference between two states of a form. It is structured, so that the
// builder can show it with its own labels.
type Change struct {
	Action     string   `json:"action"`               // added, removed, changed or reordered
	Subject    string   `json:"subject"`              // field, ending, settings, or a property of the form
	Key        string   `json:"key,omitempty"`        // of the field or ending
	Properties []string `json:"properties,omitempty"` // of the field, ending or settings that differ
	From       any      `json:"from,omitempty"`       // the earlier value of a property of the form
	To         any      `json:"to,omitempty"`
}

// String returns a line as in a diff: added (+), removed (-) or changed (~).
func (c Change) String() string {
	switch {
	case c.Action == Added:
		return fmt.Sprintf("+ %s %s", c.Subject, c.Key)
	case c.Action == Removed:
		return fmt.Sprintf("- %s %s", c.Subject, c.Key)
	case c.Action == Reordered:
		return fmt.Sprintf("~ order of %ss", c.Subject)
	case c.Key != "":
		return fmt.Sprintf("~ %s %s: %s", c.Subject, c.Key, strings.Join(c.Properties, ", "))
	case c.Properties != nil:
		return fmt.Sprintf("~ %s: %s", c.Subject, strings.Join(c.Properties, ", "))
	}
	return fmt.Sprintf("~ %s: %v → %v", c.Subject, quoteOrNone(c.From), quoteOrNone(c.To))
}

// Values of Change.Action.
const (
	Added     = "added"
	Removed   = "removed"
	Changed   = "changed"
	Reordered = "reordered"
)

// Diff lists the changes between two forms. Fields with the same ID are the same field.
func Diff(before, after FormInput) []Change {
	var list []Change
	changed := func(name string, from, to any) {
		if from != to {
			list = append(list, Change{Action: Changed, Subject: name, From: from, To: to})
		}
	}
	changed("title", before.Title, after.Title)
	changed("description", before.Description, after.Description)
	changed("language", before.Language, after.Language)
	changed("slug", before.Slug, after.Slug)
	changed("opens_at", timeText(before.OpensAt), timeText(after.OpensAt))
	changed("closes_at", timeText(before.ClosesAt), timeText(after.ClosesAt))
	changed("response_limit", before.ResponseLimit, after.ResponseLimit)
	changed("sites", before.Sites, after.Sites)
	list = append(list, changedMembers("field", before.Definition.Fields, after.Definition.Fields, func(f *Field) (string, string) { return f.ID, f.Key })...)
	list = append(list, changedMembers("ending", before.Definition.Endings, after.Definition.Endings, func(e *Ending) (string, string) { return e.Key, e.Key })...)
	if names := changedProperties(before.Definition.Settings, after.Definition.Settings); len(names) > 0 {
		list = append(list, Change{Action: Changed, Subject: "settings", Properties: names})
	}
	if names := changedProperties(before.Definition.Design, after.Definition.Design); len(names) > 0 {
		list = append(list, Change{Action: Changed, Subject: "design", Properties: names})
	}
	return list
}

func quoteOrNone(value any) any {
	if text, ok := value.(string); ok {
		if text == "" {
			return "none"
		}
		return fmt.Sprintf("“%s”", text)
	}
	return value
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func changedMembers[T any](subject string, before, after []T, name func(T) (id, key string)) []Change {
	var list []Change
	old := map[string]T{}
	var orderAfter []string // IDs of the members in both, in their new order
	for _, m := range before {
		id, _ := name(m)
		old[id] = m
	}
	remaining := map[string]bool{}
	for _, m := range after {
		id, key := name(m)
		previous, known := old[id]
		if !known {
			list = append(list, Change{Action: Added, Subject: subject, Key: key})
			continue
		}
		remaining[id] = true
		orderAfter = append(orderAfter, id)
		if names := changedProperties(previous, m); len(names) > 0 {
			list = append(list, Change{Action: Changed, Subject: subject, Key: key, Properties: names})
		}
	}
	var orderBefore []string
	for _, m := range before {
		id, key := name(m)
		if remaining[id] {
			orderBefore = append(orderBefore, id)
		} else {
			list = append(list, Change{Action: Removed, Subject: subject, Key: key})
		}
	}
	if !slices.Equal(orderBefore, orderAfter) {
		list = append(list, Change{Action: Reordered, Subject: subject})
	}
	return list
}

// changedProperties returns the names of the JSON properties that differ.
func changedProperties(before, after any) []string {
	old, current := propertiesOf(before), propertiesOf(after)
	var names []string
	for name, value := range current {
		if string(old[name]) != string(value) {
			names = append(names, name)
		}
	}
	for name := range maps.Keys(old) {
		if _, ok := current[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func propertiesOf(value any) map[string]json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // cannot happen: definitions consist of JSON types
	}
	var properties map[string]json.RawMessage
	if err := json.Unmarshal(text, &properties); err != nil {
		panic(err)
	}
	return properties
}
