package store_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"formulary/internal/store"
)

// The documentation prints the table of actions, and the table has all actions.
func TestAuditActionsAreDocumented(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	var listed []string
	for _, a := range store.AuditActions {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", a.Action, a.Meaning, a.Details)
		listed = append(listed, string(a.Action))
	}
	document, err := os.ReadFile("../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(document), table.String()) {
		t.Errorf("docs/audit.md needs this table:\n%s", table.String())
	}
	file, err := parser.ParseFile(token.NewFileSet(), "audit_actions.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if text, ok := spec.Values[0].(*ast.BasicLit); ok && !slices.Contains(listed, strings.Trim(text.Value, `"`)) {
			t.Errorf("%s is not in the table", text.Value)
		}
		return false
	})
}
