package cli_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
	"formulary/internal/db"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// auditEntries reads the audit log through the API, newest first.
func auditEntries(t *testing.T, s *clitest.Service, token, query string) (list []map[string]any, next string) {
	t.Helper()
	a := s.Call("GET", "/api/v1/audit?limit=500"+query, token, "")
	if a.StatusCode != http.StatusOK {
		t.Fatalf("read the audit log: %d %s", a.StatusCode, a.Text)
	}
	var body struct {
		Data []map[string]any `json:"data"`
		Next string           `json:"next"`
	}
	if err := json.Unmarshal([]byte(a.Text), &body); err != nil {
		t.Fatal(err)
	}
	return body.Data, body.Next
}

// What is done on a page, through the API and on the command line leaves one entry with who did it.
func TestAuditActors(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		s := clitest.Start(t, storage, "--webhook-allow=127.0.0.1")
		s.AddUser(ada)
		s.AddUser("bob@example.com")
		token := s.Token(ada, s.AddApp(ada, "https://app.example.com/cb", "--scope="+everyScope), everyScope).Access
		formID := s.Call("POST", "/api/v1/forms", token, `{"title": "Order", "fields": [{"key": "note", "kind": "long_text", "label": "Note"}]}`).String("id")
		s.Call("POST", "/api/v1/forms/"+formID+"/publish", token, "")
		page, api := "/forms/"+formID, "/api/v1/forms/"+formID
		b := s.Browser()
		b.SignIn(ada)
		post := func(path string, fields url.Values) func() int {
			return func() int { return b.Post(path, fields).StatusCode }
		}
		get := func(path string) func() int { return func() int { return b.Get(path).StatusCode } }
		call := func(method, path, body string) func() int {
			return func() int { return s.Call(method, path, token, body).StatusCode }
		}
		command := func(args ...string) func() int { return func() int { s.Command("", args...); return 0 } }
		var webhook string
		file := filepath.Join(t.TempDir(), "form.json")
		for _, step := range []struct {
			actor, action string // an empty action: no entry
			run           func() int
		}{
			{"person", "form.closed", post(page+"/close", nil)},
			{"person", "form.opened", post(page+"/open", nil)},
			{"person", "form.retention_changed", post(page+"/retention", url.Values{"days": {"30"}})},
			{"person", "", get(page + "/responses")},
			{"person", "response.exported", get(page + "/responses/export?format=xlsx")},
			{"person", "account.downloaded", get("/account/download")},
			{"application", "", call("GET", "/api/v1/forms", "")},
			{"application", "", call("POST", "/f/"+formID, `{"answers": {"note": "x"}}`)},
			{"application", "response.exported", call("GET", api+"/responses/export?format=jsonl", "")},
			{"application", "response.deleted", call("DELETE", api+"/responses?all=true", "")},
			{"application", "form.notifications_changed", call("PUT", api+"/notifications", `{"when": "off", "to": []}`)},
			{"application", "form.link_changed", call("PATCH", api, `{"slug": "order-now"}`)},
			{"application", "", call("PATCH", api, `{"slug": "no such link!"}`)},
			{"application", "webhook.created", func() int {
				a := s.Call("POST", api+"/webhooks", token, `{"url": "http://127.0.0.1:9/secret"}`)
				webhook = api + "/webhooks/" + a.String("id")
				return a.StatusCode
			}},
			{"application", "webhook.secret_rotated", func() int { return s.Call("POST", webhook+"/rotate-secret", token, "").StatusCode }},
			{"application", "webhook.deleted", func() int { return s.Call("DELETE", webhook, token, "").StatusCode }},
			{"command_line", "response.exported", command("export", formID)},
			{"command_line", "form.published", func() int {
				text := strings.Replace(s.Command("", "form", "export", formID), `"title": "Order"`, `"title": "Orders"`, 1)
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				s.Command("", "form", "apply", file, "--owner="+ada, "--publish")
				return 0
			}},
			{"command_line", "form.moved_out", command("form", "move", formID, "--owner=bob@example.com")},
			{"command_line", "form.moved_in", command("form", "move", formID, "--owner="+ada)},
			{"person", "form.deleted", post(page+"/delete", nil)},
			{"person", "form.restored", post(page+"/restore", nil)},
			{"application", "form.deleted", call("DELETE", api, "")},
			{"application", "", call("DELETE", api, "")},
		} {
			before, _ := auditEntries(t, s, token, "")
			status := step.run()
			after, _ := auditEntries(t, s, token, "")
			if step.action == "" {
				if len(after) != len(before) {
					t.Errorf("%s: recorded %v", step.actor, after[0])
				}
				continue
			}
			if status >= 400 || len(after) != len(before)+1 {
				t.Errorf("%s %s: status %d, %d entries", step.actor, step.action, status, len(after)-len(before))
				continue
			}
			e := after[0]
			if e["action"] != step.action || e["actor"] != step.actor || (e["person_id"] == "") != (step.actor == "command_line") || (e["address"] == "") != (step.actor == "command_line") {
				t.Errorf("%s %s: recorded %v", step.actor, step.action, e)
			}
			if (e["application_id"] == "") != (step.actor != "application") {
				t.Errorf("%s %s: the application is %v", step.actor, step.action, e["application_id"])
			}
		}
		checkAuditPages(t, s, token)
	})
}

