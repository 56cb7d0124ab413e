package api_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

const (
	everyScope = defaultScopes + ",audit:read"
	secretText = "For the team only"
)

// notCompared are the tables and columns that change without a request, or note every request.
var notCompared = []string{"app_call", "consent.used_at", "device", "form_retention", "mail", "session", "setting"}

// matrix tries every operation with tokens of a person whose role changes. With PostgreSQL, roles
// and grants change on one node, and all requests go to another one.
type matrix struct {
	spaceFixture
	endpoints []endpoint
	owner     string           // a token of Ada for the space
	admin     *clitest.Browser // Ada, at the node where roles change
	person    *clitest.Browser // Bob, at the same node
	filled    map[string]contents
	tried     int
}

// holder is a token, with what should be possible with it.
type holder struct {
	name      string
	token     string
	role      account.Role            // in the space
	forms     map[string]account.Role // with the role for each; nil: all forms of the space
	lacks     account.Scope           // it has all others
	elsewhere bool                    // the grant is for another space
	invalid   int                     // error code of every request; 0: the token is valid
}

// want returns the error code of a request for a form of the space; 0: it succeeds.
func (h holder) want(e endpoint, formID string) int {
	role, found := h.role, true
	if e.ofForm() && h.forms != nil {
		role, found = h.forms[formID]
	}
	isForm := e.ofForm() || strings.Contains(e.path, "{theme}")
	switch {
	case h.invalid != 0:
		return h.invalid
	case e.scope == h.lacks:
		return 403001
	case !found || h.elsewhere && isForm:
		return 404002
	case !role.Allows(e.scope), wholeSpace[e.id] && !h.role.Allows(e.scope), allForms[e.id] && h.forms != nil:
		return 403002
	}
	return 0
}

// Every operation × role × space × grant: what the table of roles, the scopes and the forms of the
// grant allow succeeds, and nothing else changes or shows anything.
func TestRoleMatrix(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		m := newMatrix(t, w)
		m.join(account.Viewer)
		all := holder{name: "all forms", token: m.allow(bob, m.space).Access}
		one := holder{name: "one form", token: m.allow(bob, m.space, m.form).Access}
		other := holder{name: "another form", token: m.allow(bob, m.space, m.second).Access}
		own := holder{name: "own space", token: m.allow(bob, m.bobUser.ID).Access, role: account.Owner, elsewhere: true}
		for _, role := range []account.Role{account.Viewer, account.Owner, account.Editor} {
			m.setRole(role)
			all.role, one.role, other.role = role, role, role
			one.forms, other.forms = map[string]account.Role{m.form: role}, map[string]account.Role{m.second: role}
			m.run(all, m.form)
			m.run(one, m.form)
			m.run(one, m.second)
		}
		m.cross(one)
		m.refused(other, m.form)
		m.refused(own, m.form)
		m.narrow()
		all.forms = other.forms
		m.refused(all, m.form)
		m.run(all, m.second)

		status(m, "remove", m.admin.Post(m.spacePath()+"/members/"+m.bobUser.ID+"/remove", nil))
		for _, h := range []holder{all, one, other} {
			h.invalid = 401001
			m.refused(h, m.form)
		}
		m.guests()
		m.refused(own, m.form)
		m.refused(holder{name: "no token", invalid: 401003}, m.form)
		m.scopes()
		if m.tried < 1200 {
			t.Errorf("only %d requests", m.tried)
		}
	}, allowLoopback)
}

// guests tries what people can do with whom a form is shared.
func (m *matrix) guests() {
	people := "/forms/" + m.form + "/people"
	status(m, "share", m.admin.Post(people, url.Values{"email": {bob}, "role": {"viewer"}}))
	guest := holder{name: "guest", token: m.allow(bob, m.space).Access, role: account.Guest}
	for _, role := range []account.Role{account.Viewer, account.Editor} {
		status(m, "change the share", m.admin.Post(people+"/"+m.bobUser.ID, url.Values{"role": {string(role)}}))
		guest.forms = map[string]account.Role{m.form: role}
		m.refused(guest, m.second)
		m.run(guest, m.form)
	}
	status(m, "share again", m.admin.Post(people, url.Values{"email": {bob}, "role": {"viewer"}}))
	guest.token = m.allow(bob, m.space).Access
	status(m, "stop sharing", m.admin.Post(people+"/"+m.bobUser.ID+"/remove", nil))
	guest.invalid = 401001
	m.refused(guest, m.form)
}

