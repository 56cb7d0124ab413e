package cli_test

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// webhookFamilies are about webhooks, their deliveries and their log.
func webhookFamilies() []family {
	return []family{
		{name: "webhooks", build: expensiveWebhooks, delivers: true},
		replayFamily(),
		hangFamily(),
		{name: "log", build: expensiveLog, delivers: true},
	}
}

// webhooksPerForm is the limit of the service.
const webhooksPerForm = 20

// expensiveWebhooks changes, lists and shows webhooks with long URLs and all events.
func expensiveWebhooks(w *costFixture) []costlyRequest {
	long := strings.Repeat("x", 1_900)
	id, hooks := w.hookForm("Webhooks", webhooksPerForm, func(int) string { return w.receiver.URL + "/" + long })
	w.fill(id, w.scaled(200, 5), func(i int) map[string]any { return map[string]any{"t": fmt.Sprint(i)} })
	all, one := "/api/v1/forms/"+id+"/webhooks", hooks[0]
	change := func(name, method, path, body string) costlyRequest {
		return costlyRequest{name: name, method: method, path: path, as: withToken, contentType: jsonType, body: body}
	}
	events := func(text string) string {
		return "[" + strings.Repeat(text+",", 60<<10/(len(text)+1)) + text + "]"
	}
	page := "/forms/" + id + "/connect"
	hookPage := page + one[strings.LastIndexByte(one, '/'):]
	requests := []costlyRequest{
		getRequest("list", all+"?per_page=200", withToken),
		getRequest("page", page, withSession),
		getRequest("page of one", hookPage, withSession),
		getRequest("page for a new one", page+"/new", withSession),
		change("one more", "POST", all, `{"url":"`+w.receiver.URL+"/"+long+`","events":`+allEvents+`}`),
		change("many events", "POST", all, `{"url":"`+w.receiver.URL+`","events":`+events(`"response.created"`)+`}`),
		change("unknown events", "POST", all, `{"url":"`+w.receiver.URL+`","events":`+events(`"x"`)+`}`),
		change("long URL", "POST", all, `{"url":"https://127.0.0.1/`+strings.Repeat("%", 60<<10)+`"}`),
		change("long name", "POST", all, `{"url":"https://`+strings.Repeat("a.", 30<<10)+`example/"}`),
		change("change URL", "PATCH", one, `{"url":"`+w.receiver.URL+`/y`+long+`"}`),
		change("change events", "PATCH", one, `{"events":`+events(`"response.created"`)+`}`),
		change("pause", "PATCH", one, `{"active":false}`),
		change("start", "PATCH", one, `{"active":true}`),
		change("order", "PATCH", one, `{"strict_order":true}`),
		change("rotate", "POST", one+"/rotate-secret", ""),
		change("test", "POST", one+"/test", ""),
		{name: "post", method: "POST", path: page, as: withSession, contentType: formType, body: url.Values{"url": {w.receiver.URL + "/" + long}, "events": strings.Split(strings.Repeat("response.created ", 3_000), " ")}.Encode()},
		{name: "rotate on the page", method: "POST", path: hookPage + "/rotate", as: withSession, contentType: formType},
	}
	for i, hook := range hooks[1:w.scaled(5, 2)] { // each has other pending work
		requests = append(requests, change(fmt.Sprintf("start webhook %d", i), "PATCH", hook, `{"active":true}`))
	}
	return requests
}

// replayFamily replays all webhooks of many forms at once.
func replayFamily() family {
	var all []costlyRequest
	return family{
		name: "replays", delivers: true, watchesDeliveries: true,
		build: func(w *costFixture) []costlyRequest {
			all = nil
			for n := range w.scaled(50, 2) {
				path, responses := "/late", 4 // requests wait for their turn
				if n == 0 {
					path, responses = "/ok", w.scaled(20, 4)
				}
				id, hooks := w.hookForm("Replay", webhooksPerForm, func(int) string { return w.receiver.URL + path })
				w.fill(id, responses, func(i int) map[string]any { return map[string]any{"t": strings.Repeat("x", 12_000) + fmt.Sprint(i)} })
				for _, hook := range hooks {
					all = append(all, costlyRequest{name: "replay", method: "POST", path: hook + "/replay", as: withToken})
				}
			}
			w.waitQuiet()
			return all[:w.scaled(5, 2)]
		},
		background: func(w *costFixture, _ []costlyRequest, until <-chan struct{}) { w.attack(all, until) },
	}
}

