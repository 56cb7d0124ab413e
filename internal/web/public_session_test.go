package web_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"formulary/internal/cli/clitest"
)

// shop has jumps, endings, a calculation and inserted answers.
const shop = `{"title": "Shop", "language": "de-AT", "slug": "shop", "fields": [
	{"key": "what", "kind": "single_choice", "label": "What?", "required": true, "options": [{"value": "tea", "label": "Tee"}, {"value": "nothing", "label": "Nichts"}, {"value": "away", "label": "Weg"}],
	 "jumps": [{"if": {"field": "what", "op": "equals", "value": "nothing"}, "to": "bye"}, {"if": {"field": "what", "op": "equals", "value": "away"}, "to": "off"}]},
	{"key": "name", "kind": "short_text", "label": "Name", "default": "Ada", "max_length": 30},
	{"key": "p2", "kind": "page_break", "label": "{{what}} for {{name}}"},
	{"key": "cups", "kind": "number", "label": "How many, {{name}}?", "required": true},
	{"key": "country", "kind": "country"},
	{"key": "agree", "kind": "consent", "label": "Terms", "text": "See *this* [page](https://example.com) <script>alert(1)</script>"},
	{"key": "loud", "kind": "slider", "label": "Loud"},
	{"key": "p3", "kind": "page_break"},
	{"key": "price", "kind": "calculated", "label": "Price", "expression": "cups * 2.5", "unit": "€"},
	{"key": "say", "kind": "statement", "text": "Is **{{price}}** right, {{name}}?"}],
	"endings": [{"title": "Danke, {{name}}", "text": "You get {{cups}} × *{{what}}*.", "show_if": {"field": "cups", "op": "greater", "value": 0}},
		{"key": "bye", "title": "Bye {{name}}"}, {"key": "off", "redirect": "https://shop.example/thanks?who={{name}}&what={{what}}"}],
	"settings": {"submit_label": "Kaufen", "ask_again": true}}`

func TestFillSession(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, shop)
		r := &respondent{t: t, b: s.Browser(), path: "/f/shop"}
		r.page = r.b.Get("/f/shop")
		r.sees(200, `value="Ada"`, ">Weiter<", "!Next", `lang="de-AT"`)
		r.send("next", "name", strings.Repeat("x", 31), "what", "tea")
		r.sees(422, "30 Zeichen", "!characters")
		r.send("next", "name", `<b>*Grace* & "Co"`, "what", "tea")
		r.sees(200, "Tee for &lt;b&gt;*Grace* &amp; &#34;Co&#34;", "How many, &lt;b&gt;*Grace*", ">Österreich<", "<em>this</em>", `rel="nofollow`, "!<script>alert", `name="loud.none" value="1" checked`)
		r.send("next", "cups", "3", "loud", "50", "loud.none", "1")
		r.sees(200, ">7,5 €<", "Is <strong>7,5 €</strong> right, &lt;b&gt;*Grace* &amp; &#34;Co&#34;?", ">Kaufen<", "Seite 3 von 3")
		r.send("next")
		r.sees(303)
		end := r.page.Header.Get("Location")
		done := r.b.Get(end)
		if !strings.HasPrefix(end, "/f/shop/done?") {
			t.Errorf("the ending is at %s", end)
		}
		has(t, done, "Danke, &lt;b&gt;*Grace*", "You get 3 × <em>Tee</em>", `href="/f/shop"`)
		// Only a signed link shows answers.
		forged := regexp.MustCompile(`k=[^&]+`).ReplaceAllString(end, "k=AAAAAAAAAAAAAAAAAAAAAA")
		if p := r.b.Get(forged); strings.Contains(p.Text, "Grace") || p.StatusCode != 200 {
			t.Errorf("a forged link shows %s", p.Text)
		}
		list := s.Call("GET", "/api/v1/forms/"+id+"/responses?after=", token, "").Body["data"].([]any)
		got, _ := json.Marshal(list[0].(map[string]any)["answers"])
		var answers map[string]any
		if err := json.Unmarshal(got, &answers); err != nil || len(list) != 1 {
			t.Fatalf("%d responses (%v)", len(list), err)
		}
		equal(t, "the response", answers, map[string]any{"price": 7.5, "loud": nil, "cups": 3.0})
		equal(t, "its metadata", list[0].(map[string]any)["metadata"].(map[string]any), map[string]any{"source": "page"})
		// Jumps to an ending and to another site skip the questions between.
		r.page = r.b.Get("/f/" + id + "?what=nothing&name=Bob")
		r.send("next", "name", "Bob", "what", "nothing")
		r.sees(303)
		if done := r.b.Get(r.page.Header.Get("Location")); !strings.Contains(done.Text, "Bye Bob") {
			t.Errorf("%s", done.Text)
		}
		r.page = r.b.Get("/f/" + id)
		if policy := r.page.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "form-action 'self' https://shop.example;") {
			t.Errorf("the browser would not go there: %s", policy)
		}
		r.send("next", "name", "A & B", "what", "away")
		r.sees(303)
		if to := r.page.Header.Get("Location"); to != "https://shop.example/thanks?who=A+%26+B&what=Weg" {
			t.Errorf("to %s", to)
		}
	})
}

