package cli

import (
	"maps"
	"testing"

	"formulary/internal/web"
)

// Questions of the demo that ask for words get some that answer them, and no words
// are left over.
func TestDemoWords(t *testing.T) {
	left := maps.Clone(demoAnswerTexts)
	for _, wanted := range demoForms {
		if !wanted.publish {
			continue
		}
		plan, err := web.LoadTemplate(wanted.language, wanted.name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range plan.Definition.Fields {
			if f.Kind == "long_text" && demoAnswerTexts[f.Key] == nil {
				t.Errorf("%s: %s has no words", wanted.name, f.Key)
			}
			delete(left, f.Key)
		}
	}
	for key := range left {
		t.Errorf("nobody asks for %s", key)
	}
}
