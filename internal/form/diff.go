package form

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Change is one difference between two states of a form. It is data rather than a text,
// so that the builder can name things as its panel does.
type Change struct {
	Action     string   `json:"action"`               // added, removed, changed or reordered
	Subject    string   `json:"subject"`              // field, ending, settings, or a property of the form
	Key        string   `json:"key,omitempty"`        // of the field or ending
	Properties []string `json:"properties,omitempty"` // of the field, ending or settings that differ
	From       any      `json:"from,omitempty"`       // the property of the form before
	To         any      `json:"to,omitempty"`
}

// String is a line as in a diff: what is new (+), gone (-) or different (~).
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

// What can have happened to something.
const (
	Added     = "added"
	Removed   = "removed"
	Changed   = "changed"
	Reordered = "reordered"
)

// Diff is what makes one form another. Fields are the same if their ids are.
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
	var order []string // of what stays, as it was
	for _, m := range before {
		id, _ := name(m)
		old[id] = m
	}
	kept := map[string]bool{}
	for _, m := range after {
		id, key := name(m)
		was, known := old[id]
		if !known {
			list = append(list, Change{Action: Added, Subject: subject, Key: key})
			continue
		}
		kept[id] = true
		order = append(order, id)
		if names := changedProperties(was, m); len(names) > 0 {
			list = append(list, Change{Action: Changed, Subject: subject, Key: key, Properties: names})
		}
	}
	var stayed []string
	for _, m := range before {
		id, key := name(m)
		if kept[id] {
			stayed = append(stayed, id)
		} else {
			list = append(list, Change{Action: Removed, Subject: subject, Key: key})
		}
	}
	if !slices.Equal(stayed, order) {
		list = append(list, Change{Action: Reordered, Subject: subject})
	}
	return list
}

// changedProperties are the names of the JSON properties that differ.
func changedProperties(before, after any) []string {
	was, is := propertiesOf(before), propertiesOf(after)
	var names []string
	for name, value := range is {
		if string(was[name]) != string(value) {
			names = append(names, name)
		}
	}
	for name := range maps.Keys(was) {
		if _, ok := is[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func propertiesOf(value any) map[string]json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // definitions are made of JSON
	}
	var properties map[string]json.RawMessage
	if err := json.Unmarshal(text, &properties); err != nil {
		panic(err)
	}
	return properties
}
