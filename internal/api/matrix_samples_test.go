package api_test

import (
	"net/http"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"formulary/internal/account"
	"formulary/internal/id"
	"formulary/internal/store"
)

// samples are valid bodies of operations. Operations that are not here have no body.
var samples = map[string]string{
	"createForm":          `{"title": "Made by the app"}`,
	"changeForm":          `{"title": "Changed by the app"}`,
	"setRetention":        `{"days": 3650}`,
	"createView":          `{"name": "Made by the app", "filter": {}}`,
	"changeView":          `{"name": "Changed by the app"}`,
	"createTheme":         `{"name": "Made by the app", "design": {}}`,
	"changeTheme":         `{"name": "Changed by the app"}`,
	"addResponse":         `{"answers": {"name": "Sent by the app"}}`,
	"changeResponse":      `{"answers": {"name": "Changed by the app"}}`,
	"markResponses":       `{"responses": ["{response}"], "status": "done", "add_tags": ["seen"]}`,
	"createNote":          `{"text": "Made by the app"}`,
	"changeNote":          `{"text": "Changed by the app"}`,
	"createWebhook":       `{"url": "http://127.0.0.1:1/hook", "active": false}`,
	"changeWebhook":       `{"url": "http://127.0.0.1:1/other"}`,
	"rotateWebhookSecret": `{}`,
	"testWebhook":         `{}`,
	"replayWebhook":       `{}`,
	"setNotifications":    `{"when": "daily", "to": ["ana@example.org"]}`,
	"setReceipt":          `{"active": false, "field": "", "subject": "Hi", "text": "Thanks", "answers": true}`,
	"addPicture":          smallPNG,
}

// smallPNG is a picture of one pixel.
const smallPNG = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\b\x02\x00\x00\x00\x90wS\xde\x00\x00\x00\x0cIDATx\x9cc\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00IEND\xaeB`\x82"

// wholeSpace are operations on a form that need the permission for its space.
var wholeSpace = map[string]bool{"duplicateForm": true}

// allForms are operations that concern all forms of a space.
var allForms = map[string]bool{"createTheme": true, "changeTheme": true, "deleteTheme": true, "listAudit": true}

// scopeOf returns the scope that an operation should need, from what its path is about: whoever
// adds an operation can forget it.
func scopeOf(method, path string) account.Scope {
	for part, scopes := range map[string][2]account.Scope{
		"/audit":     {account.AuditRead},
		"/webhooks":  {account.WebhooksRead, account.WebhooksWrite},
		"/responses": {account.ResponsesRead, account.ResponsesWrite},
		"/views":     {account.ResponsesRead, account.ResponsesWrite},
		"/{id}/file": {account.ResponsesRead, account.ResponsesWrite},
		"/summary":   {account.ResponsesRead},
		"/drop-off":  {account.ResponsesRead},
	} {
		if strings.Contains(path, part) {
			return scopes[writes(method)]
		}
	}
	return [2]account.Scope{account.FormsRead, account.FormsWrite}[writes(method)]
}

// writes returns 1 if a method changes data, and 0 otherwise.
func writes(method string) int {
	if method == http.MethodGet {
		return 0
	}
	return 1
}

// endpoint is an operation of the API, as the document describes it.
type endpoint struct {
	method, path, id string
	scope            account.Scope
	takesBody        bool
}

// ofForm reports whether the path names a form.
func (e endpoint) ofForm() bool { return strings.HasPrefix(e.path, "/api/v1/forms/{id}") }

func newEndpoint(path, method string, op *openapi3.Operation) endpoint {
	e := endpoint{method: method, path: path, id: op.OperationID, takesBody: op.RequestBody != nil}
	for _, needs := range *op.Security {
		for _, scopes := range needs {
			if len(scopes) > 0 {
				e.scope = account.Scope(scopes[0])
			}
		}
	}
	return e
}

// order puts requests that delete at the end, the deepest first, so that those before find what
// they are about.
func (e endpoint) order() string {
	if e.method == http.MethodDelete {
		return "~" + string(rune('z'-strings.Count(e.path, "/"))) + e.path
	}
	return e.path + " " + e.method
}

// contents are the IDs of what a form has.
type contents map[string]string

// fill adds a response with a file and a note, a view, a webhook with a delivery, and a theme.
func (m *matrix) fill(formID string) contents {
	m.t.Helper()
	path := "/api/v1/forms/" + formID
	add := func(path, body string) string {
		m.t.Helper()
		a := m.Call("POST", path, m.owner, body)
		if a.StatusCode != http.StatusCreated {
			m.t.Fatalf("fill: POST %s: %s", path, a.Text)
		}
		return a.String("id")
	}
	c := contents{"{id}": formID, "{version}": "1"}
	c["{file}"] = m.mustUpload(formID, "cv", "cv.pdf", []byte("%PDF-1.7\nsmall"))
	c["{response}"] = add(path+"/responses", `{"answers": {"name": "`+secretText+`", "cv": ["`+c["{file}"]+`"]}}`)
	c["{note}"] = add(path+"/responses/"+c["{response}"]+"/notes", `{"text": "`+secretText+`"}`)
	c["{view}"] = add(path+"/views", `{"name": "`+secretText+`", "filter": {}}`)
	c["{webhook}"] = add(path+"/webhooks", samples["createWebhook"])
	c["{theme}"] = add("/api/v1/themes", `{"name": "Of the team", "design": {}}`)
	c["{delivery}"] = m.deliver(c)
	return c
}

// deliver stores a failed delivery of the response.
func (m *matrix) deliver(c contents) string {
	m.t.Helper()
	key := store.WebhookKey{FormID: c["{id}"], ID: c["{webhook}"]}
	at, err := m.store.Webhook(m.t.Context(), m.space, key)
	m.must(err)
	d := store.Delivery{
		Event:  store.Event{Position: c["{response}"][len(id.Response):], Kind: store.ResponseCreated, ResponseID: c["{response}"], Version: 1},
		Status: store.DeliveryFailed, Attempt: 10, FirstAt: time.Now(), LastAt: time.Now(),
	}
	m.must(m.store.CommitDeliveries(m.t.Context(), m.space, store.DeliveryCommit{Key: key, From: at.Position, Position: at.Position, Deliveries: []store.Delivery{d}}))
	return d.ID()
}

// put replaces the parameters in a path or a body.
func (c contents) put(text string) string {
	for name, value := range c {
		text = strings.ReplaceAll(text, name, value)
	}
	return text
}
