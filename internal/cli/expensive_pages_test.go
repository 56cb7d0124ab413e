package cli_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// pageFamilies are requests for public pages, which anyone can send.
func pageFamilies() []family {
	return []family{
		{name: "pipes", build: expensivePipes},
		{name: "matrices", build: expensiveMatrices},
		{name: "countries", build: expensiveCountries},
		{name: "controls", build: expensiveControls},
		{name: "prefilled", build: expensivePrefilled},
		{name: "markdown", build: expensiveMarkdown},
		{name: "caches", build: expensiveCaches},
	}
}

// expensivePipes inserts an answer in many places.
func expensivePipes(w *costFixture) []costlyRequest {
	long := strings.Repeat("<&'x", 4_750)
	first := []any{question("t", "long_text"), question("second", "page_break")}
	labels, _ := w.publishLargest(w.scaled(240, 6), func(n int) map[string]any {
		fields := slices.Clone(first)
		for i := range n {
			fields = append(fields, question(fmt.Sprintf("f%d", i), "short_text", "label", strings.Repeat("{{t}}", 60), "help", strings.Repeat("{{t}}", 80)))
		}
		return map[string]any{"title": "Pipes", "fields": fields}
	})
	statements, _ := w.publishLargest(w.scaled(36_000, 300), func(n int) map[string]any {
		fields := slices.Clone(first)
		for i := 0; n > 0; i++ {
			fields = append(fields, question(fmt.Sprintf("s%d", i), "statement", "text", strings.Repeat("{{t}} ", min(n, 3_000))))
			n -= 3_000
		}
		return map[string]any{"title": "Pipes", "fields": fields}
	})
	heading, _ := w.publishLargest(w.scaled(150, 30), func(n int) map[string]any {
		return map[string]any{"title": "Pipes", "fields": []any{question("t", "long_text"), question("second", "page_break", "label", strings.Repeat("{{t}}", n), "help", strings.Repeat("{{t}}", 2*n)), question("u", "short_text")}}
	})
	var all []costlyRequest
	for name, id := range map[string]string{"labels": labels, "statements": statements, "heading": heading} {
		for _, action := range []string{"next", "look", "back", "send"} {
			all = append(all, postRequest(name+", "+action, id, url.Values{"t": {long}, "_page": {"0"}, "_shown": {"t"}, "_action": {action}}))
		}
		all = append(all, postRequest(name+", second page", id, url.Values{"t": {long}, "_page": {"1"}, "_shown": {""}, "_action": {"next"}}))
	}
	for name, ending := range map[string]struct{ property, start, pipe string }{
		"ending's text":  {"text", "", "{{t}} "},
		"ending's title": {"title", "", "{{t}}"},
		"redirect":       {"redirect", "https://example.com/?", "{{t}}"},
	} {
		maxPipes := map[string]int{"text": w.scaled(3_000, 200), "title": 40, "redirect": 390}[ending.property]
		id, _ := w.publishLargest(maxPipes, func(n int) map[string]any {
			return map[string]any{"title": "Ending", "fields": []any{question("t", "long_text")}, "endings": []any{
				map[string]any{"key": "bye", ending.property: ending.start + strings.Repeat(ending.pipe, n)},
			}}
		})
		controls := w.openControls(id)
		controls.Set("t", long)
		preview := url.Values{"t": {long}, "_page": {"0"}, "_shown": {"t"}, "_action": {"next"}}
		all = append(all, postRequest(name, id, controls),
			costlyRequest{name: name + ", preview", method: "POST", path: "/forms/" + id + "/preview", as: withSession, contentType: formType, body: preview.Encode()})
	}
	return all
}

