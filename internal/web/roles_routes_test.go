package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
	"formulary/internal/web"
	"formulary/internal/web/page"
)

// target returns the path of a route for a form.
func target(path, formID string) string {
	return strings.NewReplacer("{$}", "", "{id}", formID, "{name}", "contact", "{version}", "1", "{theme}", "thm_01k9z8m7q3e4r5t6y7v8w9x0a1", "{mode}", "popup",
		"{kind}", "qr.svg", "{webhook}", "whk_01k9z8m7q3e4r5t6y7v8w9x0a1", "{delivery}", "dlv_01k9z8m7q3e4r5t6y7v8w9x0a1", "{view}", "viw_01k9z8m7q3e4r5t6y7v8w9x0a1",
		"{response}", "rsp_01k9z8m7q3e4r5t6y7v8w9x0a1", "{file}", "fil_01k9z8m7q3e4r5t6y7v8w9x0a1").Replace(path)
}

// routesOf returns the routes with the space in their paths, without the one for leaving it.
func routesOf(space string) (list []web.Route) {
	for _, r := range web.Routes() {
		if !strings.HasSuffix(r.Pattern, "/{space}/leave") {
			r.Pattern = strings.Replace(r.Pattern, "{space}", account.SpaceID(space), 1)
			list = append(list, r)
		}
	}
	return list
}

// request sends a request of a route and returns the status.
func request(t *testing.T, b *clitest.Browser, r web.Route, formID string) int {
	t.Helper()
	method, path, _ := strings.Cut(r.Pattern, " ")
	if path == "/live" {
		method = http.MethodHead // a GET would not end
	}
	sent, err := http.NewRequestWithContext(t.Context(), method, b.URL+target(path, formID), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	sent.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := b.Do(sent)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// Every page of the workspace needs the permission that the route table says, and nobody without it
// gets further than 403. A form that does not exist shows who would get further: 404.
func TestRolesOfPages(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		f := newSpaceFixture(t, s)
		b := s.Browser()
		b.SignIn(bob)
		address, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		b.Jar.SetCookies(address, []*http.Cookie{{Name: page.SpaceCookie, Value: account.SpaceID(f.space), Path: "/"}})
		const nothing = "frm_01k9z8m7q3e4r5t6y7v8w9x0a1"
		checked := 0
		check := func(name string, r web.Route, got int, allowed bool) {
			t.Helper()
			checked++
			if isRefused := got == http.StatusForbidden; isRefused == allowed || got >= 500 {
				t.Errorf("%s: %s: %d, allowed: %v", name, r.Pattern, got, allowed)
			}
		}
		for _, role := range account.MemberRoles {
			if err := f.store.SetMember(t.Context(), f.space, f.bob.ID, role, time.Now()); err != nil {
				t.Fatal(err)
			}
			for _, r := range routesOf(f.space) {
				// An owner could leave or delete the space, which has tests of its own.
				if r.Needs == "" || r.Needs == account.SpaceManage && role == account.Owner {
					continue
				}
				check(string(role), r, request(t, b, r, nothing), role.Allows(r.Needs))
			}
		}
		if err := f.store.RemoveMember(t.Context(), f.space, f.bob.ID, time.Now()); err != nil {
			t.Fatal(err)
		}
		// A guest has a role for the form, and the role Guest for the space.
		if err := f.store.ShareForm(t.Context(), f.space, f.other, f.bob.ID, account.Viewer, time.Now()); err != nil {
			t.Fatal(err)
		}
		second := f.addForm(t, f.space, "Not shared")
		for _, r := range routesOf(f.space) {
			ofForm := strings.Contains(r.Pattern, " /forms/{id}")
			switch {
			case r.Needs == "":
			case !ofForm:
				check("guest", r, request(t, b, r, ""), account.Guest.Allows(r.Needs))
			default:
				if !account.Viewer.Allows(r.Needs) || r.Whole {
					check("guest", r, request(t, b, r, f.other), false)
				}
				if got := request(t, b, r, second); got != http.StatusNotFound {
					t.Errorf("guest: %s of another form: %d", r.Pattern, got)
				}
			}
		}
		// After the last share, nothing of the space is left.
		if err := f.store.EndShare(t.Context(), f.space, f.other, f.bob.ID, time.Now()); err != nil {
			t.Fatal(err)
		}
		for _, r := range routesOf(f.space) {
			if r.Needs == "" || !strings.Contains(r.Pattern, " /forms/{id}") {
				continue
			}
			got := request(t, b, r, f.other)
			// Some actions validate first, or do nothing without saying so.
			if got < 300 || strings.HasPrefix(r.Pattern, "GET ") && got != http.StatusNotFound {
				t.Errorf("nobody: %s: %d", r.Pattern, got)
			}
		}
		if kept, err := f.store.Form(t.Context(), f.space, f.other); err != nil || kept.Revision != 1 {
			t.Errorf("the form was changed: %+v (%v)", kept, err)
		}
		if checked < 200 {
			t.Errorf("only %d requests", checked)
		}
	})
}
