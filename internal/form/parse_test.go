package form

import (
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"
)

const stored = `{"email":"ada@example.com","story":"a \"b\"\nc \u00e9","n":-1.5e3,"yes":true,"no":false,"list":["a","b"],"empty":[],"grid":{"r1":"x","r2":["y"]},"none":{}}`

// For stored answers, the parser returns the same values as encoding/json.
func FuzzStored(f *testing.F) {
	f.Add(stored)
	f.Add(`{"a": 1, "b": [1, 2], "c": {"d": "e"}}`)
	f.Add(`{"a":"\\\\"}`)
	f.Add(`{"a":1,}`)
	f.Fuzz(func(t *testing.T, text string) {
		got := map[string]any{}
		err := parseAnswers(text, got)
		var want map[string]any
		if !utf8.ValidString(text) || json.Unmarshal([]byte(text), &want) != nil || hasNull(want) {
			return // not something that the service stores
		}
		if err != nil {
			if deep(want) {
				return
			}
			t.Fatalf("%q: %v", text, err)
		}
		if len(want) == 0 {
			want = map[string]any{}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
	})
}

func hasNull(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case []any:
		for _, member := range v {
			if hasNull(member) {
				return true
			}
		}
	case map[string]any:
		if v == nil {
			return true
		}
		for _, member := range v {
			if hasNull(member) {
				return true
			}
		}
	}
	return false
}

func deep(value any) bool {
	text, _ := json.Marshal(value)
	depth, most := 0, 0
	for _, c := range text {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		most = max(most, depth)
	}
	return most > 8
}

func BenchmarkStored(b *testing.B) {
	for b.Loop() {
		if err := parseAnswers(stored, map[string]any{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStoredByLibrary(b *testing.B) {
	for b.Loop() {
		var answers map[string]any
		if err := json.Unmarshal([]byte(stored), &answers); err != nil {
			b.Fatal(err)
		}
	}
}
