package workspace

import (
	"slices"
	"strings"
	"testing"

	"formulary/internal/store"
)

// Every action has a sentence, whose detail is one that its entries have.
func TestAuditSentences(t *testing.T) {
	t.Parallel()
	for _, a := range store.AuditActions {
		sentence, detail := auditSentences[a.Action], auditDetails[a.Action]
		if sentence == "" {
			t.Errorf("%s has no sentence", a.Action)
		}
		if detail != "" && !slices.Contains(strings.Split(a.Details, ", "), detail) {
			t.Errorf("%s has no detail %s", a.Action, detail)
		}
		if (detail != "") != strings.Contains(sentence, "%[3]s") {
			t.Errorf("%s: %q shows %q", a.Action, sentence, detail)
		}
	}
	if len(auditSentences) != len(store.AuditActions) {
		t.Errorf("%d sentences for %d actions", len(auditSentences), len(store.AuditActions))
	}
}
