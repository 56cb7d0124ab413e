package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
)

// Somebody is removed from a space, or disconnects an application, while the application is at work
// on all nodes: what was acknowledged is there, what was refused is not, and nothing succeeds after
// the first refusal. Webhooks that were created at the same time are paused.
func TestRemovalBesideRequests(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		m := newMatrix(t, w)
		m.join(account.Editor)
		m.endBesideRequests(func() clitest.Page { return m.person.Post("/connections/"+w.app.ID+"/disconnect", nil) })
		m.endBesideRequests(func() clitest.Page { return m.admin.Post(m.spacePath()+"/members/"+m.bobUser.ID+"/remove", nil) })
	}, allowLoopback)
}

// endBesideRequests ends Bob's access while an application that he has allowed works.
func (m *matrix) endBesideRequests(end func() clitest.Page) {
	t, w := m.t, m.fixture
	nodes := []*clitest.Service{w.Service, clitest.Connect(t, w.Storage, m.admin.URL)}
	token := m.allow(bob, m.space).Access
	formID := w.fileForm(m.owner)
	hooks := "/api/v1/forms/" + formID + "/webhooks"
	var mu sync.Mutex
	var stored []string
	begun := make(chan struct{})
	create := func(node *clitest.Service, title string) int {
		a := node.Call("POST", "/api/v1/forms", token, `{"title": "`+title+`"}`)
		if a.StatusCode == http.StatusCreated {
			mu.Lock()
			defer mu.Unlock()
			if stored = append(stored, title); len(stored) == 10 {
				close(begun)
			}
		}
		return a.Code()
	}
	var work sync.WaitGroup
	for i := range 4 {
		work.Go(func() {
			node, n := nodes[i%2], 0
			for code := 0; code == 0; n++ {
				code = create(node, fmt.Sprintf("%s: %d-%d", formID, i, n))
				if code == 0 && n%2 == i/2 {
					node.Call("POST", hooks, token, `{"url": "http://127.0.0.1:1/hook"}`)
				}
				if code != 0 && code != 401001 {
					t.Errorf("refused with %d", code)
				}
			}
			for range 3 {
				if code := create(node, formID+": too late"); code != 401001 {
					t.Errorf("after a refusal: %d", code)
				}
			}
		})
	}
	<-begun
	status(m, "end", end())
	work.Wait()
	var found []string
	for page := 1; ; page++ {
		a := m.Call("GET", fmt.Sprintf("/api/v1/forms?per_page=200&page=%d", page), m.owner, "")
		list := titles(a)
		if found = append(found, list...); len(list) == 0 {
			break
		}
	}
	found = slices.DeleteFunc(found, func(title string) bool { return !strings.HasPrefix(title, formID) })
	slices.Sort(found)
	slices.Sort(stored)
	w.expectEqual("forms", found, stored)
	list := m.Call("GET", hooks+"?per_page=200", m.owner, "").Body["data"].([]any)
	for _, hook := range list {
		if got := hook.(map[string]any)["status"]; got != "paused" {
			t.Errorf("a webhook is %v", got)
		}
	}
	if len(list) == 0 {
		t.Error("no webhook was created")
	}
}
