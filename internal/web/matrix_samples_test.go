package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"formulary/internal/account"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/web"
)

// matrixForm is a form with what every page can show.
const matrixForm = `{"title": "For the team only", "fields": [{"key": "name", "kind": "short_text", "label": "Name"},
	{"key": "cv", "kind": "file", "label": "CV", "max_files": 2}, {"key": "age", "kind": "number", "label": "Age"}]}`

// routeSamples are valid controls of requests that are no GET; nil: none are needed.
var routeSamples = map[string]url.Values{
	"POST /forms":                                                     {"title": {"Made by Bob"}},
	"POST /templates/{name}/preview":                                  {"_action": {"next"}},
	"POST /forms/{id}/duplicate":                                      nil,
	"POST /forms/{id}/folder":                                         {"folder": {"Work"}},
	"POST /folders":                                                   {"from": {"Work"}, "folder": {"Play"}},
	"POST /forms/{id}/delete":                                         nil,
	"POST /forms/{id}/restore":                                        nil,
	"PUT /forms/{id}/draft":                                           nil, // a body of its own
	"POST /forms/{id}/editors":                                        {"revision": {"1"}},
	"POST /forms/{id}/formula":                                        nil, // a body of its own
	"POST /forms/{id}/publish":                                        nil,
	"POST /forms/{id}/preview":                                        {"_action": {"next"}},
	"POST /forms/{id}/versions/{version}/restore":                     nil,
	"POST /forms/{id}/design":                                         {"brand": {"#b4532a"}, "mood": {"paper"}},
	"POST /forms/{id}/design/themes":                                  {"brand": {"#b4532a"}, "mood": {"paper"}, "theme": {"Studio"}},
	"POST /forms/{id}/design/themes/{theme}/apply":                    nil,
	"POST /forms/{id}/design/themes/{theme}/rename":                   {"name": {"Kiln"}},
	"POST /forms/{id}/design/themes/{theme}/delete":                   nil,
	"POST /forms/{id}/share":                                          {"slug": {""}, "response_limit": {"1000"}},
	"POST /forms/{id}/retention":                                      {"days": {"3650"}},
	"POST /forms/{id}/move":                                           {"space": {"{own}"}},
	"POST /forms/{id}/close":                                          nil,
	"POST /forms/{id}/open":                                           nil,
	"POST /forms/{id}/connect":                                        {"url": {"http://127.0.0.1:1/hook"}, "events": {"response.created"}},
	"POST /forms/{id}/connect/notify":                                 {"when": {"daily"}, "add": {"ana@example.org"}},
	"POST /forms/{id}/connect/receipt":                                {"field": {""}, "subject": {"Hi"}, "text": {"Thanks"}},
	"POST /forms/{id}/connect/receipt/preview":                        {"subject": {"Hi"}, "text": {"Thanks"}},
	"POST /forms/{id}/connect/{webhook}":                              {"url": {"http://127.0.0.1:1/other"}, "events": {"response.created"}},
	"POST /forms/{id}/connect/{webhook}/pause":                        nil,
	"POST /forms/{id}/connect/{webhook}/resume":                       nil,
	"POST /forms/{id}/connect/{webhook}/test":                         nil,
	"POST /forms/{id}/connect/{webhook}/rotate":                       nil,
	"POST /forms/{id}/connect/{webhook}/replay":                       {"from": {"beginning"}},
	"POST /forms/{id}/connect/{webhook}/delete":                       nil,
	"POST /forms/{id}/connect/{webhook}/deliveries/{delivery}/resend": nil,
	"POST /forms/{id}/responses/delete":                               {"response": {"{response}"}},
	"POST /forms/{id}/responses/layout":                               {"layout": {"list"}},
	"POST /forms/{id}/responses/views":                                {"name": {"Mine"}, "kept": {"search=a"}},
	"POST /forms/{id}/responses/views/{view}/delete":                  nil,
	"POST /forms/{id}/responses/restore":                              {"response": {"{response}"}},
	"POST /forms/{id}/responses/mark":                                 {"response": {"{response}"}, "tag": {"blue"}},
	"POST /forms/{id}/responses/{response}/edit":                      {"_page": {"0"}, "_shown": {"name,cv,age"}, "_action": {"next"}, "name": {"Changed"}, "age": {"3"}},
	"POST /forms/{id}/responses/{response}/notes":                     {"text": {"Made by Bob"}},
	"POST /forms/{id}/pictures":                                       nil, // a body of its own
	"POST /forms/{id}/people":                                         {"role": {"viewer"}, "link": {"1"}},
	"POST /forms/{id}/people/{person}":                                {"role": {"editor"}},
	"POST /forms/{id}/people/{person}/remove":                         nil,
	"POST /forms/{id}/invitations/{invitation}/again":                 nil,
	"POST /forms/{id}/invitations/{invitation}/withdraw":              nil,
	"POST /spaces/{space}":                                            {"name": {"Crew"}},
	"POST /spaces/{space}/switch":                                     nil,
	"POST /spaces/{space}/leave":                                      nil,
	"POST /spaces/{space}/delete":                                     {"confirm": {"Crew"}},
	"POST /spaces/{space}/members/{person}":                           {"role": {"editor"}},
	"POST /spaces/{space}/members/{person}/remove":                    nil,
	"POST /spaces/{space}/invitations":                                {"role": {"viewer"}, "link": {"1"}},
	"POST /spaces/{space}/invitations/{invitation}/again":             nil,
	"POST /spaces/{space}/invitations/{invitation}/withdraw":          nil,
}

