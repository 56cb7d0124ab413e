package api_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"formulary/internal/cli/clitest"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

func TestMe(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		narrow := w.Token(ada, w.app, "webhooks:read")
		a := w.Call("GET", "/api/v1/me", narrow.Access, "")
		w.expectCode("me needs no scope", a, 0)
		app := a.Body["application"].(map[string]any)
		w.expectFields("/me", a, map[string]any{"email": ada, "scope": "webhooks:read", "language": "en"})
		w.expectEqual("application", []any{app["client_id"], app["name"]}, []any{w.app.ID, "Test application"})
		if !strings.HasPrefix(a.String("id"), "usr_") {
			t.Errorf("id is %q", a.String("id"))
		}
		if created, err := time.Parse(time.RFC3339, a.String("created_at")); err != nil || !strings.HasSuffix(a.String("created_at"), "Z") || time.Since(created) > time.Hour {
			t.Errorf("created_at is %s", a.String("created_at"))
		}
	})
}

func TestFormLifecycle(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		created := w.Call("POST", "/api/v1/forms", w.ada, `{"title": " Ordør ✓ ", "description": "a\nb", "language": "PT-br"}`)
		id := created.String("id")
		path := "/api/v1/forms/" + id
		w.expectStatus("created", created, 201)
		w.expectFields("created", created, map[string]any{
			"title": "Ordør ✓", "language": "pt-BR", "status": "draft",
			"url": w.URL + "/f/" + id, "updated_at": created.String("created_at"),
		})
		w.expectEqual("Location", created.Header.Get("Location"), w.URL+path)
		if created.Header.Get("ETag") == "" {
			t.Errorf("no ETag in %v", created.Header)
		}
		if len(id) != 30 || !strings.HasPrefix(id, "frm_") {
			t.Errorf("id is %q", id)
		}
		read := w.Call("GET", path, w.ada, "")
		if read.Text != created.Text || read.Header.Get("ETag") != created.Header.Get("ETag") {
			t.Errorf("read %s\ncreated %s", read.Text, created.Text)
		}
		changed := w.Call("PATCH", path, w.ada, `{"title": "Order"}`, "If-Match: "+created.Header.Get("ETag"))
		w.expectFields("changed", changed, map[string]any{"title": "Order", "description": "a\nb"})
		if changed.String("updated_at") <= created.String("updated_at") || changed.Header.Get("ETag") == created.Header.Get("ETag") {
			t.Errorf("the time or the ETag did not change: %s", changed.Text)
		}
		for _, stale := range []string{created.Header.Get("ETag"), `"999"`, `W/` + changed.Header.Get("ETag"), "nonsense", `""`} {
			w.expectCode("PATCH with If-Match "+stale, w.Call("PATCH", path, w.ada, `{"title": "X"}`, "If-Match: "+stale), 409001)
			w.expectCode("DELETE with If-Match "+stale, w.Call("DELETE", path, w.ada, "", "If-Match: "+stale), 409001)
		}
		if got := w.Call("GET", path, w.ada, ""); got.Text != changed.Text || got.Header.Get("ETag") != changed.Header.Get("ETag") {
			t.Errorf("a rejected change had an effect: %s", got.Text)
		}
		same := w.Call("PATCH", path, w.ada, `{"title": "Order"}`)
		if same.Header.Get("ETag") != changed.Header.Get("ETag") || same.Text != changed.Text {
			t.Errorf("an empty change: %s", same.Text)
		}
		w.expectCode("PATCH with null", w.Call("PATCH", path, w.ada, `{"title": null}`), 422001)
		w.expectCode("PATCH with *", w.Call("PATCH", path, w.ada, `{"description": "", "language": "de"}`, "If-Match: *"), 0)
		w.expectCode("invalid PATCH", w.Call("PATCH", path, w.ada, `{"title": ""}`), 422001)
		if got := w.Call("GET", "/api/v1/forms?language=de", w.ada, ""); got.Body["total_items"] != 1.0 {
			t.Errorf("after a change of language: %s", got.Text)
		}
		if got := w.Call("GET", "/api/v1/forms?language=pt-BR", w.ada, ""); got.Body["total_items"] != 0.0 {
			t.Errorf("the old language still counts: %s", got.Text)
		}
		gone := w.Call("DELETE", path, w.ada, "")
		if gone.StatusCode != 204 || gone.Text != "" {
			t.Errorf("deleted: %d %q", gone.StatusCode, gone.Text)
		}
		for _, method := range []string{"GET", "DELETE"} {
			w.expectCode(method+" of what is gone", w.Call(method, path, w.ada, ""), 404002)
		}
		if got := w.Call("GET", "/api/v1/forms", w.ada, ""); got.Body["total_items"] != 0.0 || got.Body["total_pages"] != 0.0 || got.Header.Get("Link") != "" {
			t.Errorf("empty list: %s", got.Text)
		}
	})
}