// checkAuditPages reads the log in parts and with filters, and tries wrong parameters and tokens.
func checkAuditPages(t *testing.T, s *clitest.Service, token string) {
	t.Helper()
	all, _ := auditEntries(t, s, token, "")
	var ids []any
	for before := ""; ; {
		a := s.Call("GET", "/api/v1/audit?limit=3&before="+before, token, "")
		for _, e := range a.Body["data"].([]any) {
			ids = append(ids, e.(map[string]any)["id"])
		}
		if before = a.String("next"); a.Body["more"] != true {
			break
		}
	}
	if len(ids) != len(all) || ids[len(ids)-1] != all[len(all)-1]["id"] {
		t.Errorf("%d entries in parts, %d at once", len(ids), len(all))
	}
	if list, _ := auditEntries(t, s, token, "&action=form.deleted&since=2020-01-01T00:00:00Z"); len(list) != 2 {
		t.Errorf("%d forms were deleted", len(list))
	}
	if list, _ := auditEntries(t, s, token, "&until=2020-01-01T00:00:00Z"); len(list) != 0 {
		t.Errorf("%d old entries", len(list))
	}
	for _, query := range []string{"before=x", "action=x", "person=x", "since=x", "until=x", "limit=0", "limit=501"} {
		if a := s.Call("GET", "/api/v1/audit?"+query, token, ""); a.Code() != 400001 {
			t.Errorf("%s: %s", query, a.Text)
		}
	}
	if a := s.Call("GET", "/api/v1/audit", s.PersonalToken(ada, "forms", "forms:read"), ""); a.Code() != 403001 {
		t.Errorf("without the scope: %s", a.Text)
	}
}

