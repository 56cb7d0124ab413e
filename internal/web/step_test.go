package web_test

import (
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// trip has one screen for each question, and questions that depend on answers.
const trip = `{"title": "Trip", "description": "Two days by the sea.", "language": "en", "design": {"layout": "one_at_a_time"}, "fields": [
	{"key": "source", "kind": "hidden"},
	{"key": "name", "kind": "short_text", "label": "Your name", "required": true},
	{"key": "more", "kind": "yes_no", "label": "A hotel, {{name}}?"},
	{"key": "p2", "kind": "page_break", "label": "The hotel", "help": "By the harbor.", "show_if": {"field": "more", "op": "equals", "value": true}},
	{"key": "note", "kind": "statement", "label": "Breakfast", "text": "It is *included*."},
	{"key": "nights", "kind": "number", "label": "How many nights?", "required": true},
	{"key": "pet", "kind": "yes_no", "label": "With a pet?", "show_if": {"field": "nights", "op": "greater", "value": 2}},
	{"key": "price", "kind": "calculated", "label": "Price", "expression": "nights * 90", "unit": "€"},
	{"key": "p3", "kind": "page_break"},
	{"key": "cv", "kind": "file", "label": "Passport", "accept": ["pdf"]}]}`

// One question at a time works without JavaScript: each one is a step with Continue and
// Back, answers survive, and the count is that of the questions that can be reached.
func TestOneAtATime(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, trip)
		r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
		r.page = r.b.Get(r.path + "?source=mail")
		r.sees(200, "<h1>Trip</h1>", "Two days by the sea.", ">Begin<", "!Your name", "!>Back<", "form-step.css", "form-step.js", `max="3" value="0"`)
		r.send("next")
		r.sees(200, "Your name", "1 of 3", ">Continue<", ">Back<", "!hotel", `!class="lead"`, " autofocus")
		r.send("next", "name", "")
		r.sees(422, "Answer this question.", "1 of 3", `value="0"`)
		r.send("next", "name", "Ada")
		r.sees(200, "A hotel, Ada?", "2 of 3", `max="3" value="1"`, `value="Ada"`)
		r.send("continue", "more", "true")
		r.sees(200, "The hotel", "By the harbor.", "Breakfast", "<em>included</em>", `!class="count"`, `max="4" value="2"`)
		r.send("next")
		r.sees(200, "How many nights?", "3 of 4", "!By the harbor.", "!backwards")
		r.send("back", "nights", "3")
		r.sees(200, "Breakfast", "backwards", `name="nights" value="3"`)
		r.send("next")
		r.sees(200, `value="3"`, `max="5" value="3"`)
		r.send("next", "nights", "3")
		r.sees(200, "With a pet?", "4 of 5", "!q-pet", `!id="logic"`)
		r.send("next")
		r.sees(200, "Price", "270 €", `!class="count"`)
		r.send("next")
		r.sees(200, "Passport", "5 of 5", "multipart/form-data", ">Submit<", "data-last")
		stored := func() []any {
			return s.Call("GET", "/api/v1/forms/"+id+"/responses?after=", token, "").Body["data"].([]any)
		}
		last := r.page
		r.sendParts("continue")
		r.sees(200, "Passport", ">Submit<") // only the last button submits
		if n := len(stored()); n != 0 {
			t.Fatalf("%d responses before the end", n)
		}
		r.page = last
		r.sendParts("next")
		r.sees(303)
		list := stored()
		if len(list) != 1 {
			t.Fatalf("%d responses", len(list))
		}
		equal(t, "the response", list[0].(map[string]any)["answers"].(map[string]any), map[string]any{"source": "mail", "name": "Ada", "more": true, "nights": 3.0, "price": 270.0})
		// An answer that changes the way changes what is counted and where Back leads.
		r.page = r.b.Get(r.path)
		r.send("next")
		r.send("next", "name", "Bob")
		r.send("next", "more", "false")
		r.sees(200, "Passport", "3 of 3", `max="3" value="2"`)
		r.sendParts("back")
		r.sees(200, "A hotel, Bob?", `value="false" checked`)
		for _, page := range []string{"-1", "99", "x", "4"} {
			if p := r.b.Post(r.path, map[string][]string{"_page": {page}, "_action": {"next"}}); p.StatusCode >= 500 || !strings.Contains(p.Text, "Your name") {
				t.Errorf("page %s: %d %s", page, p.StatusCode, p.Text)
			}
		}
	})
}

// The preview shows the layout before it is saved, and the question that is edited.
func TestPreviewOneAtATime(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := publishAsAda(t, s, strings.Replace(trip, `"layout": "one_at_a_time"`, "", 1))
		b := s.Browser()
		b.SignIn(ada)
		has(t, b.Get("/forms/"+id+"/design"), `name="layout" value="classic" checked`, `name="layout" value="one_at_a_time"`)
		preview := "/forms/" + id + "/preview"
		has(t, b.Get(preview), "!form-step.css", "Your name", "A hotel?")
		r := &respondent{t: t, b: b, path: preview + "?layout=one_at_a_time&field=more"}
		r.page = b.Get(r.path)
		r.sees(200, "form-step.css", "A hotel?", "!Your name", `action="`+preview+`?layout=one_at_a_time"`)
		r.path = preview + "?layout=one_at_a_time"
		r.send("back")
		r.sees(200, "Your name", "form-step.css", "!A hotel")
		r.page = b.Get(r.path + "&page=1")
		r.sees(200, "Breakfast", "!Your name")
	})
}

