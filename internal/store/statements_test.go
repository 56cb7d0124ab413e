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

// allAccounts are the statements on data of all accounts: background work that no
// request waits for.
var allAccounts = []string{
	"cleanup.go", "backup.go", "expiredFormsSQL", "dueOpeningsSQL", "oldTrashSQL", "webhookAccountsSQL", "lapsedGrantsSQL", "lapsedTokensSQL", "spaceWebhooksSQL", "endingGrantsSQL", "grantersSQL", "oldEventFormsSQL",
	"oldAuditSQL", "activeAuditSQL", "mailAccountsSQL", "keptMailsSQL", "formMailAccountsSQL", "notifyingAccountsSQL",
	"dueRetentionSQL", "garbageAccountsSQL", "allMovesSQL", "expiredFilesSQL", "unscannedFilesSQL", "tooLargeOwnersSQL", "examinedPicturesSQL", "files_check.go",
}

// outermost removes everything in parentheses from a statement.
func outermost(sql string) string {
	var out strings.Builder
	depth := 0
	for _, r := range sql {
		switch r {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		default:
			if depth == 0 {
				out.WriteRune(r)
			}
		}
	}
	return out.String()
}

// A statement on data of an account names the account in its outermost condition, so
// that a distributed database runs it on one shard.
func TestStatementsNameTheAccount(t *testing.T) {
	uses := regexp.MustCompile(`(?:FROM|JOIN|UPDATE|INTO)\s+(` + strings.Join(distributed, "|") + `)\b`)
	names := regexp.MustCompile(`account_id = \$\d`)
	whole := regexp.MustCompile(`^\s*(SELECT|UPDATE|DELETE|INSERT|FROM)\b`)
	inserts := regexp.MustCompile(`(?s)^\s*INSERT INTO \w+\s*\(account_id,`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || slices.Contains(allAccounts, name) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && slices.Contains(allAccounts, spec.Names[0].Name) {
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
			seen++
			checked := outermost(sql)
			if !whole.MatchString(sql) {
				checked = sql // a condition with a subquery, whose statement is checked separately
			}
			if !names.MatchString(checked) && !inserts.MatchString(sql) {
				t.Errorf("%s: this statement does not name the account:\n%s", name, sql)
			}
			return true
		})
	}
	if seen < 50 {
		t.Errorf("only %d statements were checked", seen)
	}
	t.Logf("%d statements name the account", seen)
}