// scopes tries tokens of an owner that lack one scope each.
func (m *matrix) scopes() {
	token := m.allow(ada, m.space)
	for _, lacking := range strings.Split(everyScope, ",") {
		body := m.app.Refresh(token.Refresh)
		body.Set("scope", strings.Trim(strings.Replace(everyScope, lacking, "", 1), ","))
		narrowed := m.MustToken(m.Form("/api/oauth2/refresh", body)).Access
		m.refused(holder{name: "without " + lacking, token: narrowed, role: account.Owner, lacks: account.Scope(lacking)}, m.form)
	}
}

func newMatrix(t *testing.T, w *fixture) *matrix {
	t.Helper()
	m := &matrix{spaceFixture: newSpaceFixture(t, w), admin: w.Browser(), person: w.Browser(), filled: map[string]contents{}}
	m.admin.SignIn(ada)
	m.person.SignIn(bob)
	w.app = w.AddApp(ada, callback, "--scope="+everyScope)
	if w.Storage.URL != "" {
		w.Service = clitest.Start(t, w.Storage, allowLoopback)
	}
	m.owner = m.allow(ada, m.space).Access
	for _, formID := range []*string{&m.form, &m.second} {
		made := m.Call("POST", "/api/v1/forms", m.owner, strings.Replace(fileForm, "Apply", secretText, 1))
		*formID = made.String("id")
		m.expectStatus("publish", m.Call("POST", "/api/v1/forms/"+*formID+"/publish", m.owner, ""), 201)
	}
	status(m, "enter the space", m.admin.Post(m.spacePath()+"/switch", nil))
	m.findEndpoints()
	return m
}

// findEndpoints lists the operations of the document. It fails for one whose scope is not what its path
// says, and for one without a valid body.
func (m *matrix) findEndpoints() {
	m.t.Helper()
	for path, item := range document(m.t, m.Service).Paths.Map() {
		for method, op := range item.Operations() {
			e := newEndpoint(path, method, op)
			if !strings.HasPrefix(path, "/api/v1/") || e.id == "me" || e.id == "openapi" {
				if e.scope != "" {
					m.t.Errorf("%s needs %s", e.id, e.scope)
				}
				continue
			}
			if want := scopeOf(method, path); e.scope != want {
				m.t.Errorf("%s %s needs %q, want %q", method, path, e.scope, want)
			}
			if _, ok := samples[e.id]; e.takesBody && !ok {
				m.t.Errorf("what is a valid body of %s?", e.id)
			}
			m.endpoints = append(m.endpoints, e)
		}
	}
	slices.SortFunc(m.endpoints, func(a, b endpoint) int { return strings.Compare(a.order(), b.order()) })
}

// status fails the test unless a page has redirected.
func status(m *matrix, name string, p clitest.Page) {
	m.t.Helper()
	if p.StatusCode != http.StatusSeeOther {
		m.t.Fatalf("%s: %d\n%s", name, p.StatusCode, p.Text)
	}
}

func (m *matrix) spacePath() string { return "/spaces/" + account.SpaceID(m.space) }

// join makes Bob a member with an invitation link.
func (m *matrix) join(role account.Role) {
	m.t.Helper()
	p := m.admin.Post(m.spacePath()+"/invitations", url.Values{"role": {string(role)}, "link": {"1"}})
	_, link, _ := strings.Cut(p.Text, "/invitation?token=")
	end := strings.IndexFunc(link, func(r rune) bool { return !strings.ContainsRune("-_", r) && !isAlphanumeric(r) })
	if p.StatusCode != http.StatusOK || end < 0 {
		m.t.Fatalf("no invitation: %d\n%s", p.StatusCode, p.Text)
	}
	status(m, "accept", m.person.Post("/invitation", url.Values{"token": {link[:end]}}))
}

func isAlphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

func (m *matrix) setRole(role account.Role) {
	m.t.Helper()
	status(m, "change the role", m.admin.Post(m.spacePath()+"/members/"+m.bobUser.ID, url.Values{"role": {string(role)}}))
}

// narrow limits Bob's grant of all forms to the second one.
func (m *matrix) narrow() {
	m.t.Helper()
	list, err := m.store.Grants(m.t.Context(), m.bobUser.ID, store.LiveGrants{Now: time.Now()})
	m.must(err)
	for _, g := range list {
		if g.Limits.Space == m.space && !g.Limits.SomeForms {
			status(m, "narrow", m.person.Post("/connections/"+g.ID, url.Values{"forms": {"some"}, "form": {m.second}}))
			return
		}
	}
	m.t.Fatal("no grant of all forms")
}

func (m *matrix) allow(email, space string, forms ...string) clitest.Token {
	m.t.Helper()
	limits := url.Values{"space": {account.SpaceID(space)}}
	if len(forms) > 0 {
		limits["forms"], limits["form"] = []string{"some"}, forms
	}
	return m.TokenLimited(email, m.app, everyScope, limits)
}

