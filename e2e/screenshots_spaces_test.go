//go:build screenshots

package e2e

import "encoding/json"

// createSpace creates a shared space with a member of every role and returns the address of its page.
func (w demoData) createSpace() string {
	w.t.Helper()
	var space struct{ ID string }
	if err := json.Unmarshal([]byte(w.s.Command("", "space", "add", "Studio team", "--owner", ada, "--json")), &space); err != nil {
		w.t.Fatal(err)
	}
	for _, member := range [][3]string{
		{"grace@example.org", "Grace Hopper", "owner"}, {"tomasz@example.net", "Tomasz Wójcik", "editor"}, {"aiko@example.com", "Aiko Tanaka", "viewer"},
	} {
		w.s.Command("quiet-otter-paints-7-doors\n", "user", "add", member[0], "--name="+member[1], "--password-stdin")
		w.s.Command("", "space", "member", "add", space.ID, member[0], "--role="+member[2])
	}
	return "/spaces/" + space.ID
}
