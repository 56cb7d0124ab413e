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
				t.Fatal("there is none in the sample")
			}
			f, traits, schema := d.Fields[at], k.Traits(), k.Schema(d.Fields[at])
			if KindOf(k.Name()) != k || !keyPattern.MatchString(k.Name()) {
				t.Error("it has the name of another kind, or none that can be a key")
			}
			for _, name := range traits.Fixed {
				if !slices.Contains(k.Properties(), name) {
					t.Errorf("%s is fixed and no property", name)
				}
			}
			if schema == nil {
				if traits.Summary != CountOnly || traits.Example != nil || k.ParseForm(f, url.Values{f.Key: {"x"}}) != nil {
					t.Error("it has no schema, but answers")
				}
				return
			}
			if schema["type"] == nil {
				t.Errorf("the schema has no type: %v", schema)
			}
			if isObject := schema["type"] == "object"; isObject != (f.Parts() != nil) {
				t.Error("objects have parts, and nothing else has")
			}
			if schema["type"] == "array" != (traits.List && f.Parts() == nil) {
				t.Error("an array is a list")
			}
			if (traits.TimeLayout != "") != (traits.Input == "date" || traits.Input == "time" || traits.Input == "datetime-local") {
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
	if example == nil {
		t.Fatal("there is no example of an answer")
	}
	stored, err := k.Validate(f, example)
	if err != nil || stored == nil {
		t.Fatalf("the example %v is not an answer: %v", example, err)
	}
	posted := k.ParseForm(f, FormValues(f, stored))
	if again, err := k.Validate(f, posted); err != nil || !reflect.DeepEqual(again, stored) {
		t.Errorf("%v comes back from the page as %v: %v", stored, again, err)
	}
	text := f.FormatAnswer(stored, func(word string) string { return word })
	if text == "" {
		t.Errorf("%v has no text", stored)
	}
}