// needsOf lists the permissions that routes should need, by the beginning of their patterns. The
// first one counts.
var needsOf = []struct {
	begins    string
	get, post account.Scope
}{
	{"/spaces/{space}/audit", account.AuditRead, ""},
	{"/spaces/{space}/switch", "", account.FormsRead},
	{"/spaces/{space}/leave", "", account.FormsRead},
	{"/spaces/{space}", account.SpaceRead, account.SpaceManage},
	{"/forms/{id}/people", "", account.SpaceManage},
	{"/forms/{id}/invitations", "", account.SpaceManage},
	{"/forms/{id}/move", account.FormsRead, account.SpaceManage},
	{"/forms/{id}/connect/notify", account.FormsRead, account.FormsWrite},
	{"/forms/{id}/connect/receipt/preview", account.FormsRead, account.FormsRead},
	{"/forms/{id}/connect/receipt", account.FormsRead, account.FormsWrite},
	{"/forms/{id}/connect/new", account.WebhooksWrite, ""},
	{"/forms/{id}/connect", account.WebhooksRead, account.WebhooksWrite},
	{"/forms/{id}/responses/layout", "", account.ResponsesRead}, // of the person
	{"/forms/{id}/responses/{response}/edit", account.ResponsesWrite, account.ResponsesWrite},
	{"/forms/{id}/responses", account.ResponsesRead, account.ResponsesWrite},
	{"/forms/{id}/files", account.ResponsesRead, ""},
	{"/forms/{id}/summary", account.ResponsesRead, ""},
	{"/forms/{id}/build", account.FormsWrite, ""},
	{"/forms/{id}/design", account.FormsWrite, account.FormsWrite},
	{"/forms/{id}/preview", account.FormsRead, account.FormsRead},
	{"/templates", account.FormsRead, account.FormsRead},
	{"/forms", account.FormsRead, account.FormsWrite},
	{"/folders", "", account.FormsWrite},
	{"/live", account.FormsRead, ""},
	{"/{$}", account.FormsRead, ""},
}

// Routes that are about no space: for people who are signed in, and for everybody.
var (
	personal = []string{"POST /tour/end", "GET /spaces", "POST /spaces", "POST /authorize", "GET /account", "POST /account/", "GET /account/", "/applications", "/tokens", "/mails", "/connections"}
	public   = []string{"/invitation", "/sign", "/setup", "/forgot", "/reset", "/confirm", "/.well-known/", "GET /authorize", "/notifications/", "/f/", "/embed.js", "/oembed", "/docs/api", "/static/", "/favicon.ico"}
)