func TestFormInput(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		for _, c := range []struct {
			body  string
			code  int
			field string
		}{
			{`{}`, 422001, "title"},
			{`{"title": "   "}`, 422001, "title"},
			{`{"title": "a\u0000b"}`, 422001, "title"},
			{`{"title": "a\nb"}`, 422001, "title"},
			{`{"title": "` + strings.Repeat("é", 201) + `"}`, 422001, "title"},
			{`{"title": "` + strings.Repeat("é", 200) + `"}`, 0, ""},
			{`{"title": "x", "description": "` + strings.Repeat("é", 5001) + `"}`, 422001, "description"},
			{`{"title": "x", "description": "\u0007"}`, 422001, "description"},
			{`{"title": "x", "language": "xx-nonsense"}`, 422001, "language"},
			{`{"title": "x", "language": "english"}`, 422001, "language"},
			{`{"title": "x", "language": "en_US"}`, 422001, "language"},
			{`{"title": "x", "language": "zh-Hant-TW"}`, 0, ""},
			{`{"title": 5}`, 422001, "title"},
			{`{"title": ["x"]}`, 422001, "title"},
			{`{"title": "x", "description": {"a": 1}}`, 422001, "description"},
			{`{"title": "x", "titel": "y"}`, 400002, "titel"},
			{`{"title": "x", "Title": "y"}`, 400002, "Title"},
			{`{"TITLE": "x"}`, 400002, "TITLE"},
			{`{"title": "x", "id": "frm_1"}`, 400002, "id"},
			{`{"title": "x", "title": "y"}`, 400002, ""},
			{"{\"title\": \"\xff\"}", 400002, ""},
			{`{"title": "\ud800"}`, 400002, ""},
			{`{"title": "x"} {}`, 400002, ""},
			{`{"title": "x"`, 400002, ""},
			{`{'title': 'x'}`, 400002, ""},
			{`[]`, 400002, ""},
			{`"x"`, 400002, ""},
			{`null`, 400002, ""},
			{`{"title": "x", "description": null}`, 422001, "description"},
			{`{"title": "x", "a/b~c": 1}`, 400002, "a/b~c"},
			{`{"title": "\ufeff"}`, 422001, "title"},
			{` `, 400002, ""},
			{strings.Repeat("[", 100_000), 400002, ""},
			{`{"title": ` + strings.Repeat(`{"a":`, 70) + `1` + strings.Repeat(`}`, 70) + `}`, 400002, ""},
			{`{"title": "` + strings.Repeat("x", 1<<20) + `"}`, 413001, ""},
		} {
			name := c.body[:min(len(c.body), 60)]
			a := w.Call("POST", "/api/v1/forms", w.ada, c.body)
			w.expectCode(name, a, c.code)
			if c.field != "" {
				details, _ := a.Body["details"].([]any)
				if len(details) == 0 || details[0].(map[string]any)["field"] != c.field {
					t.Errorf("%s: details do not name %s: %s", name, c.field, a.Text)
				}
			}
		}
		for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "application/xml", "nonsense/"} {
			w.expectCode("as "+kind, w.Call("POST", "/api/v1/forms", w.ada, ``, "Content-Type: "+kind), 415001)
		}
		w.expectCode("with a charset", w.Call("POST", "/api/v1/forms", w.ada, ``, "Content-Type: application/json; charset=utf-8"), 400002)
		if a := w.Call("GET", "/api/v1/forms", w.ada, ""); a.Body["total_items"] != 2.0 {
			t.Errorf("rejected forms were stored: %v", a.Body["total_items"])
		}
	})
}