// A respondent continues with the version that they started with.
func TestContinuedVersion(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "T", "fields": [{"key": "a", "kind": "short_text"}, {"kind": "page_break"}, {"key": "b", "kind": "short_text", "label": "Old"}]}`)
		r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
		r.page = r.b.Get(r.path)
		s.Call("PATCH", "/api/v1/forms/"+id, token, `{"fields": [{"key": "c", "kind": "email", "label": "New", "required": true}]}`)
		if p := s.Call("POST", "/api/v1/forms/"+id+"/publish", token, ""); p.Body["version"] != 2.0 {
			t.Fatal(p.Text)
		}
		r.send("next", "a", "x")
		r.sees(200, "Old", "!New")
		r.send("next", "b", "y")
		r.sees(303)
		list := s.Call("GET", "/api/v1/forms/"+id+"/responses", token, "").Body["data"].([]any)
		if first := list[0].(map[string]any); first["version"] != 1.0 || first["answers"].(map[string]any)["b"] != "y" {
			t.Errorf("stored %v", first)
		}
		r.page = r.b.Get(r.path)
		r.sees(200, "New", "!Old")
	})
}

// The page describes which answers are valid.
func TestLimits(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		const two = `"options": [{"value": "a"}, {"value": "b"}, {"value": "c"}]`
		_, id := publishAsAda(t, s, `{"title": "T", "fields": [{"key": "a", "kind": "multiple_choice", "min_picks": 2, "max_picks": 2, `+two+`}, {"key": "b", "kind": "multiple_choice", "min_picks": 1, "max_picks": 2, `+two+`},
			{"key": "c", "kind": "multiple_choice", "max_picks": 1, `+two+`}, {"key": "n", "kind": "number", "min": 1.5, "max": 9}, {"key": "m", "kind": "number", "min": 18}, {"key": "l", "kind": "long_text", "max_length": 50}, {"key": "none", "kind": "number"}]}`)
		p := s.Browser().Get("/f/" + id)
		has(t, p, `id="limits-a">Choose 2 options.<`, "Choose 1 to 2 options.", "Choose up to 1 option.", "Enter a number from 1.5 to 9.", "Enter a number of 18 or more.", "Enter no more than 50 characters.", `aria-describedby="limits-n"`, "!limits-none")
	})
}

// A missing hidden field is reported, whatever page it is on.
func TestHiddenFieldMissing(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "T", "fields": [{"key": "a", "kind": "short_text"}, {"kind": "page_break"}, {"key": "ref", "kind": "hidden", "required": true}]}`)
		r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
		r.page = r.b.Get(r.path)
		r.send("next", "a", "x")
		r.sees(422, "This link is incomplete", `value="x"`)
		r.page = r.b.Get(r.path + "?ref=mail")
		r.send("next", "a", "x")
		r.sees(303)
		if n := s.Call("GET", "/api/v1/forms/"+id, token, "").Body["response_count"]; n != 1.0 {
			t.Errorf("%v responses", n)
		}
	})
}

func TestSpam(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title": "T", "fields": [{"key": "a", "kind": "short_text"}]}`)
		count := func() any { return s.Call("GET", "/api/v1/forms/"+id, token, "").Body["response_count"] }
		r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
		r.page = r.b.Get(r.path)
		r.sees(200, `name="_website" tabindex="-1"`)
		// Only bots fill in the honeypot: they see success, and nothing is stored.
		r.send("next", "a", "buy", "_website", "https://spam.example")
		r.sees(303)
		// Without a nonce of this form, the page is shown again.
		r.page = r.b.Post(r.path, url.Values{"a": {"direct"}, "_shown": {"a"}})
		r.sees(422, "Check your answers", `value="direct"`)
		other := publish(t, s, token, `{"title": "Other", "fields": [{"key": "a", "kind": "short_text"}]}`)
		nonce := regexp.MustCompile(`name="_key" value="([^"]+)"`)
		theirs := nonce.FindStringSubmatch(r.b.Get("/f/" + other).Text)[1]
		r.page = r.b.Post(r.path, url.Values{"a": {"x"}, "_shown": {"a"}, "_key": {theirs}})
		r.sees(422)
		if n := count(); n != 0.0 {
			t.Errorf("%v responses", n)
		}
		// The page that was shown again can be submitted.
		r.send("next", "a", "person")
		r.sees(303)
		// Changed answers after going back are another response.
		started := r.b.Get(r.path)
		r.page = started
		r.send("next", "a", "first")
		r.sees(303)
		r.page = started
		r.send("next", "a", "second")
		r.sees(422, `value="second"`)
		r.send("next", "a", "second")
		r.sees(303)
		if n := count(); n != 3.0 {
			t.Errorf("%v responses", n)
		}
	})
}

