package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"formulary/internal/cli/clitest"
)

// add adds a valid request to the seeds, several times if it should be sent more often.
func (w *fixture) add(times int, r *request) {
	for range times {
		w.seeds = append(w.seeds, r)
	}
}

// addOperations adds a valid request for each operation of the OpenAPI document. It
// fails for new parameters and bodies without a valid value here.
func (w *fixture) addOperations() {
	w.t.Helper()
	for _, path := range slices.Sorted(maps.Keys(w.doc.Paths.Map())) {
		item := w.doc.Paths.Value(path).Operations()
		for _, method := range slices.Sorted(maps.Keys(item)) {
			op := item[method]
			r := &request{name: op.OperationID, method: method, as: w.anonymous}
			// Other operations take the secret of an application, or nothing.
			if scopes, ok := (*op.Security)[0]["oauth2"]; ok {
				r.secured, r.as = true, w.ada
				if len(scopes) > 0 {
					r.scope = scopes[0]
				}
			}
			w.fillPath(r, path)
			w.fillParameters(r, op)
			if op.RequestBody == nil {
				w.add(3, r)
			} else if media := op.RequestBody.Value.Content["application/json"]; media != nil {
				r.set("Content-Type", "application/json")
				r.json = w.validBody(strings.TrimPrefix(media.Schema.Ref, "#/components/schemas/"))
				w.add(6, r)
			} else if op.RequestBody.Value.Content["application/octet-stream"] != nil {
				r.body = smallPDF
				if r.name == "addPicture" {
					r.body = smallPNG
				}
				w.add(6, r)
			} else {
				w.addForms(r, op.RequestBody.Value.Content["application/x-www-form-urlencoded"].Schema.Value)
			}
		}
	}
}

// fillPath replaces the parameters of a path by IDs. Requests that would change or
// delete a form for the others get a spare one.
func (w *fixture) fillPath(r *request, path string) {
	r.path = strings.Split(path, "/")
	for i, segment := range r.path {
		if !strings.HasPrefix(segment, "{") {
			continue
		}
		r.params = append(r.params, i)
		switch segment {
		case "{id}":
			r.path[i] = w.liveForm
			switch r.name {
			case "changeForm", "publishForm", "closeForm", "openForm", "deleteResponses", "restoreVersion":
				r.path[i] = w.editForm
			case "deleteForm":
				r.path[i], r.pool = w.spareForms[0], w.spareForms
			}
		case "{response}":
			r.path[i] = w.responses[0]
			if r.name == "deleteResponse" {
				r.path[i], r.pool = w.responses[1], w.responses[1:]
			}
		case "{webhook}":
			r.path[i] = w.webhooks[0]
			if r.name == "deleteWebhook" {
				r.path[i], r.pool = w.webhooks[1], w.webhooks[1:]
			}
		case "{delivery}":
			r.path[i] = "dlv_" + strings.TrimPrefix(w.responses[0], "rsp_")
		case "{theme}":
			r.path[i] = w.themes[0]
			if r.name == "deleteTheme" {
				r.path[i], r.pool = w.themes[1], w.themes[1:]
			}
		case "{view}":
			r.path[i] = w.views[0]
			if r.name == "deleteView" {
				r.path[i], r.pool = w.views[1], w.views[1:]
			}
		case "{version}":
			r.path[i] = "1"
		case "{note}":
			r.path[i] = w.notes[0]
			if r.name == "deleteNote" {
				r.path[i], r.pool = w.notes[1], w.notes[1:]
			}
		case "{file}":
			r.path[i] = w.file
			if r.name == "readPicture" {
				r.path[i] = w.picture
			}
		default:
			w.t.Fatalf("%s %s: what is %s?", r.method, path, segment)
		}
	}
}

var validParameter = map[string]string{
	"page": "1", "per_page": "20", "search": "a", "tag": "a", "folder": "Work", "rows": "", "columns": "", "language": "en", "since": "2020-01-01T00:00:00Z", "until": "2100-01-01T00:00:00Z", "version": "1", "limit": "10",
	"If-Match": "*", "after": "", "before": "", "action": "form.deleted", "person": "", "Last-Event-ID": "", "field": "papers", "Content-Disposition": "attachment; filename=a.pdf",
	"upload": storedUpload, "Upload-Offset": strconv.Itoa(len(smallPDF)),
}

