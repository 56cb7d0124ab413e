package form

import (
	"math/rand/v2"
	"net/url"
	"reflect"
	"slices"
	"testing"
)

// Every kind implements what the service needs, and its parts are consistent. Package
// web checks the template and the sketch.
func TestKindsAreComplete(t *testing.T) {
	d := define(t, sample)
	for _, k := range Kinds() {
		t.Run(k.Name(), func(t *testing.T) {
			at := slices.IndexFunc(d.Fields, func(f *Field) bool { return f.Kind == k.Name() })
			if at < 0 {
				t.Fatal("the sample has no such field")
			}
			f, traits, schema := d.Fields[at], k.Traits(), k.Schema(d.Fields[at])
			if KindOf(k.Name()) != k || !keyPattern.MatchString(k.Name()) {
				t.Error("the name is not unique or not a valid key")
			}
			for _, name := range traits.FixedProperties {
				if !slices.Contains(k.Properties(), name) {
					t.Errorf("%s is fixed, but not a property", name)
				}
			}
			if schema == nil {
				if traits.Summary != CountOnly || traits.Example != nil || k.ParseForm(f, url.Values{f.Key: {"x"}}) != nil {
					t.Error("it has answers, but no schema")
				}
				return
			}
			if schema["type"] == nil {
				t.Errorf("the schema has no type: %v", schema)
			}
			if isObject := schema["type"] == "object"; isObject != (f.Parts() != nil) {
				t.Error("exactly the kinds with objects as answers must have parts")
			}
			if schema["type"] == "array" != (f.IsList() && f.Parts() == nil) {
				t.Error("an array is a list")
			}
			if _, ok := k.(FileKind); ok != traits.Files {
				t.Error("exactly the kinds with files as answers are a FileKind")
			}
			isTimeInput := slices.Contains([]string{"date", "time", "datetime-local"}, traits.Input)
			if isTimeInput != (traits.TimeLayout != "") {
				t.Errorf("a time has a layout and a control: %q %q", traits.TimeLayout, traits.Input)
			}
			if traits.Calculated || traits.Hidden {
				return // respondents do not enter an answer
			}
			checkExample(t, k, f)
		})
	}
}

// checkExample converts an example answer to form values and back.
func checkExample(t *testing.T, k Kind, f *Field) {
	t.Helper()
	example := f.Example(Sampler{Name: "Ada", Dice: rand.New(rand.NewPCG(1, 2))})
	if _, needsUpload := k.(FileKind); example == nil && !needsUpload {
		t.Fatal("it has no example answer")
	} else if example == nil {
		example = []any{"fil_01kgd4rh5vf69b91fnpw8qc2zt"}
	}
	stored, err := k.Validate(f, example)
	if err != nil || stored == nil {
		t.Fatalf("the example %v is not valid: %v", example, err)
	}
	posted := k.ParseForm(f, FormValues(f, stored))
	if again, err := k.Validate(f, posted); err != nil || !reflect.DeepEqual(again, stored) {
		t.Errorf("%v is read back from form values as %v: %v", stored, again, err)
	}
	text := f.FormatAnswer(stored, func(word string) string { return word })
	if text == "" {
		t.Errorf("%v has no text", stored)
	}
}