// Beyond the limit of an address, respondents get their answers back.
func TestRespondentLimit(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := publishAsAda(t, s, `{"title": "T", "fields": [{"key": "a", "kind": "short_text"}]}`)
		for i := range 3 {
			if a := s.Call("POST", "/f/"+id, "", `{"answers": {}}`); a.StatusCode != 201 {
				t.Fatalf("%d: %s", i, a.Text)
			}
		}
		if a := s.Call("POST", "/f/"+id, "", `{"answers": {}}`); a.Code() != 429001 || a.Header.Get("Retry-After") == "" {
			t.Errorf("%v %s", a.Header, a.Text)
		}
		r := &respondent{t: t, b: s.Browser(), path: "/f/" + id}
		r.page = r.b.Get(r.path)
		r.send("next", "a", "typed")
		r.sees(429, `value="typed"`, "still here")
		if r.page.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}, "--rate-per-respondent=3")
}

func TestShuffleAndOptionLimits(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		var options []string
		for i := range 20 {
			options = append(options, fmt.Sprintf(`{"value": "v%02d", "label": "L%02d"}`, i, i))
		}
		_, id := publishAsAda(t, s, `{"title": "T", "fields": [{"key": "a", "kind": "single_choice", "shuffle": true, "options": [`+strings.Join(options, ",")+`]},
			{"key": "b", "kind": "dropdown", "options": [{"value": "last", "label": "The last one", "cap": 1}, {"value": "many", "label": "Many"}]}]}`)
		value := regexp.MustCompile(`value="(v\d\d)"`)
		order := func(text string) string {
			var list []string
			for _, m := range value.FindAllStringSubmatch(text, -1) {
				list = append(list, m[1])
			}
			return strings.Join(list, " ")
		}
		seen := map[string]bool{}
		var mu sync.Mutex
		var all sync.WaitGroup
		b := s.Browser()
		for range 6 {
			all.Go(func() {
				text := order(b.Get("/f/" + id).Text)
				mu.Lock()
				defer mu.Unlock()
				if seen[text] = true; len(strings.Fields(text)) != 20 {
					t.Errorf("%s", text)
				}
			})
		}
		all.Wait()
		if len(seen) < 5 {
			t.Errorf("%d distinct orders for six respondents", len(seen))
		}
		r := &respondent{t: t, b: b, path: "/f/" + id}
		r.page = b.Get(r.path)
		other := b.Get(r.path) // of another respondent
		before := order(r.page.Text)
		r.send("next", "b", "nonsense")
		if r.sees(422); order(r.page.Text) != before {
			t.Errorf("the order changed after going back")
		}
		r.send("next", "b", "last")
		r.sees(303)
		r.page = b.Get(r.path)
		r.sees(200, `<option value="last" disabled>The last one (no longer available)`)
		// A respondent who started before the limit was reached keeps the other answers.
		r.page = other
		r.send("next", "b", "last", "a", "v07")
		r.sees(422, "This option is no longer available; choose another one.", `value="v07" checked`)
	})
}

// Concealed results are neither in the page nor in updates of calculations.
func TestConcealedResult(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:write").Access
		id := publish(t, s, token, `{"title": "Quiz", "fields": [
			{"key": "a", "kind": "number", "label": "One and one"},
			{"key": "score", "kind": "calculated", "label": "Score", "expression": "a == 2 ? 47119 : 0", "concealed": true},
			{"key": "half", "kind": "calculated", "label": "Half", "expression": "a / 2"},
			{"key": "next", "kind": "page_break"},
			{"key": "b", "kind": "yes_no", "label": "More?"},
			{"key": "c", "kind": "short_text", "label": "What?", "show_if": {"all": [{"field": "b", "op": "equals", "value": true}, {"not": {"field": "half", "op": "greater", "value": 5}}]}}]}`)
		b := s.Browser()
		path := "/f/" + id
		page := b.Post(path, url.Values{"a": {"2"}, "_page": {"0"}, "_shown": {"a,half"}, "_version": {"1"}})
		has(t, page, "More?", `"half":1`, "!47119", "!score")
		looked := b.Post(path, url.Values{"a": {"3"}, "_page": {"0"}, "_action": {"look"}})
		has(t, looked, `"half":{"value":1.5,"text":"1.5"}`, "!score")
		if looked.StatusCode != 200 || looked.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%d %v", looked.StatusCode, looked.Header)
		}
	})
}
