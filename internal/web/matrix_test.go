package web_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
	"formulary/internal/web"
	"formulary/internal/web/page"
)

// notCompared are the tables and columns that change without a request, or note every request.
var notCompared = []string{"app_call", "consent.used_at", "device", "form_retention", "mail", "session", "setting"}

// matrix requests every page as a person whose role changes. With PostgreSQL, roles change on one
// node, and all requests go to another one.
type matrix struct {
	spaceFixture
	t             *testing.T
	routes        []web.Route
	token         string           // of Ada, for the space
	admin         *clitest.Browser // Ada, at the node where roles change
	joining       *clitest.Browser // Bob, at the same node
	b             *clitest.Browser // Bob
	guest, member account.User     // others
	form, second  string
	filled        map[string]map[string]string
	tried         int
}

// caller is somebody who requests pages, with what should be possible.
type caller struct {
	*clitest.Browser
	name  string
	role  account.Role            // in the space; empty: none
	forms map[string]account.Role // shared forms; nil: all
}

// want returns the status of a page about a form of the space; 0: it succeeds.
func (v caller) want(r web.Route, formID string) int {
	role, found := v.role, v.role != ""
	if isOfForm(r) && v.forms != nil {
		role, found = v.forms[formID]
	}
	switch {
	case v.name == "signed out":
		return http.StatusSeeOther
	case !found && (isOfForm(r) || strings.Contains(r.Pattern, "/{space}")):
		return http.StatusNotFound
	case !found: // in their own space
	case !role.Allows(r.Needs), isWhole(r) && !v.role.Allows(r.Needs):
		return http.StatusForbidden
	}
	return 0
}

func isOfForm(r web.Route) bool {
	return strings.Contains(r.Pattern, " /forms/{id}") || r.Pattern == "GET /live"
}

// Every route says what it needs: the permission that its path is about, or that it is about no
// space.
func TestRoutesSayWhatTheyNeed(t *testing.T) {
	for _, r := range web.Routes() {
		want, isOfSpace := needed(r.Pattern)
		isPersonal, isPublic := begins(r.Pattern, personal), begins(r.Pattern, public)
		switch {
		case r.Needs != want || isOfSpace && want == "":
			t.Errorf("%s needs %q, want %q", r.Pattern, r.Needs, want)
		case !isOfSpace && isPersonal == isPublic:
			t.Errorf("%s: is it about a space, a person or for everybody?", r.Pattern)
		case r.SignedIn == isPublic:
			t.Errorf("%s requires a user: %v", r.Pattern, r.SignedIn)
		case isOfSpace && isOfForm(r) && r.Whole != isWhole(r):
			t.Errorf("%s is for the whole space: %v", r.Pattern, r.Whole)
		}
		if _, ok := routeSamples[r.Pattern]; isOfSpace && !ok && !strings.HasPrefix(r.Pattern, "GET ") {
			t.Errorf("what are valid controls of %s?", r.Pattern)
		}
	}
}

// Every route × role × space: what the table of roles allows succeeds, and nothing else changes
// anything.
func TestRoleMatrix(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		m := newMatrix(t, s)
		m.outsiders()
		bob := caller{Browser: m.b, name: "member"}
		for _, role := range []account.Role{account.Viewer, account.Editor} {
			m.setRole(role)
			bob.role = role
			m.run(bob, m.form)
		}
		m.ok("remove", m.admin.Post(m.spacePath()+"/members/"+m.bob.ID+"/remove", nil))
		m.refused(caller{Browser: m.b, name: "removed"}, m.form)

		bob.name, bob.role = "guest", account.Guest
		for _, role := range []account.Role{account.Viewer, account.Editor} {
			bob.forms = map[string]account.Role{m.form: role}
			m.share(role)
			m.refused(bob, m.second)
			m.cross(bob)
			m.run(bob, m.form)
		}
		m.share(account.Viewer)
		m.ok("stop sharing", m.admin.Post("/forms/"+m.form+"/people/"+m.bob.ID+"/remove", nil))
		m.refused(caller{Browser: m.b, name: "after the last share"}, m.form)

		m.setRole(account.Owner)
		m.run(caller{Browser: m.b, name: "member", role: account.Owner}, m.form) // deletes the space
		m.refused(caller{Browser: m.b, name: "after the deletion"}, m.form)
		if m.tried < 700 {
			t.Errorf("only %d requests", m.tried)
		}
	}, allowReceive)
}

// outsiders are people who are not in the space.
func (m *matrix) outsiders() {
	m.AddUser("eve@example.com")
	stranger := m.Browser()
	stranger.SignIn("eve@example.com")
	m.enter(stranger)
	m.refused(caller{Browser: m.Browser(), name: "signed out"}, m.form)
	m.refused(caller{Browser: stranger, name: "stranger"}, m.form)
	newSpace(m.t, stranger, "Others")
	m.enter(stranger)
	m.refused(caller{Browser: stranger, name: "member of another space"}, m.form)
}

