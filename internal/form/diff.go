package form

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Diff says in lines what makes one plan another: what is new (+), gone (-)
// or different (~). Fields are the same when their ids are.
func Diff(before, after FormInput) []string {
	var list []string
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	changed := func(name string, from, to any) {
		if from != to {
			say("~ %s: %v → %v", name, quoteOrNone(from), quoteOrNone(to))
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
		say("~ settings: %s", strings.Join(names, ", "))
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

func changedMembers[T any](what string, before, after []T, name func(T) (id, key string)) []string {
	var list []string
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
			list = append(list, fmt.Sprintf("+ %s %s", what, key))
			continue
		}
		kept[id] = true
		order = append(order, id)
		if names := changedProperties(was, m); len(names) > 0 {
			list = append(list, fmt.Sprintf("~ %s %s: %s", what, key, strings.Join(names, ", ")))
		}
	}
	var stayed []string
	for _, m := range before {
		id, key := name(m)
		if kept[id] {
			stayed = append(stayed, id)
		} else {
			list = append(list, fmt.Sprintf("- %s %s", what, key))
		}
	}
	if !slices.Equal(stayed, order) {
		list = append(list, fmt.Sprintf("~ order of %ss", what))
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