func TestListPagination(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		for i := range 45 {
			w.create(w.ada, fmt.Sprintf("Form %02d", i))
		}
		w.create(w.bob, "Bob's")
		list := func(query string) clitest.Response {
			t.Helper()
			a := w.Call("GET", "/api/v1/forms"+query, w.ada, "")
			w.expectCode(query, a, 0)
			if a.Body["total_items"] != 45.0 {
				t.Errorf("%s: total_items is %v", query, a.Body["total_items"])
			}
			return a
		}
		first := list("")
		w.expectFields("page 1", first, map[string]any{"total_pages": 3.0})
		if got := titles(first); len(got) != 20 || got[0] != "Form 44" || got[19] != "Form 25" {
			t.Errorf("page 1 is %v", got)
		}
		if got := first.Header.Get("Link"); got != fmt.Sprintf(`<%[1]s?page=1&per_page=20>; rel="first", <%[1]s?page=2&per_page=20>; rel="next", <%[1]s?page=3&per_page=20>; rel="last"`, w.URL+"/api/v1/forms") {
			t.Errorf("Link of page 1: %s", got)
		}
		if len(first.Body) != 3 {
			t.Errorf("the envelope has %d fields", len(first.Body))
		}
		last := list("?page=3")
		if got := titles(last); len(got) != 5 || got[4] != "Form 00" {
			t.Errorf("page 3 is %v", got)
		}
		if link := last.Header.Get("Link"); !strings.Contains(link, `page=2&per_page=20>; rel="prev"`) || strings.Contains(link, "next") {
			t.Errorf("Link of page 3: %s", link)
		}
		past := list("?page=4")
		if len(titles(past)) != 0 || past.Body["total_pages"] != 3.0 || !strings.Contains(past.Header.Get("Link"), `page=3&per_page=20>; rel="prev"`) {
			t.Errorf("past the end: %s %s", past.Text, past.Header.Get("Link"))
		}
		for _, far := range []string{"?page=9223372036854775807", "?page=9223372036854775807&per_page=200", "?page=4611686018427387905&per_page=4"} {
			if len(titles(list(far))) != 0 {
				t.Errorf("%s is not empty", far)
			}
		}
		if got := titles(list("?per_page=200")); len(got) != 45 {
			t.Errorf("per_page=200 has %d", len(got))
		}
		if got := list("?per_page=1&page=45"); titles(got)[0] != "Form 00" || got.Body["total_pages"] != 45.0 {
			t.Errorf("one at a time: %s", got.Text)
		}
		for _, bad := range []string{
			"page=0", "page=-1", "page=x", "page=", "page=1.5", "page=1e3", "page=9223372036854775808", "page=%00", "page=1&page=2", "page=%zz",
			"per_page=0", "per_page=201", "per_page=-5", "per_page=", "per_page=99999999999999999999", "page=+1%20", "page=0x1", "page=%2B1",
			"sort=name", "sort=-", "status=gone", "language=xx-nonsense", "search=%ff", "search=" + strings.Repeat("x", 201),
		} {
			w.expectCode(bad, w.Call("GET", "/api/v1/forms?"+bad, w.ada, ""), 400001)
		}
	})
}

func TestListFilters(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.create(w.ada, "Ärger", "description", "Zorn und MEHR", "language", "de")
		w.create(w.ada, "apple", "description", "100% fruit_juice", "language", "en")
		banana := w.create(w.ada, "Banana", "description", `back\slash`, "language", "en")
		cherry := w.create(w.ada, "cherry", "language", "pt-BR")
		// Wait for the clock, which may not advance between two requests.
		created := w.Call("GET", "/api/v1/forms/"+cherry, w.ada, "").String("updated_at")
		for n, changed := 0, ""; changed <= created && n < 1000; n++ {
			changed = w.Call("PATCH", "/api/v1/forms/"+banana, w.ada, fmt.Sprintf(`{"description": "changed last, back\\slash %d"}`, n)).String("updated_at")
		}
		for query, want := range map[string]string{
			"sort=title":                      "apple Banana cherry Ärger",
			"sort=-title":                     "Ärger cherry Banana apple",
			"sort=created_at":                 "Ärger apple Banana cherry",
			"sort=-created_at":                "cherry Banana apple Ärger",
			"sort=-updated_at&per_page=1":     "Banana",
			"sort=updated_at&page=2":          "",
			"search=ÄRGER":                    "Ärger",
			"search=mehr":                     "Ärger",
			"search=100%25":                   "apple",
			"search=%25":                      "apple",
			"search=t_j":                      "apple",
			"search=_":                        "apple",
			`search=%5C`:                      "Banana",
			"search=nothing":                  "",
			"search='; DROP TABLE form; --":   "",
			"language=en":                     "Banana apple",
			"language=PT-br":                  "cherry",
			"language=fr":                     "",
			"status=draft":                    "cherry Banana apple Ärger",
			"status=open":                     "",
			"language=en&search=a&sort=title": "apple Banana",
			"search=a&per_page=1&page=2":      "apple",
		} {
			name, value, _ := strings.Cut(query, "search=")
			if value != "" && !strings.Contains(value, "%") && !strings.Contains(value, "&") {
				query = name + "search=" + url.QueryEscape(value)
			}
			a := w.Call("GET", "/api/v1/forms?"+query, w.ada, "")
			if got := strings.Join(titles(a), " "); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		link := w.Call("GET", "/api/v1/forms?search=a&sort=title&language=en&status=draft&per_page=1", w.ada, "").Header.Get("Link")
		if !strings.Contains(link, "language=en&search=a&sort=title&status=draft&page=2&per_page=1") {
			t.Errorf("the links lose the filter: %s", link)
		}
	})
}