func newMatrix(t *testing.T, s *clitest.Service) *matrix {
	t.Helper()
	m := &matrix{spaceFixture: newSpaceFixture(t, s), t: t, routes: web.Routes(), admin: s.Browser(), joining: s.Browser(), filled: map[string]map[string]string{}}
	m.admin.SignIn(ada)
	m.joining.SignIn(bob)
	for email, user := range map[string]*account.User{"guest@example.com": &m.guest, "member@example.com": &m.member} {
		s.AddUser(email)
		var err error
		*user, err = m.store.UserByEmail(t.Context(), email)
		m.must(err)
	}
	if s.Storage.URL != "" {
		m.Service = clitest.Start(t, s.Storage, allowReceive)
	}
	const scopes = "forms:read,forms:write,responses:read,responses:write,webhooks:read,webhooks:write"
	m.token = m.TokenLimited(ada, m.app, scopes, url.Values{"space": {account.SpaceID(m.space)}}).Access
	m.form, m.second = publish(t, m.Service, m.token, matrixForm), publish(t, m.Service, m.token, matrixForm)
	m.ok("switch", m.admin.Post(m.spacePath()+"/switch", nil))
	m.b = m.Browser()
	m.b.SignIn(bob)
	m.enter(m.b)
	// What ends something comes last.
	slices.SortStableFunc(m.routes, func(a, b web.Route) int { return rank(a) - rank(b) })
	return m
}

// rank orders the routes so that each finds what it is about.
func rank(r web.Route) int {
	switch method, path, _ := strings.Cut(r.Pattern, " "); path {
	case "/forms/{id}/responses/delete":
		return 2
	case "/forms/{id}/responses/restore":
		return 3
	case "/forms/{id}/delete":
		return 5
	case "/forms/{id}/restore":
		return 6
	case "/spaces/{space}/leave":
		return 7
	case "/spaces/{space}/delete":
		return 8
	default:
		for _, end := range []string{"/delete", "/remove", "/withdraw"} {
			if strings.HasSuffix(path, end) {
				return 4
			}
		}
		if method == http.MethodGet || strings.HasSuffix(path, "/resend") { // before the webhook is active
			return 0
		}
		return 1
	}
}

// enter chooses the space, as somebody who knows its ID can.
func (m *matrix) enter(b *clitest.Browser) {
	m.t.Helper()
	address, err := url.Parse(m.URL)
	m.must(err)
	b.Jar.SetCookies(address, []*http.Cookie{{Name: page.SpaceCookie, Value: account.SpaceID(m.space), Path: "/"}})
}

func (m *matrix) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *matrix) ok(name string, p clitest.Page) {
	m.t.Helper()
	if p.StatusCode != http.StatusSeeOther {
		m.t.Fatalf("%s: %d\n%s", name, p.StatusCode, p.Text)
	}
}

func (m *matrix) spacePath() string { return "/spaces/" + account.SpaceID(m.space) }

// setRole makes Bob a member with an invitation, or changes his role.
func (m *matrix) setRole(role account.Role) {
	m.t.Helper()
	if p := m.admin.Post(m.spacePath()+"/members/"+m.bob.ID, url.Values{"role": {string(role)}}); p.StatusCode == http.StatusNotFound {
		m.ok("accept", accept(m.joining, newLink(m.t, m.admin, m.spacePath(), string(role))))
	}
}

func (m *matrix) share(role account.Role) {
	m.t.Helper()
	m.ok("share", m.admin.Post("/forms/"+m.form+"/people", url.Values{"email": {bob}, "role": {string(role)}}))
}

// run requests what should be refused, and then what should succeed.
func (m *matrix) run(v caller, formID string) {
	m.t.Helper()
	m.refused(v, formID)
	for _, r := range m.routes {
		if r.Needs == "" || v.want(r, formID) != 0 {
			continue
		}
		c := m.contents(formID)
		if r.Pattern == "POST /forms/{id}/move" {
			c = map[string]string{"{id}": m.addForm(m.t, m.space, "To be moved"), "{own}": c["{own}"]}
		}
		if p := m.send(v, r, c); p.StatusCode >= 400 || strings.HasPrefix(p.Header.Get("Location"), "/signin") {
			m.t.Errorf("%s, %s: %s: %d\n%s", v.name, v.role, r.Pattern, p.StatusCode, p.Text)
		}
		if strings.HasSuffix(r.Pattern, "/leave") {
			m.comeBack(v, formID)
		}
	}
	if v.role == account.Owner { // the space is deleted
		return
	}
	delete(m.filled, formID)
	// Those that are active would go on sending.
	for _, hook := range m.Call("GET", "/api/v1/forms/"+formID+"/webhooks", m.token, "").Body["data"].([]any) {
		m.Call("DELETE", "/api/v1/forms/"+formID+"/webhooks/"+hook.(map[string]any)["id"].(string), m.token, "")
	}
}

// comeBack makes somebody who has left the space able to continue.
func (m *matrix) comeBack(v caller, formID string) {
	m.t.Helper()
	if v.role == account.Guest {
		m.share(v.forms[formID])
	} else {
		m.setRole(v.role)
	}
	m.settle(v, formID)
}

