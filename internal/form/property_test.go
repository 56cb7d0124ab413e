package form

import (
	"slices"
	"testing"
)

// The builder can offer every kind: it has a title, and each of its properties has an
// input.
func TestKindsForOwners(t *testing.T) {
	titles := map[string]bool{}
	for _, k := range Kinds() {
		about := k.Info()
		if about.Title == "" || about.Description == "" || about.Group == "" || about.Icon == "" || titles[about.Title] {
			t.Errorf("%s has the info %+v", k.Name(), about)
		}
		titles[about.Title] = true
		for _, name := range k.Properties() {
			if !slices.ContainsFunc(KindProperties, func(p Property) bool { return p.Name == name && p.Label != "" && p.Input != "" }) {
				t.Errorf("%s of %s has no input", name, k.Name())
			}
		}
	}
	for _, p := range KindProperties {
		if !slices.ContainsFunc(Kinds(), func(k Kind) bool { return slices.Contains(k.Properties(), p.Name) }) {
			t.Errorf("no kind has %s", p.Name)
		}
	}
}
