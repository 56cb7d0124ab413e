package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
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
		if code, wrong := save("2", `{"title": "Mine", "language": "en", "fields": [null]}`); code != 422 || len(wrong["details"].([]any)) != 1 {
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

// One question with a mistake does not keep the rest from being saved. Only the builder
// sees it; it cannot be published.
func TestUnfinishedDraft(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		b := s.Browser()
		b.SignIn(ada)
		id := formPath.FindStringSubmatch(b.Post("/forms", url.Values{"title": {"Mine"}}).Header.Get("Location"))[1]
		var draft struct {
			Revision int64
			Title    string
			Fields   []struct{ Label, Key string }
			Problems []struct{ Field, Message string }
		}
		save := func(body string) {
			t.Helper()
			p := b.Put("/forms/"+id+"/draft", fmt.Sprint(max(1, draft.Revision)), body)
			draft.Fields, draft.Problems = nil, nil
			if err := json.Unmarshal([]byte(p.Text), &draft); err != nil || p.StatusCode != 200 {
				t.Fatalf("%d %s", p.StatusCode, p.Text)
			}
		}
		const good = `{"key": "who", "kind": "short_text", "label": "Who?"}`
		save(`{"title": "", "language": "en", "fields": [` + good + `, {"id": "fb", "key": "size", "kind": "dropdown", "label": "Size?", "options": [{"label": ""}, {"label": ""}]}]}`)
		var paths []string
		for _, p := range draft.Problems {
			paths = append(paths, p.Field)
		}
		if got := fmt.Sprint(draft.Title, len(draft.Fields), paths); got != "Mine2 [title fields.1.options.0.label fields.1.options.1.label]" {
			t.Errorf("the draft with unnamed options: %s", got)
		}
		has(t, b.Get("/forms/"+id+"/build"), "Size?")
		has(t, b.Get("/forms/"+id+"/preview"), "Who?", "!Size?")
		has(t, b.Get("/forms/"+id+"/flow"), "!Size?")
		has(t, b.Get("/forms/"+id+"/check"), `"problems":[{"field":"fields.1.options.0.label","message":"enter a label, or remove it"`)
		refused := b.Post("/forms/"+id+"/publish", nil)
		if has(t, refused, "fields.1.options.0.label"); refused.StatusCode != 422 {
			t.Errorf("publishing an unfinished draft: %d", refused.StatusCode)
		}

		// Changes of other parts keep what is unfinished, changes of the questions replace it.
		status(t, "another design", b.Post("/forms/"+id+"/design", url.Values{"brand": {"#b4532a"}, "mood": {"paper"}}), 303)
		has(t, b.Get("/forms/"+id+"/build"), "Size?")
		copied := formPath.FindStringSubmatch(b.Post("/forms/"+id+"/duplicate", nil).Header.Get("Location"))[1]
		has(t, b.Get("/forms/"+copied+"/build"), "Size?")

		draft.Revision++
		save(`{"title": "Mine", "language": "en", "fields": [` + good + `, {"id": "fb", "key": "size", "kind": "dropdown", "label": "Size?", "options": [{"label": "S"}]}]}`)
		if len(draft.Problems) != 0 {
			t.Errorf("problems after correcting them: %v", draft.Problems)
		}
		has(t, b.Get("/forms/"+id+"/check"), `"problems":[]`, `"advice":[]`)
		status(t, "publish", b.Post("/forms/"+id+"/publish", nil), 303)
		has(t, b.Get("/f/"+id), "Size?")
	})
}

