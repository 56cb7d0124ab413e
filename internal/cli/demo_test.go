package cli

import (
	"maps"
	"testing"

	"formulary/internal/web/workspace"
)

// TestDemoAnswers: each long text question of the demo has answers, and no answers are
// unused.
func TestDemoAnswers(t *testing.T) {
	unused := maps.Clone(demoAnswerTexts)
	for _, spec := range demoForms {
		if !spec.publish {
			continue
		}
		plan, err := workspace.LoadTemplate(spec.language, spec.name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range plan.Definition.Fields {
			if f.Kind == "long_text" && demoAnswerTexts[f.Key] == nil {
				t.Errorf("%s: %s has no words", spec.name, f.Key)
			}
			delete(unused, f.Key)
		}
	}
	for key := range unused {
		t.Errorf("no question for %s", key)
	}
}