// The number of pages is shown when it is certain, and the bar counts answers.
func TestProgress(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := publishAsAda(t, s, survey)
		r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
		r.page = r.b.Get(r.path)
		r.sees(200, "Page 1<", `max="2" value="0"`, "!Page 1 of")
		r.send("next", "name", "Ada", "more", "true")
		r.sees(200, "Page 2 of 2", `max="3" value="2"`)
	})
}

var doneLink = regexp.MustCompile(`href="(/f/[^"]*/calendar[^"]*)"`)

// An ending can have the answers, a button and an event for the calendar.
func TestEndingParts(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "Kiln", "language": "en", "fields": [{"key": "name", "kind": "short_text", "label": "Name"}, {"key": "secret", "kind": "hidden"},
			{"key": "n", "kind": "number", "label": "Seats for {{name|you}}"}],
			"endings": [{"title": "Booked, {{name|friend}}", "summary": true, "button_label": "Find us, {{name|friend}}", "button_url": "https://example.com/?q={{name|no one}}",
				"event_title": "Kiln; with {{name|all}}, \\o/", "event_start": "2027-06-12T18:00", "event_end": "2027-06-12T21:30", "event_place": "Rua do Forno 1, Porto"}],
			"settings": {"ask_again": true}}`)
		r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
		submit := func(fill ...string) clitest.Page {
			r.page = r.b.Get(r.path + "?secret=hush")
			r.send("next", fill...)
			r.sees(303)
			return r.b.Get(r.page.Header.Get("Location"))
		}
		empty := submit()
		has(t, empty, "Booked, friend<", "Find us, friend<", `href="https://example.com/?q=no&#43;one"`, "Add to calendar", "!Your answers", "Submit another response")
		done := submit("name", "Ada <b>", "n", "2")
		has(t, done, "Booked, Ada &lt;b&gt;", `q=Ada&#43;%3Cb%3E"`, "<summary>Your answers</summary>", "<dt>Seats for Ada &lt;b&gt;</dt><dd>2</dd>", "!hush", "<details class=\"copy\">")
		file := r.b.Get(strings.ReplaceAll(doneLink.FindStringSubmatch(done.Text)[1], "&amp;", "&"))
		status(t, "the event", file, 200)
		if kind := file.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/calendar") {
			t.Errorf("the event is %s", kind)
		}
		has(t, file, "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n", "DTSTART:20270612T180000Z\r\n", "DTEND:20270612T213000Z\r\n", `SUMMARY:Kiln\; with Ada <b>\, \\o/`+"\r\n", `LOCATION:Rua do Forno 1\, Porto`, "END:VCALENDAR\r\n")
		// Only a signed link has answers.
		has(t, r.b.Get(r.path+"/calendar"), `SUMMARY:Kiln\; with all\,`)
		has(t, r.b.Get(r.path+"/done"), "Booked, friend", "!Your answers")

		plain := publish(t, s, token, `{"title": "T", "fields": [{"key": "a", "kind": "short_text"}], "endings": [{"text": "Only text"}]}`)
		has(t, r.b.Get("/f/"+plain+"/done"), "<h1>Thank you</h1>", "Only text", "!Add to calendar")
		status(t, "no event", r.b.Get("/f/"+plain+"/calendar"), 404)

		// While the form is closed, only respondents see its ending.
		s.Call("POST", "/api/v1/forms/"+id+"/close", token, "")
		status(t, "the ending of a closed form", r.b.Get(r.path+"/done"), 409)
		has(t, r.b.Get(r.path+"/done?r=rsp_01k9z8m7q3e4r5t6y7v8w9x0a1&k=x"), "no longer accepts responses", "!Booked", "!Add to calendar")
		status(t, "the event of a closed form", r.b.Get(r.path+"/calendar"), 404)
		has(t, r.b.Get(r.page.Header.Get("Location")), "Booked, Ada")
		has(t, r.b.Get(strings.ReplaceAll(doneLink.FindStringSubmatch(done.Text)[1], "&amp;", "&")), "with Ada")
	})
}

// Options with a limit say how many are left; a full form says so.
func TestPlacesLeft(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := publishAsAda(t, s, `{"title": "Slots", "language": "en", "response_limit": 3, "fields": [{"key": "slot", "kind": "single_choice", "label": "When?",
			"options": [{"value": "a", "label": "Morning", "cap": 2}, {"value": "b", "label": "Noon", "cap": 1}, {"value": "c", "label": "Night"}]}]}`)
		b := s.Browser()
		path := "/f/" + id
		has(t, b.Get(path), "Morning (2 left)", "Noon (1 left)", "Night<")
		for _, slot := range []string{"a", "b"} {
			if a := s.Call("POST", path, "", `{"answers": {"slot": "`+slot+`"}}`); a.StatusCode != 201 {
				t.Fatal(a.Text)
			}
		}
		has(t, b.Get(path), "Morning (1 left)", "no longer available", "!Noon (")
		s.Call("POST", path, "", `{"answers": {"slot": "c"}}`)
		full := b.Get(path)
		status(t, "full", full, 409)
		has(t, full, "All places are taken.")
	})
}
