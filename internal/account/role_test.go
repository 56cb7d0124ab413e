package account_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"formulary/internal/account"
)

// The documentation prints the table of roles. UPDATE=1 writes it.
func TestRolesAreDocumented(t *testing.T) {
	const file, head = "../../docs/spaces.md", "| permission | owner | editor | viewer | guest |\n|---|---|---|---|---|\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), head)
	if !found {
		t.Fatalf("%s has no table of roles", file)
	}
	table, after, _ := strings.Cut(rest, "\n\n")
	if strings.HasPrefix(rest, "\n") {
		table, after = "", rest[1:]
	}
	var rows []string
	for _, p := range account.Permissions {
		row := "| " + p.Meaning
		for _, role := range append(slices.Clone(account.MemberRoles), account.Guest) {
			if row += " | "; role.Allows(p.Scope) {
				row += "yes"
			}
		}
		rows = append(rows, row+" |")
	}
	want := strings.Join(rows, "\n")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(before+head+want+"\n\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if table != want {
		t.Errorf("the table in %s differs from account.Permissions; run with UPDATE=1", file)
	}
}