// begins reports whether a pattern begins with one of the texts, with or without its method. A
// text without a slash at its end is a whole part of a path, except for public ones.
func begins(pattern string, list []string) bool {
	_, path, _ := strings.Cut(pattern, " ")
	for _, text := range list {
		if strings.HasPrefix(text, "/") && strings.HasPrefix(path, text) || pattern == text || strings.HasSuffix(text, "/") && strings.HasPrefix(pattern, text) {
			return true
		}
	}
	return false
}

// needed returns the permission that a route should need; false: it is about no space.
func needed(pattern string) (account.Scope, bool) {
	method, path, _ := strings.Cut(pattern, " ")
	for _, n := range needsOf {
		if !strings.HasPrefix(path, n.begins) || begins(pattern, personal) {
			continue
		}
		if method == http.MethodGet {
			return n.get, true
		}
		return n.post, true
	}
	return "", false
}

// isWhole reports whether a route about a form should need the permission for the whole space.
func isWhole(r web.Route) bool {
	return r.Needs == account.SpaceManage || strings.HasSuffix(r.Pattern, "/duplicate") || strings.Contains(r.Pattern, "/design/themes")
}

// fill adds to a form of the space what its pages show.
func (m *matrix) fill(formID string) map[string]string {
	m.t.Helper()
	path := "/api/v1/forms/" + formID
	add := func(path, body string) string {
		m.t.Helper()
		a := m.Call("POST", path, m.token, body)
		if a.StatusCode != http.StatusCreated {
			m.t.Fatalf("POST %s: %s", path, a.Text)
		}
		return a.String("id")
	}
	upload := func(name, content string) string {
		m.t.Helper()
		r, err := http.NewRequest("POST", m.URL+"/f/"+formID+"/files?field=cv", strings.NewReader(content))
		m.must(err)
		r.Header.Set("Content-Disposition", "attachment; filename="+name)
		return m.Do(r).String("id")
	}
	c := map[string]string{"{id}": formID, "{version}": "1", "{$}": "", "{name}": "contact", "{mode}": "popup", "{kind}": "qr.svg", "{own}": account.SpaceID(m.bob.ID), "{space}": account.SpaceID(m.space)}
	c["{file}"], c["{recording}"] = upload("a.png", matrixPicture), upload("a.webm", "\x1a\x45\xdf\xa3\x87\x42\x82\x84webm")
	c["{response}"] = add(path+"/responses", `{"answers": {"name": "Eve", "cv": ["`+c["{file}"]+`", "`+c["{recording}"]+`"]}}`)
	c["{view}"] = add(path+"/views", `{"name": "All", "filter": {}}`)
	c["{webhook}"] = add(path+"/webhooks", `{"url": "http://127.0.0.1:1/hook", "active": false}`)
	c["{theme}"] = add("/api/v1/themes", `{"name": "Of the team", "design": {}}`)
	c["{delivery}"] = m.deliver(c)
	now := time.Now()
	m.must(m.store.ShareForm(m.t.Context(), m.space, formID, m.guest.ID, account.Viewer, now))
	m.must(m.store.SetMember(m.t.Context(), m.space, m.member.ID, account.Viewer, now))
	for _, r := range m.routes {
		if strings.Contains(r.Pattern, "{invitation}") {
			i := store.Invitation{Space: m.space, Role: account.Viewer, InvitedBy: m.ada.ID}
			if isOfForm(r) {
				i.FormID = formID
			}
			secret := account.NewSecret(account.InvitationKey, m.space, now)
			m.must(m.store.Invite(m.t.Context(), store.NewInvitation{Invitation: i, Secret: secret}, now))
			c["{invitation}"+r.Pattern] = secret.ID
		}
	}
	return c
}

// deliver stores a failed delivery of the response.
func (m *matrix) deliver(c map[string]string) string {
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

// matrixPicture is a picture of one pixel.
const matrixPicture = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\b\x02\x00\x00\x00\x90wS\xde\x00\x00\x00\x0cIDATx\x9cc\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00IEND\xaeB`\x82"
