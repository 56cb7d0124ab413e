package web_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// A form moves with responses, files and webhooks, and its links stay the same.
func TestMoveForm(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, formID := publishAsAda(t, s, `{"title": "Order", "slug": "our-order", "fields": [{"key": "drink", "kind": "short_text", "label": "Drink"}, {"key": "cv", "kind": "file", "label": "CV"}]}`)
		s.AddUser(bob)
		a, b, to := s.Browser(), s.Browser(), newReceiver(t)
		a.SignIn(ada)
		b.SignIn(bob)
		path := "/forms/" + formID
		status(t, "webhook", a.Post(path+"/connect", url.Values{"url": {to.URL}, "events": {"response.created"}}), 200)
		uploaded := s.Browser().PostBody("/f/"+formID+"/files?field=cv", "application/pdf", strings.NewReader(pdf))
		file := regexp.MustCompile(`fil_\w{26}`).FindString(uploaded.Text)
		sent := s.Call("POST", "/f/our-order", "", `{"answers": {"drink": "Tea", "cv": ["`+file+`"]}}`)
		status(t, "submit", sent.Page, 201)
		to.last(t, 1)

		db, now := storetest.Open(t, s.Storage), time.Now()
		person, err := db.UserByEmail(t.Context(), ada)
		if err != nil {
			t.Fatal(err)
		}
		team := formInSpace(t, s) // its space has ada as its owner, and bob as an editor
		key, err := db.SpaceOfForm(t.Context(), team)
		if err != nil {
			t.Fatal(err)
		}
		foreign := store.Space{Key: id.New(id.User, now), Name: "Foreign"}
		stranger, err := db.UserByEmail(t.Context(), bob)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.AddSpace(t.Context(), foreign, stranger, now); err != nil {
			t.Fatal(err)
		}
		target := url.Values{"space": {account.SpaceID(key)}}
		has(t, a.Get(path+"/share"), "Move to another space", account.SpaceID(key), "!Foreign")
		has(t, b.Get("/forms/"+team+"/share"), "!Move to another space")
		status(t, "by a stranger", b.Post(path+"/move", target), 404)
		status(t, "by an editor", b.Post("/forms/"+team+"/move", url.Values{"space": {account.SpaceID(stranger.ID)}}), 403)
		status(t, "to a foreign space", a.Post(path+"/move", url.Values{"space": {foreign.ID()}}), 404)
		status(t, "to no space", a.Post(path+"/move", nil), 422)
		status(t, "to its own space", a.Post(path+"/move", url.Values{"space": {account.SpaceID(person.ID)}}), 409)

		p := a.Post(path+"/move", target)
		status(t, "move", p, 303)
		p = a.Get(p.Header.Get("Location"))
		if status(t, "progress", p, 303); p.Header.Get("Location") != path+"/share?done=moved" {
			t.Errorf("after the move: %s", p.Header.Get("Location"))
		}
		has(t, a.Get(path+"/share?done=moved"), "Form moved to this space.")
		has(t, b.Get(path+"/responses"), "Tea")
		if got := b.Get(path + "/files/" + file); got.Text != pdf {
			t.Errorf("the file is %d %q", got.StatusCode, got.Text)
		}
		// An application with access to the old space has lost the form.
		if got := s.Call("GET", "/api/v1/forms/"+formID, token, ""); got.Code() != 404002 {
			t.Errorf("the token of the old space: %d", got.Code())
		}
		sent = s.Call("POST", "/f/our-order", "", `{"answers": {"drink": "Milk"}}`)
		status(t, "submit after the move", sent.Page, 201)
		if got := to.last(t, 2); !strings.Contains(got.body, "Milk") {
			t.Errorf("delivered: %s", got.body)
		}
		has(t, b.Get(path+"/responses"), "Tea", "Milk")
	}, allowReceive)
}

// While a form is moved, its page says so, and respondents are asked to try again.
func TestMoveProgress(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		s.AddUser(bob)
		a := s.Browser()
		a.SignIn(ada)
		formID, db := formInSpace(t, s), storetest.Open(t, s.Storage)
		space, err := db.SpaceOfForm(t.Context(), formID)
		if err != nil {
			t.Fatal(err)
		}
		person, err := db.UserByEmail(t.Context(), ada)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.UpdateForm(t.Context(), space, store.FormRevision{ID: formID}, func(p *form.FormInput) error {
			p.Title = "On the way"
			return nil
		}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := db.StartMove(t.Context(), space, formID, person.ID, time.Now()); err != nil {
			t.Fatal(err)
		}
		status(t, "a form that is copied", a.Get("/forms/"+formID+"/share"), 200)
		has(t, a.Get("/forms/"+formID+"/move"), "Moving form", "On the way", "to the space")
		// Members do not learn of spaces that they are not in.
		b := s.Browser()
		b.SignIn(bob)
		has(t, b.Get("/forms/"+formID+"/move"), "Moving form", "to another space", "!"+person.DisplayName())
		if err := db.PrepareMove(t.Context(), space, formID, time.Now()); err != nil {
			t.Fatal(err)
		}
		p := a.Get("/forms/" + formID + "/move")
		if has(t, p, "Moving form", "On the way"); p.Header.Get("Refresh") == "" {
			t.Error("the page does not reload itself")
		}
		public := s.Browser().Get("/f/" + formID)
		if status(t, "the public page", public, 503); public.Header.Get("Retry-After") == "" {
			t.Error("respondents are not told when to try again")
		}
		if err := db.ContinueMoves(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		status(t, "after the move", a.Get("/forms/"+formID+"/move"), 303)
	})
}
