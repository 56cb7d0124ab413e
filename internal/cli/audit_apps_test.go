package cli_test

import (
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// ownLog finds the link to somebody's own audit log.
var ownLog = regexp.MustCompile(`/spaces/\w+/audit`)

// Whoever gave an application access reads in the log, on the page and through the API, that its
// developer has disabled, enabled and deleted it. The developer reads it too.
func TestAuditOfApplication(t *testing.T) {
	t.Parallel()
	storetest.EachReused(t, func(t *testing.T, storage storetest.Storage) {
		s := clitest.Start(t, storage)
		s.AddUser(ada)
		s.AddUser("dev@example.com")
		token := s.PersonalToken(ada, "log", "audit:read")
		app := s.AddApp("dev@example.com", "https://app.example.com/cb")
		s.Token(ada, app, "forms:read")
		user, developer := s.Browser(), s.Browser()
		user.SignIn(ada)
		developer.SignIn("dev@example.com")
		logOf := func(b *clitest.Browser) string { return ownLog.FindString(b.Get("/account").Text) }
		for _, step := range []struct{ path, action, sentence, own string }{
			{"disable", "grant.suspended", "disabled Test application: the access that ada@example.com gave is suspended", "disabled the application “Test application”"},
			{"enable", "grant.resumed", "enabled Test application: the access that ada@example.com gave works again", "enabled the application “Test application”"},
			{"delete", "grant.ended", "deleted Test application: the access that ada@example.com gave has ended", "deleted the application “Test application”"},
		} {
			if p := developer.Post("/applications/"+app.ID+"/"+step.path, nil); p.StatusCode >= 400 {
				t.Fatalf("%s: %d", step.path, p.StatusCode)
			}
			var entry map[string]any
			if !clitest.WaitFor(func() bool {
				list, _ := auditEntries(t, s, token, "&action="+step.action)
				if len(list) == 1 {
					entry = list[0]
				}
				return entry != nil
			}) {
				t.Fatalf("the log does not have %s", step.action)
			}
			if entry["person"] != "dev@example.com" || entry["address"] != "" || entry["object_id"] != app.ID {
				t.Errorf("%s: recorded %v", step.action, entry)
			}
			if p := user.Get(logOf(user)); !strings.Contains(p.Text, "dev@example.com "+step.sentence) {
				t.Errorf("the user’s page (%d) does not say %q", p.StatusCode, step.sentence)
			}
			if p := developer.Get(logOf(developer)); !strings.Contains(p.Text, "dev@example.com "+step.own) || strings.Contains(p.Text, ada) {
				t.Errorf("the developer’s page (%d) does not say %q", p.StatusCode, step.own)
			}
		}
	})
}
