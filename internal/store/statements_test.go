package store

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// everyones are the statements that look at what all accounts own: those that
// clean up now and then. No request waits for them.
var everyones = []string{"sweep.go", "backup.go", "dueSQL", "oldTrashSQL"}

// A statement on what an account owns names the account, so that a database that
// is spread over machines asks one of them.
func TestStatementsNameTheAccount(t *testing.T) {
	uses := regexp.MustCompile(`(?:FROM|JOIN|UPDATE|INTO)\s+(` + strings.Join(spread, "|") + `)\b`)
	names := regexp.MustCompile(`account_id = \$\d|(?s)INTO \w+\s*\(account_id,`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || slices.Contains(everyones, name) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && slices.Contains(everyones, spec.Names[0].Name) {
				return false
			}
			text, ok := n.(*ast.BasicLit)
			if !ok || text.Kind != token.STRING {
				return true
			}
			sql, err := strconv.Unquote(text.Value)
			if err != nil || !uses.MatchString(sql) {
				return true
			}
			if seen++; !names.MatchString(sql) {
				t.Errorf("%s: this names no account:\n%s", name, sql)
			}
			return true
		})
	}
	if seen < 50 {
		t.Errorf("only %d statements were looked at", seen)
	}
	t.Logf("%d statements name the account", seen)
}