// Pages far down the list are located with the counts in list_block, which must stay
// correct after insertions and deletions.
func TestDeepPages(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		s := storetest.Open(t, w.Storage)
		user, err := s.UserByEmail(context.Background(), ada)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		var ids []string // oldest first
		for i := range 700 {
			f, err := s.CreateForm(ctx, user.ID, form.Header{Title: fmt.Sprint(i), Language: "en"}, nil, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, f.ID)
		}
		if !slices.IsSorted(ids) {
			t.Fatal("IDs do not sort by creation time")
		}
		check := func() {
			t.Helper()
			for page := 1; page <= len(ids)/50+1; page++ {
				forms, total, err := s.Forms(ctx, user.ID, store.FormFilter{}, store.NewestFirst, store.Page{Limit: 50, Offset: int64(page-1) * 50})
				if err != nil || total != int64(len(ids)) {
					t.Fatalf("page %d: %v, total %d, want %d", page, err, total, len(ids))
				}
				for i, f := range forms {
					if want := ids[len(ids)-1-(page-1)*50-i]; f.ID != want {
						t.Fatalf("page %d, line %d: %s, want %s", page, i, f.Title, want)
					}
				}
				if want := min(50, max(0, len(ids)-(page-1)*50)); len(forms) != want {
					t.Fatalf("page %d has %d, want %d", page, len(forms), want)
				}
			}
		}
		check()
		// Delete a whole block, every third form, and both ends.
		var remaining []string
		for i, id := range ids {
			inBlock := i >= 130 && i < 400
			atEnd := i < 5 || i > 690
			if inBlock || atEnd || i%3 == 0 {
				if err := s.DeleteForm(ctx, user.ID, id, 0, time.Now()); err != nil {
					t.Fatal(err)
				}
				continue
			}
			remaining = append(remaining, id)
		}
		ids = remaining
		check()
	})
}

func TestIdempotency(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		const body = `{"title": "Once"}`
		one := w.Call("POST", "/api/v1/forms", w.ada, body, "Idempotency-Key: k1")
		two := w.Call("POST", "/api/v1/forms", w.ada, body, "Idempotency-Key: k1")
		if one.StatusCode != 201 || two.StatusCode != 201 || one.Text != two.Text {
			t.Errorf("%d %s\n%d %s", one.StatusCode, one.Text, two.StatusCode, two.Text)
		}
		w.expectCode("different request body", w.Call("POST", "/api/v1/forms", w.ada, `{"title": "Other"}`, "Idempotency-Key: k1"), 409002)
		if bobs := w.Call("POST", "/api/v1/forms", w.bob, body, "Idempotency-Key: k1"); bobs.StatusCode != 201 || bobs.String("id") == one.String("id") {
			t.Errorf("another account: %s", bobs.Text)
		}
		w.expectCode("a key too long", w.Call("POST", "/api/v1/forms", w.ada, body, "Idempotency-Key: "+strings.Repeat("k", 256)), 400001)
		answers := make([]clitest.Response, 32)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = w.Call("POST", "/api/v1/forms", w.ada, body, "Idempotency-Key: k2") })
		}
		all.Wait()
		for _, a := range answers {
			if a.StatusCode != 201 || a.String("id") != answers[0].String("id") {
				t.Errorf("32 at once: %d %s", a.StatusCode, a.Text)
			}
		}
		if a := w.Call("GET", "/api/v1/forms", w.ada, ""); a.Body["total_items"] != 2.0 {
			t.Errorf("%v forms", a.Body["total_items"])
		}
	})
}
