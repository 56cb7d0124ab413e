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

// Somebody is removed from a space while applications that they allowed are at work on all nodes:
// what was acknowledged is there, what was refused is not, and nothing succeeds after the first
// refusal. Webhooks that were created meanwhile are paused.
func TestRemovalBesideRequests(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		m := newMatrix(t, w)
		m.join(account.Editor)
		nodes := []*clitest.Service{w.Service, clitest.Connect(t, w.Storage, m.admin.URL)}
		token := m.allow(bob, m.space).Access
		hooks := "/api/v1/forms/" + m.form + "/webhooks"
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
					code = create(node, fmt.Sprintf("%d-%d", i, n))
					if code == 0 && n%2 == i/2 {
						node.Call("POST", hooks, token, `{"url": "http://127.0.0.1:1/hook"}`)
					}
					if code != 0 && code != 401001 {
						t.Errorf("refused with %d", code)
					}
				}
				for range 3 {
					if code := create(node, "too late"); code != 401001 {
						t.Errorf("after a refusal: %d", code)
					}
				}
			})
		}
		<-begun
		status(m, "remove", m.admin.Post(m.spacePath()+"/members/"+m.bobUser.ID+"/remove", nil))
		work.Wait()
		var found []string
		for page := 1; ; page++ {
			a := m.Call("GET", fmt.Sprintf("/api/v1/forms?per_page=200&page=%d", page), m.owner, "")
			list := titles(a)
			if found = append(found, list...); len(list) == 0 {
				break
			}
		}
		found = slices.DeleteFunc(found, func(title string) bool { return title == secretText || strings.HasPrefix(title, "Team") })
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
	}, allowLoopback)
}