// expensiveMatrices uses questions whose HTML is far larger than their definition.
func expensiveMatrices(w *costFixture) []costlyRequest {
	matrices := func(n int) map[string]any {
		fields := []any{question("mc", "multiple_choice", "options", options(2))}
		for i := range n {
			fields = append(fields, question(fmt.Sprintf("m%d", i), "matrix", "rows", options(100), "options", options(100), "several", i%2 == 0))
		}
		return map[string]any{"title": "Matrices", "fields": fields}
	}
	id, _ := w.publishLargest(w.scaled(40, 4), matrices)
	shuffled, _ := w.publishLargest(w.scaled(40, 4), func(n int) map[string]any {
		d := matrices(n)
		d["fields"].([]any)[0].(map[string]any)["shuffle"] = true
		return d
	})
	return []costlyRequest{
		getRequest("page", "/f/"+id, anonymous),
		getRequest("page with a query", "/f/"+id+"?m0=o1", anonymous),
		getRequest("page that differs", "/f/"+shuffled, anonymous),
		postRequest("page again", id, url.Values{"_page": {"0"}, "_action": {"next"}}),
		postRequest("look", id, url.Values{"_page": {"0"}, "_action": {"look"}, "m0.o1": {"o1"}}),
	}
}

// expensiveCountries repeats the list of countries for each question, and similar
// controls.
func expensiveCountries(w *costFixture) []costlyRequest {
	var all []costlyRequest
	for _, kind := range []string{"country", "address", "scale", "slider", "dropdown"} {
		id, _ := w.publishLargest(w.scaled(500, 40), func(n int) map[string]any {
			var fields []any
			for i := range n {
				f := question(fmt.Sprintf("c%d", i), kind)
				if kind == "dropdown" {
					f["options"] = options(12)
				}
				fields = append(fields, f)
			}
			return map[string]any{"title": kind, "fields": fields}
		})
		all = append(all,
			getRequest(kind+", page", "/f/"+id, anonymous),
			getRequest(kind+", page with a query", "/f/"+id+"?c0=DE", anonymous),
			postRequest(kind+", page again", id, url.Values{"_page": {"0"}, "_action": {"next"}}))
	}
	return all
}

// expensiveControls posts very many controls.
func expensiveControls(w *costFixture) []costlyRequest {
	withDefault, withoutDefault := []any{}, []any{}
	for i := range 500 {
		withDefault = append(withDefault, question(fmt.Sprintf("f%d", i), "short_text", "default", "x"))
		withoutDefault = append(withoutDefault, question(fmt.Sprintf("f%d", i), "short_text"))
	}
	defaultsForm := w.publishForm(map[string]any{"title": "Controls", "fields": withDefault})
	plainForm := w.publishForm(map[string]any{"title": "Controls", "fields": withoutDefault})
	pagedForm := w.publishForm(map[string]any{"title": "Controls", "fields": []any{question("a", "short_text"), question("p", "page_break"), question("b", "multiple_choice", "options", options(3), "other", true)}})
	var all []costlyRequest
	for _, size := range w.bodySizes() {
		var names strings.Builder
		for i := 0; names.Len() < size-40; i++ {
			fmt.Fprintf(&names, "&k%x", i)
		}
		var parts strings.Builder
		for i := 0; parts.Len() < size-40; i++ {
			fmt.Fprintf(&parts, "&b.%x=%x", i, w.rand.Uint32()%4096)
		}
		for name, c := range map[string]struct{ id, body string }{
			"names, defaults":     {defaultsForm, names.String()},
			"names":               {plainForm, "_page=0&_action=next" + names.String()},
			"seen":                {plainForm, "_page=0&_action=next&_shown=" + strings.Repeat(",", size-40)},
			"kept parts":          {pagedForm, "_page=1&_action=back" + parts.String()},
			"kept values":         {pagedForm, "_page=1&_action=back" + strings.Repeat("&b=x", size/4-20)},
			"one name often":      {plainForm, "_page=0&_action=next" + strings.Repeat("&f0", size/3-20)},
			"percent":             {plainForm, "_page=0&_action=look&f0=" + strings.Repeat("%41", size/3-20)},
			"broken percent":      {plainForm, strings.Repeat("%4&", size/3-20)},
			"names, no page":      {plainForm, names.String()},
			"page breaks, number": {pagedForm, "_page=" + strings.Repeat("9", size-40)},
		} {
			all = append(all, costlyRequest{name: fmt.Sprintf("%s, %d KB", name, size>>10), method: "POST", path: "/f/" + c.id, contentType: formType, body: c.body})
		}
		boundary := "--b\r\nContent-Disposition: form-data; name=\"f0\"\r\n\r\nx\r\n"
		all = append(all, costlyRequest{name: fmt.Sprintf("multipart, %d KB", size>>10), method: "POST", path: "/f/" + plainForm, contentType: "multipart/form-data; boundary=b", body: strings.Repeat(boundary, size/len(boundary)-1) + "--b--"})
	}
	return all
}

