package cli_test

import (
	"encoding/json"
	"strings"
)

const validView = `{"name": "Mine", "filter": {"search": "a", "days": 7, "since": "2026-01-01", "status": "new", "tags": ["a"], "answers": [{"field": "nick", "op": "contains", "value": "a"}], "sort": "nick", "columns": ["nick"]}}`

// addSpaces adds the requests of the pages about spaces, their members and invitations.
func (w *fixture) addSpaces(addSeed seedAdder) {
	w.t.Helper()
	w.signUp("mate")
	newSpace := func(name string) string {
		var space struct{ ID string }
		if err := json.Unmarshal([]byte(w.service.Command("", "space", "add", name, "--owner", w.email("cleo"), "--json")), &space); err != nil {
			w.t.Fatal(err)
		}
		w.service.Command("", "space", "member", "add", space.ID, w.email("mate"), "--role", "viewer")
		return "/spaces/" + space.ID
	}
	space, spare := newSpace("Crew"), newSpace("Spare")
	invited := addSeed("POST", space+"/invitations", []param{{name: "email", value: "a@example.org"}, {name: "role", value: "viewer"}, {name: "link", value: "1"}}, w.cleo)
	w.mustSend(invited)
	for _, page := range []string{"/spaces", space + "?page=1&done=role"} {
		w.crawl(addSeed, addSeed("GET", page, nil, w.cleo))
	}
	form, nobody, none := "/forms/"+w.cleoForm, "usr_01k9z8m7q3e4r5t6y7v8w9x0a1", strings.Repeat("0", 24)
	for _, extra := range []struct {
		path string
		form []param
	}{
		{spare + "/delete", []param{{name: "confirm", value: "Spare"}}},
		{space + "/members/" + nobody, []param{{name: "role", value: "viewer"}}},
		{space + "/members/" + nobody + "/remove", []param{}},
		{space + "/invitations/" + none + "/again", []param{}},
		{space + "/invitations/" + none + "/withdraw", []param{}},
		{form + "/people", []param{{name: "email", value: w.email("mate")}, {name: "role", value: "viewer"}, {name: "link", value: ""}}},
		{form + "/people/" + nobody, []param{{name: "role", value: "viewer"}}},
		{form + "/people/" + nobody + "/remove", []param{}},
		{form + "/invitations/" + none + "/again", []param{}},
		{form + "/invitations/" + none + "/withdraw", []param{}},
	} {
		addSeed("POST", extra.path, extra.form, w.cleo)
	}
	token := "fmi_" + strings.Repeat("A", 80)
	addSeed("GET", "/invitation?token="+token, nil, w.anonymous)
	addSeed("POST", "/invitation", []param{{name: "token", value: token}}, w.cleo)
}