// Versions can be viewed, compared and restored.
func TestVersionHistory(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		s.AddUser(bob)
		b := s.Browser()
		b.SignIn(ada)
		id := formPath.FindStringSubmatch(b.Post("/forms", url.Values{"title": {"Order"}}).Header.Get("Location"))[1]
		history := "/forms/" + id + "/versions"
		has(t, b.Get(history), "No versions yet")
		publish := func(body string) {
			t.Helper()
			status(t, "save", b.Put("/forms/"+id+"/draft", "0", body), 200)
			status(t, "publish", b.Post("/forms/"+id+"/publish", nil), 303)
		}
		publish(`{"title": "Order", "language": "en", "fields": [{"id": "fa", "key": "size", "kind": "dropdown", "label": "Size", "options": [{"label": "S"}]}, {"id": "fb", "key": "mail", "kind": "email", "label": "Mail"}]}`)
		publish(`{"title": "Big order", "language": "en", "fields": [{"id": "fa", "key": "size", "kind": "dropdown", "label": "Which size?", "options": [{"label": "S"}, {"label": "M"}]},
			{"id": "fc", "key": "when", "kind": "date", "label": "When", "show_if": {"field": "size", "op": "equals", "value": "m"}}]}`)
		status(t, "an edit", b.Put("/forms/"+id+"/draft", "0", `{"title": "Big order", "language": "en", "fields": []}`), 200)
		has(t, b.Get(history+"?version=2"), "Version 2", "Live", "<del>Order</del> <ins>Big order</ins>", "<del>Size</del> <ins>Which size?</ins>", "<ins>S, M</ins>", "When", "Removed")
		has(t, b.Get(history+"?version=2&with=2"), "!<del>")
		has(t, b.Get(history), "Draft", "Not published", "Which size?")
		has(t, b.Get("/forms/"+id+"/preview?version=1"), "Mail", "!Which size?")
		status(t, "an unknown version", b.Get(history+"?version=9"), 404)
		status(t, "the preview of an unknown version", b.Get("/forms/"+id+"/preview?version=9"), 404)

		other := s.Browser()
		other.SignIn(bob)
		status(t, "another user's history", other.Get(history), 404)
		status(t, "another user's restore", other.Post(history+"/1/restore", nil), 404)
		status(t, "an unknown version", b.Post(history+"/9/restore", nil), 404)
		status(t, "restore", b.Post(history+"/1/restore", nil), 303)
		has(t, b.Get("/forms/"+id+"/build?done=restored"), "Version restored as draft.", `"title":"Order"`, "Mail")
		has(t, b.Get("/f/"+id), "Which size?", "!Mail")
		status(t, "publish", b.Post("/forms/"+id+"/publish", nil), 303)
		has(t, b.Get("/f/"+id), "Mail", "!Which size?")
	})
}

// A formula is tried with sample answers before it is saved, and its mistake is located.
func TestFormulaTrial(t *testing.T) {
	s := clitest.Start(t, storetest.MigratedSQLite(t))
	s.AddUser(ada)
	s.AddUser(bob)
	b, other := s.Browser(), s.Browser()
	b.SignIn(ada)
	other.SignIn(bob)
	id := formPath.FindStringSubmatch(b.Post("/forms", url.Values{"title": {"Sale"}}).Header.Get("Location"))[1]
	status(t, "save", b.Put("/forms/"+id+"/draft", "0", `{"title": "Sale", "language": "en", "fields": [{"id": "fa", "key": "n", "kind": "slider", "label": "How many?", "min": 3, "max": 3.5, "step": 1},
		{"id": "fb", "key": "total", "kind": "calculated", "expression": "n *"}, {"id": "fc", "key": "late", "kind": "number"}]}`), 200)
	try := func(expression string) clitest.Page {
		body, _ := json.Marshal(map[string]string{"field": "fb", "expression": expression})
		return b.PostBody("/forms/"+id+"/formula", "application/json", bytes.NewReader(body))
	}
	has(t, try("n * 2"), `"result":"6"`, `{"label":"How many?","answer":"3"}`)
	has(t, try("n * nonsense"), `\"nonsense\" is not the key of an earlier question`, `"from":4,"to":12`)
	has(t, try("late + 1"), `\"late\" is not the key of an earlier question`)
	status(t, "another user's form", other.PostBody("/forms/"+id+"/formula", "application/json", strings.NewReader(`{"expression": "1"}`)), 404)
}

// Templates have a picture and a preview that can be tried.
func TestTemplateGallery(t *testing.T) {
	s := clitest.Start(t, storetest.MigratedSQLite(t))
	s.AddUser(ada)
	b := s.Browser()
	b.SignIn(ada)
	has(t, b.Get("/"), `href="/templates"`)
	gallery := b.Get("/templates")
	has(t, gallery, "Contact us", "Order form", "Use this template")
	for _, found := range regexp.MustCompile(`src="(/templates/[^"]+)"`).FindAllStringSubmatch(gallery.Text, -1) {
		picture := b.Get(found[1])
		if picture.Header.Get("Content-Type") != "image/png" || len(picture.Text) > 10_000 {
			t.Errorf("%s: %s, %d bytes", found[1], picture.Header.Get("Content-Type"), len(picture.Text))
		}
	}
	has(t, b.Get("/templates/contact"), `src="/templates/contact/preview"`, "Use this template")
	has(t, b.Get("/templates/contact/preview"), `action="/templates/contact/preview"`)
	for _, path := range []string{"/templates/nonsense", "/templates/nonsense/picture", "/templates/nonsense/preview"} {
		status(t, path, b.Get(path), 404)
	}
}