// expensivePrefilled uses prefilled links.
func expensivePrefilled(w *costFixture) []costlyRequest {
	var fields []any
	for i := range 500 {
		fields = append(fields, question(fmt.Sprintf("f%d", i), "number", "default", i))
	}
	id := w.publishForm(map[string]any{"title": "Prefilled", "fields": fields, "sites": []any{"*"}})
	var numbers, parts, names strings.Builder
	for i := 0; numbers.Len() < 24<<10; i++ {
		fmt.Fprintf(&numbers, "&f%d=%d.5", i%500, i)
	}
	for i := 0; parts.Len() < 24<<10; i++ {
		fmt.Fprintf(&parts, "&f%d.%x=1", i%500, i)
	}
	for i := 0; names.Len() < 24<<10; i++ {
		fmt.Fprintf(&names, "&%x", i)
	}
	return []costlyRequest{
		getRequest("numbers", "/f/"+id+"?"+numbers.String()[1:], anonymous),
		getRequest("parts", "/f/"+id+"?"+parts.String()[1:], anonymous),
		getRequest("names", "/f/"+id+"?"+names.String()[1:], anonymous),
		getRequest("one long answer", "/f/"+id+"?f0="+strings.Repeat("9", 24<<10), anonymous),
		getRequest("embedded", "/f/"+id+"?embed=1&x=1", anonymous),
		getRequest("oembed", "/oembed?url="+serverInQuery+url.QueryEscape("/f/"+id)+"&x="+strings.Repeat("y", 24<<10), anonymous),
		getRequest("done", "/f/"+id+"/done?"+names.String()[1:], anonymous),
		getRequest("prefill link", "/forms/"+id+"/prefill?"+numbers.String()[1:], withSession),
	}
}

// expensiveMarkdown uses Markdown that is hard to parse, in statements that are
// rendered for each request.
func expensiveMarkdown(w *costFixture) []costlyRequest {
	const maxChars = 19_900
	fill := func(text string) string { return strings.Repeat(text, maxChars/len([]rune(text))) }
	var all []costlyRequest
	for name, text := range map[string]string{
		"quotes":       fill(">"),
		"nested lists": fill("- "),
		"links":        fill("[a]("),
		"brackets":     fill("["),
		"images":       fill("![a]"),
		"emphasis":     fill("*a_"),
		"stars":        fill("**a *b "),
		"ticks":        fill("`a``b```"),
		"tables":       "|" + fill("a|")[:maxChars/2] + "\n|" + fill("-|")[:maxChars/2-10],
		"rows":         "a|b\n-|-\n" + fill("a|b\n")[:maxChars-20],
		"addresses":    fill("https://a.b "),
		"mail":         fill("a@b.c "),
		"entities":     fill("&amp;"),
		"references":   fill("[a]: b\n"),
		"struck":       fill("~~a~"),
	} {
		var fields []any
		for i := range w.scaled(10, 2) {
			fields = append(fields, question(fmt.Sprintf("s%d", i), "statement", "text", text))
		}
		id, _ := w.publishLargest(len(fields), func(n int) map[string]any {
			return map[string]any{"title": "Markdown", "description": text[:min(len(text), 4_900)], "fields": fields[:n]}
		})
		all = append(all, getRequest(name, "/f/"+id+"?x=1", anonymous))
	}
	return all
}

// expensiveCaches views many large forms once or twice. The cache that holds them is
// bounded.
func expensiveCaches(w *costFixture) []costlyRequest {
	var all []costlyRequest
	for n := range w.scaled(30, 2) {
		id, _ := w.publishLargest(w.scaled(240, 60), func(count int) map[string]any {
			fields := []any{question("t", "long_text")}
			for i := range count {
				fields = append(fields, question(fmt.Sprintf("c%d", i), "calculated", "expression", "len(t)"+strings.Repeat(" + 1", 90), "help", strings.Repeat("x", 500)))
			}
			return map[string]any{"title": fmt.Sprintf("Large %d", n), "fields": fields}
		})
		all = append(all, getRequest("view", "/f/"+id, anonymous))
	}
	return all
}