// refused requests what should be refused, and compares all rows before and after.
func (m *matrix) refused(v caller, formID string) {
	m.t.Helper()
	c := m.contents(formID)
	m.settle(v, formID)
	before := storetest.Rows(m.t, m.store, notCompared...)
	for _, r := range m.routes {
		want := v.want(r, formID)
		if isOpen := r.Needs == "" && want != http.StatusSeeOther; isOpen || !r.SignedIn || want == 0 {
			continue
		}
		p := m.send(v, r, c)
		if p.StatusCode != want || want == http.StatusSeeOther && !strings.HasPrefix(p.Header.Get("Location"), "/signin") {
			m.t.Errorf("%s, %q: %s: %d, want %d", v.name, v.role, r.Pattern, p.StatusCode, want)
		}
		if strings.Contains(p.Text, "For the team only") {
			m.t.Errorf("%s, %q: %s shows the form", v.name, v.role, r.Pattern)
		}
	}
	if diff := cmp.Diff(before, storetest.Rows(m.t, m.store, notCompared...)); diff != "" {
		m.t.Errorf("%s, %q: refused requests have changed something:\n%s", v.name, v.role, diff)
	}
}

// cross requests pages about a shared form with IDs of what another form has.
func (m *matrix) cross(v caller) {
	m.t.Helper()
	c := maps.Clone(m.contents(m.second))
	c["{id}"] = m.form
	others := func() []string {
		rows := storetest.Rows(m.t, m.store, notCompared...)
		return slices.DeleteFunc(rows, func(row string) bool { return strings.Contains(row, m.form) })
	}
	before := others()
	for _, r := range m.routes {
		names := slices.ContainsFunc([]string{"{response}", "{webhook}", "{view}", "{file}"}, func(name string) bool { return strings.Contains(r.Pattern, name) })
		inBody := routeSamples[r.Pattern].Has("response")
		if !names && !inBody || v.want(r, m.form) != 0 {
			continue
		}
		p := m.send(v, r, c)
		if names && p.StatusCode != http.StatusNotFound || p.StatusCode >= 500 {
			m.t.Errorf("%s: %s of another form: %d", v.name, r.Pattern, p.StatusCode)
		}
	}
	if diff := cmp.Diff(before, others()); diff != "" {
		m.t.Errorf("%s: requests with IDs of another form have changed something:\n%s", v.name, diff)
	}
}

// settle waits until the node knows about the change that another one made.
func (m *matrix) settle(v caller, formID string) {
	m.t.Helper()
	c := m.contents(formID)
	for _, r := range m.routes {
		if r.Pattern == "GET /spaces/{space}/audit" || r.Pattern == "GET /forms/{id}/build" || r.Pattern == "GET /forms/{id}/responses" {
			want := max(v.want(r, formID), http.StatusOK)
			if !clitest.WaitFor(func() bool { return m.send(v, r, c).StatusCode == want }) {
				m.t.Fatalf("%s, %q: %s is not %d", v.name, v.role, r.Pattern, want)
			}
		}
	}
}

func (m *matrix) contents(formID string) map[string]string {
	m.t.Helper()
	if m.filled[formID] == nil {
		m.filled[formID] = m.fill(formID)
	}
	return m.filled[formID]
}

// send sends a valid request.
func (m *matrix) send(v caller, r web.Route, c map[string]string) clitest.Page {
	m.t.Helper()
	m.tried++
	method, path, _ := strings.Cut(r.Pattern, " ")
	person := m.member.ID
	if isOfForm(r) {
		person = m.guest.ID
	}
	if strings.HasSuffix(path, "/play") {
		path = strings.Replace(path, "{file}", c["{recording}"], 1)
	}
	path = strings.Replace(path, "{invitation}", c["{invitation}"+r.Pattern], 1)
	put := func(text string) string {
		for name, value := range c {
			text = strings.ReplaceAll(text, name, value)
		}
		return strings.ReplaceAll(text, "{person}", person)
	}
	path = put(path)
	switch {
	case r.Pattern == "GET /live": // a GET would not end
		res, err := v.Head(v.URL + path + "?form=" + c["{id}"])
		m.must(err)
		res.Body.Close()
		return clitest.Page{Response: res}
	case strings.HasSuffix(path, "/export"):
		path += "?format=csv"
	case strings.HasSuffix(path, "/draft"):
		f, _ := m.store.Form(m.t.Context(), m.space, c["{id}"]) // it may be deleted
		return v.Put(path, fmt.Sprint(f.Revision), matrixForm)
	case strings.HasSuffix(path, "/formula"):
		return v.PostBody(path, "application/json", strings.NewReader(`{"field": "age", "expression": "age * 2"}`))
	case strings.HasSuffix(path, "/pictures"):
		return v.PostBody(path, "image/png", strings.NewReader(matrixPicture))
	}
	if method == http.MethodGet {
		return v.Get(path)
	}
	fields := url.Values{}
	for name, values := range routeSamples[r.Pattern] {
		for _, value := range values {
			fields.Add(name, put(value))
		}
	}
	return v.Post(path, fields)
}
