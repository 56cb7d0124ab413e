package account_test

import (
	"testing"

	"formulary/internal/account"
	"formulary/internal/fault"
)

// Only owners who may use all forms can read the audit log.
func TestAuditAccess(t *testing.T) {
	t.Parallel()
	for role, want := range map[account.Role]bool{account.Owner: true, account.Editor: false, account.Viewer: false, account.Guest: false} {
		access := account.Access{Space: "usr_x", Role: role}
		if err := access.Check(account.AuditRead, ""); (err == nil) != want || err != nil && fault.Wrap(err).Code != fault.MissingRole {
			t.Errorf("%s: %v", role, err)
		}
		if err := access.Limit([]string{"frm_x"}).Check(account.AuditRead, ""); err == nil || fault.Wrap(err).Code != fault.MissingRole {
			t.Errorf("%s with some forms: %v", role, err)
		}
	}
	for _, scope := range account.DefaultScopes() {
		if scope == account.AuditRead {
			t.Error("applications get audit:read by default")
		}
	}
}