func (w *fixture) fillParameters(r *request, op *openapi3.Operation) {
	for _, ref := range op.Parameters {
		p := ref.Value
		value, ok := validParameter[p.Name]
		if enum := p.Schema.Value.Enum; len(enum) > 0 {
			value, ok = fmt.Sprint(enum[0]), true
		}
		name := p.Name
		if name == "Idempotency-Key" {
			value, ok = r.name, true
		}
		if r.name == "uploadFile" && name == "upload" {
			value = "" // names are used once
		}
		if p.Schema.Value.Type.Is("object") {
			name, value, ok = name+"[nick]", "Ada", true
		}
		switch {
		case p.In == "path":
		case !ok:
			w.t.Fatalf("%s: what is a valid %s?", r.name, p.Name)
		case p.In == "query":
			r.query = append(r.query, param{name: name, value: value})
		case p.In == "header":
			r.header = append(r.header, param{name: name, value: value})
		}
	}
}

func (w *fixture) validBody(schema string) any {
	text, ok := map[string]string{"NewForm": everyKindForm, "FormUpdate": everyKindForm, "Submission": fmt.Sprintf(everyAnswer, "once"), "ResponseUpdate": fmt.Sprintf(everyAnswer, "again"),
		"Notifications": `{"when": "each", "to": ["ana@example.org"]}`, "NewReceipt": `{"active": false, "field": "", "subject": "Hi {{nick}}", "text": "**Thanks**", "answers": true}`,
		"NewWebhook": validWebhook, "WebhookUpdate": validWebhook, "NewTheme": validTheme, "ThemeUpdate": validTheme, "NewView": validView, "ViewUpdate": validView, "NoteText": `{"text": "Call back"}`, "MarksUpdate": `{"responses": ["` + w.responses[0] + `"], "status": "read", "starred": true, "tags": ["a"], "add_tags": ["b"], "remove_tags": ["c"]}`, "NewRetention": `{"days": 3650}`, "ReplayRequest": `{"since": "2020-01-01T00:00:00Z"}`}[schema]
	var body any
	if err := json.Unmarshal([]byte(text), &body); err != nil || !ok {
		w.t.Fatalf("what is a valid %q? %v", schema, err)
	}
	return body
}

// addForms adds the form bodies of OAuth, one per grant type.
func (w *fixture) addForms(r *request, schema *openapi3.Schema) {
	r.set("Content-Type", "application/x-www-form-urlencoded")
	grants := []any{""}
	if p := schema.Properties["grant_type"]; p != nil {
		grants = p.Value.Enum
	}
	for _, grant := range grants {
		valid := map[string]string{"client_id": w.app.ID, "client_secret": w.app.Secret, "token": w.revocableToken, "token_type_hint": "access_token", "grant_type": fmt.Sprint(grant)}
		if grant == "authorization_code" {
			valid["code"], valid["redirect_uri"] = w.authCode, w.app.Redirect
		} else {
			valid["refresh_token"], valid["scope"] = w.refreshToken, "forms:read"
		}
		seed := r.copy()
		seed.form = []param{}
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			if value, ok := valid[name]; ok {
				seed.form = append(seed.form, param{name: name, value: value})
			}
		}
		w.add(3, seed)
	}
}

// maxSeedsPerRoute bounds the seeds of one route.
const maxSeedsPerRoute = 4

var routePattern = regexp.MustCompile(`\{"((?:GET|POST|PUT) /[^"]*)", (\w+),`)

