package web_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"formulary/internal/cli/clitest"
)

// Saving a draft returns its problems, or the stored draft after a conflict.
func TestDraft(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		b := s.Browser()
		b.SignIn(ada)
		id := formPath.FindStringSubmatch(b.Post("/forms", url.Values{"title": {"Mine"}}).Header.Get("Location"))[1]
		save := func(revision, body string) (int, map[string]any) {
			t.Helper()
			p := b.Put("/forms/"+id+"/draft", revision, body)
			var out map[string]any
			if err := json.Unmarshal([]byte(p.Text), &out); err != nil {
				t.Fatalf("%d %s", p.StatusCode, p.Text)
			}
			return p.StatusCode, out
		}
		code, saved := save("1", `{"title": "Mine", "language": "en", "fields": [{"kind": "short_text", "label": "Who?"}], "endings": [], "settings": {}}`)
		field := saved["fields"].([]any)[0].(map[string]any)
		equal(t, "the saved draft", map[string]any{
			"status": code, "revision": saved["revision"], "key": field["key"], "has an ID": field["id"] != "", "changes": len(saved["changes"].([]any)),
		}, map[string]any{"status": 200, "revision": 2.0, "key": "who", "has an ID": true, "changes": 0})
		code, wrong := save("2", `{"title": "", "language": "en", "fields": [{"kind": "nonsense"}]}`)
		if code != 422 || wrong["details"].([]any)[0].(map[string]any)["field"] != "title" {
			t.Errorf("%d %v", code, wrong)
		}
		code, late := save("1", `{"title": "Late", "language": "en", "fields": []}`)
		if code != 409 || late["stored_draft"].(map[string]any)["title"] != "Mine" {
			t.Errorf("%d %v", code, late)
		}
		if code, out := save("2", `{"nonsense": 1}`); code != 400 {
			t.Errorf("%d %v", code, out)
		}
		status(t, "publish", b.Post("/forms/"+id+"/publish", nil), 303)
		_, changed := save("3", `{"title": "Mine", "language": "en", "fields": [{"kind": "email", "label": "Mail"}]}`)
		if changes := fmt.Sprint(changed["changes"]); changes != "[map[action:added key:mail subject:field] map[action:removed key:who subject:field]]" {
			t.Errorf("changes since the version: %v", changed)
		}
		// The public form stays at the published version; the preview shows the draft.
		has(t, b.Get("/f/"+id), "Who?", "!Mail")
		has(t, b.Get("/forms/"+id+"/preview"), "Mail", "!Who?")
		end := b.Post("/forms/"+id+"/preview", url.Values{"mail": {"a@b.c"}, "_shown": {"mail"}, "_action": {"next"}})
		if has(t, end, "Thank you"); end.StatusCode != 200 {
			t.Errorf("the end of the preview: %d", end.StatusCode)
		}
		has(t, b.Get("/forms/"+id+"/responses"), "No responses yet")
	})
}