// waitQuiet waits until nothing more arrives at the receiver.
func (w *costFixture) waitQuiet() {
	before := int64(-1)
	w.waitUntil("quiet", func() bool {
		last := before
		before = w.receiver.bytes.Load()
		return before == last
	})
}

// waitUntil waits for a condition, which is checked every half second.
func (w *costFixture) waitUntil(what string, condition func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(waitTimeout); !condition(); time.Sleep(500 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("not %s after %v", what, waitTimeout)
		}
	}
}

// hangFamily has many webhooks whose receiver hangs, and tries them all the time.
func hangFamily() family {
	var forms []string
	return family{
		name: "hanging", delivers: true, watchesDeliveries: true, files: 1024,
		build: func(w *costFixture) []costlyRequest {
			forms = nil
			var tests []costlyRequest
			for range w.scaled(50, 2) {
				id, hooks := w.hookForm("Hanging", webhooksPerForm, func(int) string { return w.receiver.URL + "/hang" })
				forms = append(forms, id)
				tests = append(tests, costlyRequest{name: "test", method: "POST", path: hooks[0] + "/test", as: withToken, abandoned: true})
			}
			return tests[:2]
		},
		background: func(w *costFixture, tests []costlyRequest, until <-chan struct{}) {
			var requests []costlyRequest
			for i, id := range forms {
				requests = append(requests, submitRequest("submission", id, map[string]any{"t": strings.Repeat("x", 12_000)}), tests[i%len(tests)])
			}
			w.attack(requests, until)
		},
	}
}

// expensiveLog reads a long log in every way, and sends its deliveries again.
func expensiveLog(w *costFixture) []costlyRequest {
	id, hooks := w.hookForm("Log", 2, func(i int) string { return w.receiver.URL + []string{"/fail", "/ok"}[i] })
	w.fill(id, w.scaled(1500, 20), func(i int) map[string]any { return map[string]any{"t": fmt.Sprint(i)} })
	var requests []costlyRequest
	for i, hook := range hooks {
		name, log := []string{"failing", "working"}[i], hook+"/deliveries"
		w.waitUntil("a long log", func() bool {
			return w.mustCall("GET", log+"?per_page=1", "")["total_items"].(float64) >= float64(w.scaled(1000, 20))
		})
		last := w.mustCall("GET", log+"?per_page=1", "")["data"].([]any)[0].(map[string]any)["id"].(string)
		page := "/forms/" + id + "/connect" + hook[strings.LastIndexByte(hook, '/'):]
		requests = append(requests,
			getRequest("log, "+name, log+"?per_page=200", withToken), getRequest("last page, "+name, log+"?per_page=200&page=5", withToken), getRequest("far page, "+name, log+"?per_page=200&page=9000000", withToken),
			getRequest("pending, "+name, log+"?per_page=200&status=pending&page=5", withToken), getRequest("failed, "+name, log+"?status=failed", withToken),
			getRequest("delivered, "+name, log+"?status=delivered&page=40", withToken), getRequest("page, "+name, page, withSession), getRequest("webhook, "+name, hook, withToken),
			costlyRequest{name: "resend, " + name, method: "POST", path: log + "/" + last + "/resend", as: withToken},
			costlyRequest{name: "start again, " + name, method: "PATCH", path: hook, as: withToken, contentType: jsonType, body: `{"active":true}`})
	}
	return append(requests, getRequest("connect", "/forms/"+id+"/connect", withSession))
}