// addPages adds the valid requests of browsers: every page, and every form on it.
func (w *fixture) addPages() {
	w.t.Helper()
	source, err := os.ReadFile("../web/routes.go")
	if err != nil {
		w.t.Fatal(err)
	}
	routes := http.NewServeMux()
	missing, seedsPerRoute := map[string]bool{}, map[string]int{}
	access := map[string]string{}
	for _, m := range routePattern.FindAllStringSubmatch(string(source), -1) {
		routes.HandleFunc(m[1], func(http.ResponseWriter, *http.Request) {})
		missing[m[1]], access[m[1]] = true, m[2]
	}
	addSeed := func(method, address string, form []param, as *caller) *request {
		u, err := url.Parse(address)
		if err != nil {
			w.t.Fatal(err)
		}
		_, pattern := routes.Handler(&http.Request{Method: method, URL: u, Host: "x"})
		if pattern == "" {
			w.t.Fatalf("%s %s is linked from a page but has no route", method, address)
		}
		delete(missing, pattern)
		r := &request{name: pattern, method: method, path: strings.Split(u.EscapedPath(), "/"), form: form, as: as, secured: access[pattern] != "anyone"}
		_, path, _ := strings.Cut(pattern, " ")
		for i, segment := range strings.Split(path, "/") {
			if strings.HasPrefix(segment, "{") && segment != "{$}" {
				r.params = append(r.params, i)
			}
		}
		query := u.Query()
		for _, name := range slices.Sorted(maps.Keys(query)) {
			r.query = append(r.query, param{name: name, value: query.Get(name)})
		}
		times := 1
		switch {
		case strings.HasPrefix(address, "/f/"):
			times = 8
		case method == "POST" && (pattern == "POST /signin" || pattern == "POST /signup" || pattern == "POST /setup" || pattern == "POST /reset" || pattern == "POST /forgot"):
			r.rare = true
		case method == "POST" && (strings.HasPrefix(pattern, "POST /account/") && pattern != "POST /account/profile" || pattern == "POST /signout"):
			// This would end Cleo's session.
			r.as, r.rare = w.dora, true
		case pattern == "POST /forms/{id}/delete":
			r.path[2] = w.cleoSpare
		case pattern == "POST /forms/{id}/connect/{webhook}/delete":
			r.path[4] = w.cleoSpareWebhook
		case pattern == "POST /applications/{id}/delete" || pattern == "POST /applications/{id}/disable":
			r.path[2] = w.cleoSpareApp
		}
		if seedsPerRoute[pattern]++; seedsPerRoute[pattern] > maxSeedsPerRoute {
			return r
		}
		if form != nil {
			r.set("Content-Type", "application/x-www-form-urlencoded")
		}
		w.add(times, r)
		return r
	}
	form, audit := "/forms/"+w.cleoForm, "/spaces/"+w.cleoSpace+"/audit"
	for _, page := range []string{
		"/?search=a&status=open&sort=title&folder=Work&page=1", form + "/build", form + "/preview", form + "/flow", form + "/check", form + "/versions?version=1&with=0", form + "/design?brand=%23b4532a&mood=paper", form + "/share", form + "/embed/popup", form + "/code/qr.png?download=1", form + "/code/qr.svg?download=1", form + "/summary", form + "/summary?days=7&compare=1&rows=nick&columns=nick&in=nick&find=a&where=nick:contains:a",
		form + "/responses?search=a&since=2020-01-01&until=2100-01-01&where=nick&is=Ada&column=nick&order=asc&by=nick&page=1", form + "/responses?field=nick&op=contains&value=a&days=7&status=new&starred=1&tag=a&view=x&from=x&before=1&found=1&shown=1&last=x&budget=1", form + "/responses/export?format=csv&header=label", form + "/responses/" + w.cleoResponse, form + "/responses/" + w.cleoResponse + "/detail", form + "/responses/" + w.cleoResponse + "/edit",
		form + "/responses/" + w.cleoFileResponse + "/files", form + "/files/" + w.cleoFile, form + "/files/" + w.cleoFile + "/play", form + "/files/" + w.cleoFile + "/thumbnail",
		form + "/connect", form + "/connect/notify", form + "/connect/notify/preview", form + "/connect/receipt/preview", form + "/connect/new",
		form + "/connect/" + w.cleoWebhook + "?status=pending&page=1", "/live?form=" + w.cleoForm + "&count=1",
		"/templates", "/templates/contact", "/templates/contact/picture", "/templates/contact/preview", "/account", "/account/download", "/applications", "/applications/new", "/applications/" + w.cleoApp, "/tokens", "/connections", "/connections/con_01k9z8m7q3e4r5t6y7v8w9x0a1",
		audit + "?person=&action=form.deleted&since=2020-01-01&until=2100-01-01&before=aud_01k9z8m7q3e4r5t6y7v8w9x0a1", audit + "/download?action=form.deleted", "/mails?page=1", "/mails/x/eml_01k9z8m7q3e4r5t6y7v8w9x0a1", "/mails/x/eml_01k9z8m7q3e4r5t6y7v8w9x0a1/html",
		"/authorize?" + w.authorizeQuery, "/f/" + w.cleoForm + "?nick=Ada&age=3&bring=cake&name.given=Ada&embed=1", "/f/" + w.cleoForm + "/done?ending=x", "/f/" + w.cleoForm + "/rules?version=1", "/f/" + w.cleoForm + "/card?v=1", "/f/" + w.cleoForm + "/calendar?r=rsp_1&k=x",
		"/docs/api", "/docs/api/listForms", "/docs/api/callback?code=x&state=y", "/static/form-plain.css", "/favicon.ico", "/embed.js", "/.well-known/change-password",
		"/oembed?format=json&maxwidth=100&maxheight=100&url=" + url.QueryEscape(w.service.URL+"/f/"+w.cleoForm),
	} {
		w.crawl(addSeed, addSeed("GET", page, nil, w.cleo))
	}
	// Signing in or up would replace the session of the caller.
	for _, page := range []string{"/signin?next=/account", "/signup?next=/", "/setup?token=x", "/reset?token=" + w.resetToken, "/forgot", "/confirm?token=x"} {
		w.crawl(addSeed, addSeed("GET", page, nil, w.anonymous))
	}
	// A link like those in mails, of nobody.
	link := "?k=fmn_" + strings.Repeat("A", 43) + "." + strings.Repeat("A", 22)
	for _, path := range []string{"/notifications/confirm", "/notifications/unsubscribe"} {
		addSeed("GET", path+link, nil, w.anonymous)
		addSeed("POST", path+link, []param{{name: "List-Unsubscribe", value: "One-Click"}}, w.anonymous)
	}
	for range 40 {
		page := w.mustSend(&request{method: "GET", path: []string{"", "f", w.cleoForm}, as: w.anonymous})
		w.nonces = append(w.nonces, nonceControl.FindStringSubmatch(page.text)[1])
	}
	if !w.finishedForm && w.number == 0 {
		w.t.Error("no form was filled in to its ending")
	}
	// Actions that no page offers in its initial state.
	for _, extra := range []struct {
		method, path string
		form         []param
	}{
		{"POST", "/forms/" + w.cleoSpare + "/restore", []param{}},
		{"POST", form + "/duplicate", []param{}},
		{"POST", "/forms/" + w.cleoSpare + "/delete", []param{}},
		{"POST", form + "/responses/layout", []param{{name: "layout", value: "list"}, {name: "column", value: "nick"}, {name: "move", value: "up:nick"}, {name: "kept", value: "search=a"}}},
		{"POST", form + "/responses/views", []param{{name: "name", value: "Mine"}, {name: "kept", value: "search=a"}, {name: "view", value: ""}}},
		{"POST", form + "/responses/views/" + w.cleoView + "/delete", []param{}},
		{"POST", form + "/responses/restore", []param{{name: "response", value: w.cleoResponse}}},
		{"POST", form + "/open", []param{}},
		{"POST", form + "/versions/1/restore", []param{}},
		{"POST", "/templates/contact/preview", []param{{name: "_action", value: "next"}}},
		{"POST", form + "/folder", []param{{name: "folder", value: "Work"}}},
		{"POST", "/tour/end", []param{}}, {"GET", form + "/move", nil}, {"POST", form + "/move", []param{{name: "space", value: "spc_00000000000000000000000000"}}},
		{"POST", "/forms", []param{{name: "title", value: "Quick"}, {name: "questions", value: "Name\nCake: a, b"}, {name: "mood", value: "paper"}}},
		{"POST", "/folders", []param{{name: "from", value: "Work"}, {name: "folder", value: "Play"}, {name: "remove", value: ""}}},
		{"POST", form + "/design/themes", []param{{name: "brand", value: "#b4532a"}, {name: "mood", value: "paper"}, {name: "theme", value: "Studio"}}},
		{"POST", form + "/design/themes/" + w.cleoTheme + "/apply", []param{{name: "all", value: "1"}, {name: "from", value: "0"}}},
		{"POST", form + "/design/themes/" + w.cleoTheme + "/rename", []param{{name: "name", value: "Kiln"}}},
		{"POST", form + "/design/themes/" + w.cleoSpareTheme + "/delete", []param{}},
		{"POST", form + "/publish", []param{}},
		{"POST", form + "/connect/" + w.cleoSpareWebhook + "/resume", []param{}},
		{"POST", form + "/connect/" + w.cleoWebhook + "/deliveries/dlv_" + strings.TrimPrefix(w.cleoResponse, "rsp_") + "/resend", []param{}},
		{"POST", "/applications/" + w.cleoSpareApp + "/enable", []param{}},
		{"POST", "/applications/" + w.cleoApp + "/try", []param{}},
		{"POST", "/applications/" + w.cleoApp + "/secrets/x/drop", []param{}},
		{"POST", "/tokens/" + strings.Repeat("0", 24) + "/revoke", []param{}}, {"POST", "/connections/con_01k9z8m7q3e4r5t6y7v8w9x0a1", []param{{name: "forms", value: "some"}, {name: "form", value: w.cleoForm}, {name: "until", value: "2090-01-01"}}},
		{"POST", "/account/email/resend", []param{}},
		{"POST", "/account/email/cancel", []param{}},
		{"POST", "/account/sessions/x/end", []param{}},
		{"POST", form + "/connect/notify", []param{{name: "when", value: "daily"}, {name: "add", value: "a@example.org, b@example.org"}, {name: "again", value: "a@example.org"}, {name: "retry", value: ""}, {name: "remove", value: ""}}},
		{"POST", form + "/connect/receipt", []param{{name: "field", value: "mail"}, {name: "subject", value: "Hi {{nick}}"}, {name: "text", value: "**Thanks**"}, {name: "answers", value: "1"}}},
		{"POST", form + "/connect/receipt/preview", []param{{name: "field", value: "mail"}, {name: "subject", value: "Hi {{nick}}"}, {name: "text", value: "**Thanks** {{story}}"}, {name: "answers", value: "1"}}},
		{"POST", "/account/sessions/end-others", []param{}}, {"POST", form + "/editors", []param{{name: "revision", value: "1"}, {name: "leave", value: ""}}},
	} {
		addSeed(extra.method, extra.path, extra.form, w.cleo)
	}
	w.addSpaces(addSeed)
	addSeed("POST", "/confirm", []param{{name: "token", value: "x"}}, w.anonymous)
	addSeed("POST", "/setup", []param{{name: "token", value: "x"}, {name: "email", value: w.email("new")}, {name: "name", value: "N"}, {name: "password", value: clitest.Password}}, w.anonymous)
	addSeed("POST", form+"/pictures", nil, w.cleo).body = smallPNG
	draft := addSeed("PUT", form+"/draft", nil, w.cleo)
	draft.json = w.validBody("NewForm")
	draft.json.(map[string]any)["endings"] = []any{map[string]any{"key": "farewell", "title": "Bye", "text": "Done", "redirect": "https://example.com", "show_if": map[string]any{"field": "age", "op": "less", "value": 3}}}
	draft.json.(map[string]any)["settings"] = map[string]any{"ask_again": true, "hide_progress": true, "submit_label": "Go"}
	draft.set("Content-Type", "application/json")
	w.add(10, draft)
	if a := w.mustSend(draft); w.number == 0 && a.status != http.StatusOK {
		w.t.Errorf("the draft is not valid to begin with: %s", a)
	}
	formula := addSeed("POST", form+"/formula", nil, w.cleo)
	formula.json = map[string]any{"field": "f1", "expression": "age * 2"}
	formula.set("Content-Type", "application/json")
	w.add(6, formula)
	for pattern := range missing {
		w.t.Errorf("no seed for %s", pattern)
	}
}