// Owners see the log of a space, other members and guests do not, and for others there is no such
// page. Cells of the file are no formulas.
func TestAuditOfSpace(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		s := clitest.Start(t, storage)
		direct := storetest.Open(t, storage)
		ctx, now := context.Background(), time.Now()
		people := map[string]account.User{}
		for _, name := range []string{"ada", "ed", "vic", "guest", "nobody"} {
			s.AddUser(name + "@example.com")
			user, err := direct.UserByEmail(ctx, name+"@example.com")
			if err != nil {
				t.Fatal(err)
			}
			people[name] = user
		}
		space := store.Space{Key: id.New(id.User, now), Name: "Team"}
		if err := direct.AddSpace(ctx, space, people["ada"], now); err != nil {
			t.Fatal(err)
		}
		if err := direct.SetMember(ctx, space.Key, people["ed"].ID, account.Editor, now); err != nil {
			t.Fatal(err)
		}
		if err := direct.SetMember(ctx, space.Key, people["vic"].ID, account.Viewer, now); err != nil {
			t.Fatal(err)
		}
		f, err := direct.CreateForm(ctx, space.Key, form.Header{Title: "Order", Language: "en"}, nil, now)
		if err != nil {
			t.Fatal(err)
		}
		if err := direct.ShareForm(ctx, space.Key, f.ID, people["guest"].ID, account.Editor, now); err != nil {
			t.Fatal(err)
		}
		title := `=HYPERLINK("https://evil.example")`
		if err := direct.RecordAudit(ctx, space.Key, store.AuditEntry{Action: store.AuditFormDeleted, ObjectID: "frm_x", ObjectName: title}); err != nil {
			t.Fatal(err)
		}
		audit := "/spaces/" + space.ID() + "/audit"
		for name, want := range map[string]int{"ada": 200, "ed": 403, "vic": 403, "guest": 403, "nobody": 404} {
			b := s.Browser()
			b.SignIn(name + "@example.com")
			for _, path := range []string{audit, audit + "/download", audit + "?action=form.deleted&since=2020-01-01&until=2100-01-01"} {
				if got := b.Get(path); got.StatusCode != want {
					t.Errorf("%s gets %d from %s", name, got.StatusCode, path)
				}
			}
			if own := b.Get("/spaces/" + account.SpaceID(people[name].ID) + "/audit"); own.StatusCode != 200 || strings.Contains(own.Text, "HYPERLINK") {
				t.Errorf("%s gets %d from their own log\n%s", name, own.StatusCode, own.Text)
			}
		}
		checkAuditGrants(t, s, people, space.Key)
		b := s.Browser()
		b.SignIn("ada@example.com")
		page := b.Get(audit)
		for _, want := range []string{"deleted the form “=HYPERLINK", "added ed@example.com as a member (editor)", "ada@example.com downloaded the audit log"} {
			if !strings.Contains(page.Text, want) {
				t.Errorf("the page does not say %q", want)
			}
		}
		csv := b.Get(audit + "/download").Text
		if !strings.Contains(csv, `"'=HYPERLINK(""https://evil.example"")"`) || !strings.HasPrefix(csv, "id,at,actor,") || strings.Count(csv, "\r\n") < 6 {
			t.Errorf("the file is %s", csv)
		}
		if page := b.Get(audit + "?person=" + people["ed"].ID); strings.Contains(page.Text, "deleted the form") || !strings.Contains(page.Text, "No entries match") {
			t.Error("the filter by person finds entries of others")
		}
		if got := b.Get("/spaces/spc_x/audit"); got.StatusCode != 404 {
			t.Errorf("a space that does not exist: %d", got.StatusCode)
		}
	})
}

// checkAuditGrants reads the log of a space with grants of people in it.
func checkAuditGrants(t *testing.T, s *clitest.Service, people map[string]account.User, space string) {
	t.Helper()
	engine, err := db.Open(s.Storage.Data, s.Storage.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	app := s.AddApp(ada, "https://app.example.com/cb", "--scope="+everyScope)
	for _, c := range []struct {
		name string
		some bool // forms
		want int
	}{{"ada", false, 0}, {"ada", true, 403002}, {"ed", false, 403002}, {"vic", false, 403002}} {
		token := s.Token(c.name+"@example.com", app, everyScope).Access
		if err := engine.Write(context.Background(), func(tx db.Tx) error {
			_, err := tx.Exec(`UPDATE consent SET space_id = $2, some_forms = $3, ended_at = -1 WHERE account_id = $1 AND space_id = ''`, people[c.name].ID, space, c.some)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		a := s.Call("GET", "/api/v1/audit", token, "")
		if a.Code() != c.want || strings.Contains(a.Text, "HYPERLINK") != (c.want == 0) {
			t.Errorf("%s, some forms %v: %s", c.name, c.some, a.Text)
		}
	}
}
