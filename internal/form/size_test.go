package form

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// largeDefinitions are definitions as JSON, each large in a different way.
func largeDefinitions() map[string]string {
	fields := func(n int, field func(i int) string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = field(i)
		}
		return `{"fields": [` + strings.Join(list, ",") + `]}`
	}
	number := `{"key": "n", "kind": "number", "label": "How many?"},`
	return map[string]string{
		"fields": fields(400, func(i int) string {
			return fmt.Sprintf(`{"key": "question_%d", "kind": "short_text", "label": "Question number %d?", "help": "%s"}`, i, i, strings.Repeat("Help. ", 20))
		}),
		"options": fields(10, func(i int) string {
			options := make([]string, 500)
			for j := range options {
				options[j] = fmt.Sprintf(`{"value": "option_%d", "label": "The option %d"}`, j, j)
			}
			return fmt.Sprintf(`{"key": "choice_%d", "kind": "multiple_choice", "label": "Choice", "options": [%s]}`, i, strings.Join(options, ","))
		}),
		"conditions": fields(100, func(i int) string {
			if i == 0 {
				return strings.TrimSuffix(number, ",")
			}
			parts := strings.Repeat(`{"field": "n", "op": "greater", "value": 7},`, 40)
			return fmt.Sprintf(`{"key": "f_%d", "kind": "short_text", "label": "Text", "show_if": {"any": [%s]}}`, i, strings.TrimSuffix(parts, ","))
		}),
		"formulas": fields(200, func(i int) string {
			if i == 0 {
				return strings.TrimSuffix(number, ",")
			}
			return fmt.Sprintf(`{"key": "c_%d", "kind": "calculated", "label": "Sum", "expression": "%s1"}`, i, strings.Repeat("round(n, 2) * 2 + ", 10))
		}),
	}
}

func parseDefinition(t testing.TB, text string) *Definition {
	t.Helper()
	d := &Definition{}
	if err := json.Unmarshal([]byte(text), d); err != nil {
		t.Fatal(err)
	}
	return d
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// Caches are bounded by Size, so it must not be off by more than a factor of 2.
func TestSizeMatchesHeap(t *testing.T) {
	for name, text := range largeDefinitions() {
		t.Run(name, func(t *testing.T) {
			const copies = 5 // several, so that other changes of the heap do not matter
			kept := make([]*Definition, copies)
			before := heap()
			for i := range kept {
				kept[i] = parseDefinition(t, text)
				kept[i].prepared()
			}
			used := (heap() - before) / copies
			size := kept[0].Size()
			t.Logf("%d bytes of JSON: %d estimated, %d used", len(text), size, used)
			if size < used/2 || size > used*2 {
				t.Errorf("estimated %d bytes, used %d", size, used)
			}
			runtime.KeepAlive(kept)
		})
	}
}