type seedAdder func(method, address string, form []param, as *caller) *request

// crawl opens a page and adds its forms as seeds. Public forms have more pages, which
// it follows.
func (w *fixture) crawl(addSeed seedAdder, r *request) {
	w.t.Helper()
	for range 4 {
		page := w.mustSend(r)
		if strings.HasPrefix(page.header.Get("Location"), "/f/") {
			w.finishedForm = true
		}
		var next *request
		for _, f := range parseForms(page.text) {
			if f.action == "" {
				continue // its buttons say where it is sent
			}
			if f.method == "GET" {
				addSeed("GET", f.action+"?"+encodePairs(f.controls), nil, r.as)
				continue
			}
			next = addSeed("POST", f.action, f.controls, r.as)
		}
		if nonce := nonceControl.FindStringSubmatch(page.text); nonce == nil {
			return
		}
		r = next
	}
}

var nonceControl = regexp.MustCompile(`name="_key" value="([^"]+)"`)

// mustSend sends a valid request, which must not fail.
func (w *fixture) mustSend(r *request) httpResponse {
	w.t.Helper()
	r = r.copy()
	if name, value := r.as.credential(); name != "" {
		r.set(name, value)
	}
	raw, err := r.encode(w.rawConn.address)
	if err != nil {
		w.t.Fatal(err)
	}
	a := w.rawConn.send(r, raw)
	if a.err != nil || a.status >= 500 {
		w.t.Fatalf("%s: %s", raw, a)
	}
	return a
}