// run tries what should be refused, and then what should succeed.
func (m *matrix) run(h holder, formID string) {
	m.t.Helper()
	m.refused(h, formID)
	m.checkMe(h)
	c := m.contents(formID)
	for _, e := range m.endpoints {
		if h.want(e, formID) != 0 {
			continue
		}
		if a := m.send(e, c, h.token); a.StatusCode >= 300 {
			m.t.Errorf("%s, %s: %s: %d %s", h.name, h.role, e.id, a.StatusCode, a.Text)
		}
		if e.method != http.MethodGet {
			delete(m.filled, formID) // the next one needs others
		}
		if e.id == "deleteForm" {
			status(m, "restore", m.admin.Post("/forms/"+formID+"/restore", nil))
		}
	}
}

// refused tries what should be refused, and compares all rows before and after.
func (m *matrix) refused(h holder, formID string) {
	m.t.Helper()
	c := m.contents(formID)
	m.settle(h, c)
	before := storetest.Rows(m.t, m.store, notCompared...)
	for _, e := range m.endpoints {
		want := h.want(e, formID)
		if want == 0 {
			continue
		}
		a := m.send(e, c, h.token)
		if got := a.Code(); got != want && !(a.Request.Method == http.MethodHead && a.StatusCode == want/1000) {
			m.t.Errorf("%s, %q: %s %s: %d, want %d", h.name, h.role, e.method, e.path, got, want)
		}
		if strings.Contains(a.Text, secretText) {
			m.t.Errorf("%s, %q: %s %s shows %s", h.name, h.role, e.method, e.path, a.Text)
		}
	}
	if diff := cmp.Diff(before, storetest.Rows(m.t, m.store, notCompared...)); diff != "" {
		m.t.Errorf("%s, %q: refused requests have changed something:\n%s", h.name, h.role, diff)
	}
}

// checkMe checks that the user of the token learns what it is for.
func (m *matrix) checkMe(h holder) {
	m.t.Helper()
	forms := "all"
	if h.forms != nil {
		forms = "some"
	}
	m.expectFields(h.name, m.Call("GET", "/api/v1/me", h.token, ""), map[string]any{
		"space": map[string]any{"id": account.SpaceID(m.space), "name": "Team", "role": string(h.role)}, "forms": forms,
	})
}

// cross sends requests about a form of the grant with IDs of what another form has.
func (m *matrix) cross(h holder) {
	m.t.Helper()
	c := maps.Clone(m.contents(m.second))
	c["{id}"] = m.form
	others := func() []string {
		rows := storetest.Rows(m.t, m.store, notCompared...)
		return slices.DeleteFunc(rows, func(row string) bool { return strings.Contains(row, m.form) })
	}
	before := others()
	for _, e := range m.endpoints {
		names := strings.Contains(strings.TrimPrefix(e.path, "/api/v1/forms/{id}"), "{") && !strings.Contains(e.path, "{version}")
		if !e.ofForm() || !names && e.id != "markResponses" {
			continue
		}
		a := m.send(e, c, h.token)
		if a.Code() != 404002 && e.id != "markResponses" || strings.Contains(a.Text, secretText) {
			m.t.Errorf("%s %s of another form: %d %s", e.method, e.path, a.StatusCode, a.Text)
		}
	}
	if diff := cmp.Diff(before, others()); diff != "" {
		m.t.Errorf("requests with IDs of another form have changed something:\n%s", diff)
	}
}

// settle waits until the node knows about the change that another one made.
func (m *matrix) settle(h holder, c contents) {
	m.t.Helper()
	for _, e := range m.endpoints {
		if e.id == "listAudit" || e.id == "listWebhooks" || e.id == "readForm" {
			want := h.want(e, c["{id}"])
			if !clitest.WaitFor(func() bool { return m.send(e, c, h.token).Code() == want }) {
				m.t.Fatalf("%s, %q: %s is not %d", h.name, h.role, e.id, want)
			}
		}
	}
}

func (m *matrix) contents(formID string) contents {
	m.t.Helper()
	if m.filled[formID] == nil {
		m.filled[formID] = m.fill(formID)
	}
	return m.filled[formID]
}

// send sends a valid request.
func (m *matrix) send(e endpoint, c contents, token string) clitest.Response {
	m.t.Helper()
	m.tried++
	method, path := e.method, c.put(e.path)
	switch e.id {
	case "liveResponses":
		method = http.MethodHead // a GET would not end
	case "deleteResponses":
		path += "?all=true"
	case "addPicture":
		return m.Call(method, path, token, samples[e.id], "Content-Type: application/octet-stream")
	}
	return m.Call(method, path, token, c.put(samples[e.id]))
}
