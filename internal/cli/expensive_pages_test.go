package cli_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// pageFamilies are requests for public pages, which anybody can send.
func pageFamilies() []family {
	return []family{
		{name: "pipes", make: expensivePipes},
		{name: "matrices", make: expensiveMatrices},
		{name: "countries", make: expensiveCountries},
		{name: "controls", make: expensiveControls},
		{name: "prefilled", make: expensivePrefilled},
		{name: "markdown", make: expensiveMarkdown},
		{name: "caches", make: expensiveCaches},
	}
}

// Answers that are piped into many places.
func expensivePipes(w *costWorld) []costly {
	long := strings.Repeat("<&'x", 4_750)
	first := []any{question("t", "long_text"), question("second", "page_break")}
	labels, _ := w.largest(w.some(240, 6), func(n int) map[string]any {
		fields := slices.Clone(first)
		for i := range n {
			fields = append(fields, question(fmt.Sprintf("f%d", i), "short_text", "label", strings.Repeat("{{t}}", 60), "help", strings.Repeat("{{t}}", 80)))
		}
		return map[string]any{"title": "Pipes", "fields": fields}
	})
	statements, _ := w.largest(w.some(36_000, 300), func(n int) map[string]any {
		fields := slices.Clone(first)
		for i := 0; n > 0; i++ {
			fields = append(fields, question(fmt.Sprintf("s%d", i), "statement", "text", strings.Repeat("{{t}} ", min(n, 3_000))))
			n -= 3_000
		}
		return map[string]any{"title": "Pipes", "fields": fields}
	})
	heading, _ := w.largest(w.some(150, 30), func(n int) map[string]any {
		return map[string]any{"title": "Pipes", "fields": []any{question("t", "long_text"), question("second", "page_break", "label", strings.Repeat("{{t}}", n), "help", strings.Repeat("{{t}}", 2*n)), question("u", "short_text")}}
	})
	var all []costly
	for name, id := range map[string]string{"labels": labels, "statements": statements, "heading": heading} {
		for _, turn := range []string{"next", "look", "back"} {
			all = append(all, posts(name+", "+turn, id, url.Values{"t": {long}, "_page": {"0"}, "_seen": {"t"}, "_go": {turn}}))
		}
		all = append(all, posts(name+", second page", id, url.Values{"t": {long}, "_page": {"1"}, "_seen": {""}, "_go": {"next"}}))
	}
	for name, ending := range map[string]struct{ property, start, pipe string }{
		"ending's text":  {"text", "", "{{t}} "},
		"ending's title": {"title", "", "{{t}}"},
		"redirect":       {"redirect", "https://example.com/?", "{{t}}"},
	} {
		most := map[string]int{"text": w.some(3_000, 200), "title": 40, "redirect": 390}[ending.property]
		id, _ := w.largest(most, func(n int) map[string]any {
			return map[string]any{"title": "Ending", "fields": []any{question("t", "long_text")}, "endings": []any{
				map[string]any{"key": "bye", ending.property: ending.start + strings.Repeat(ending.pipe, n)},
			}}
		})
		controls := w.page(id)
		controls.Set("t", long)
		preview := url.Values{"t": {long}, "_page": {"0"}, "_seen": {"t"}, "_go": {"next"}}
		all = append(all, posts(name, id, controls),
			costly{name: name + ", preview", method: "POST", path: "/forms/" + id + "/preview", as: asSession, kind: formType, body: preview.Encode()})
	}
	return all
}

// Questions whose controls are many times larger than their definition.
func expensiveMatrices(w *costWorld) []costly {
	matrices := func(n int) map[string]any {
		fields := []any{question("mc", "multiple_choice", "options", options(2))}
		for i := range n {
			fields = append(fields, question(fmt.Sprintf("m%d", i), "matrix", "rows", options(100), "options", options(100), "several", i%2 == 0))
		}
		return map[string]any{"title": "Matrices", "fields": fields}
	}
	id, _ := w.largest(w.some(40, 4), matrices)
	shuffled, _ := w.largest(w.some(40, 4), func(n int) map[string]any {
		d := matrices(n)
		d["fields"].([]any)[0].(map[string]any)["shuffle"] = true
		return d
	})
	return []costly{
		gets("page", "/f/"+id, asNobody),
		gets("page with a query", "/f/"+id+"?m0=o1", asNobody),
		gets("page that differs", "/f/"+shuffled, asNobody),
		posts("page again", id, url.Values{"_page": {"0"}, "_go": {"next"}}),
		posts("look", id, url.Values{"_page": {"0"}, "_go": {"look"}, "m0.o1": {"o1"}}),
	}
}

// Lists of all countries, once for each question, and others like them.
func expensiveCountries(w *costWorld) []costly {
	var all []costly
	for _, kind := range []string{"country", "address", "scale", "slider", "dropdown"} {
		id, _ := w.largest(w.some(500, 40), func(n int) map[string]any {
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
			gets(kind+", page", "/f/"+id, asNobody),
			gets(kind+", page with a query", "/f/"+id+"?c0=DE", asNobody),
			posts(kind+", page again", id, url.Values{"_page": {"0"}, "_go": {"next"}}))
	}
	return all
}

// Posts with very many controls.
func expensiveControls(w *costWorld) []costly {
	started, plain := []any{}, []any{}
	for i := range 500 {
		started = append(started, question(fmt.Sprintf("f%d", i), "short_text", "default", "x"))
		plain = append(plain, question(fmt.Sprintf("f%d", i), "short_text"))
	}
	withDefaults := w.open(map[string]any{"title": "Controls", "fields": started})
	simple := w.open(map[string]any{"title": "Controls", "fields": plain})
	paged := w.open(map[string]any{"title": "Controls", "fields": []any{question("a", "short_text"), question("p", "page_break"), question("b", "multiple_choice", "options", options(3), "other", true)}})
	var all []costly
	for _, size := range w.sizes() {
		var names strings.Builder
		for i := 0; names.Len() < size-40; i++ {
			fmt.Fprintf(&names, "&k%x", i)
		}
		var parts strings.Builder
		for i := 0; parts.Len() < size-40; i++ {
			fmt.Fprintf(&parts, "&b.%x=%x", i, w.rand.Uint32()%4096)
		}
		for name, c := range map[string]struct{ id, body string }{
			"names, defaults":     {withDefaults, names.String()},
			"names":               {simple, "_page=0&_go=next" + names.String()},
			"seen":                {simple, "_page=0&_go=next&_seen=" + strings.Repeat(",", size-40)},
			"kept parts":          {paged, "_page=1&_go=back" + parts.String()},
			"kept values":         {paged, "_page=1&_go=back" + strings.Repeat("&b=x", size/4-20)},
			"one name often":      {simple, "_page=0&_go=next" + strings.Repeat("&f0", size/3-20)},
			"percent":             {simple, "_page=0&_go=look&f0=" + strings.Repeat("%41", size/3-20)},
			"broken percent":      {simple, strings.Repeat("%4&", size/3-20)},
			"names, no page":      {simple, names.String()},
			"page breaks, number": {paged, "_page=" + strings.Repeat("9", size-40)},
		} {
			all = append(all, costly{name: fmt.Sprintf("%s, %d KB", name, size>>10), method: "POST", path: "/f/" + c.id, kind: formType, body: c.body})
		}
		boundary := "--b\r\nContent-Disposition: form-data; name=\"f0\"\r\n\r\nx\r\n"
		all = append(all, costly{name: fmt.Sprintf("multipart, %d KB", size>>10), method: "POST", path: "/f/" + simple, kind: "multipart/form-data; boundary=b", body: strings.Repeat(boundary, size/len(boundary)-1) + "--b--"})
	}
	return all
}

// Links that bring answers along.
func expensivePrefilled(w *costWorld) []costly {
	var fields []any
	for i := range 500 {
		fields = append(fields, question(fmt.Sprintf("f%d", i), "number", "default", i))
	}
	id := w.open(map[string]any{"title": "Prefilled", "fields": fields, "sites": []any{"*"}})
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
	return []costly{
		gets("numbers", "/f/"+id+"?"+numbers.String()[1:], asNobody),
		gets("parts", "/f/"+id+"?"+parts.String()[1:], asNobody),
		gets("names", "/f/"+id+"?"+names.String()[1:], asNobody),
		gets("one long answer", "/f/"+id+"?f0="+strings.Repeat("9", 24<<10), asNobody),
		gets("embedded", "/f/"+id+"?embed=1&x=1", asNobody),
		gets("oembed", "/oembed?url="+hereInQuery+url.QueryEscape("/f/"+id)+"&x="+strings.Repeat("y", 24<<10), asNobody),
		gets("done", "/f/"+id+"/done?"+names.String()[1:], asNobody),
		gets("prefill link", "/forms/"+id+"/prefill?"+numbers.String()[1:], asSession),
	}
}

// Markdown that is hard to read, in statements that are drawn for each page.
func expensiveMarkdown(w *costWorld) []costly {
	const most = 19_900
	fill := func(text string) string { return strings.Repeat(text, most/len([]rune(text))) }
	var all []costly
	for name, text := range map[string]string{
		"quotes":       fill(">"),
		"nested lists": fill("- "),
		"links":        fill("[a]("),
		"brackets":     fill("["),
		"images":       fill("![a]"),
		"emphasis":     fill("*a_"),
		"stars":        fill("**a *b "),
		"ticks":        fill("`a``b```"),
		"tables":       "|" + fill("a|")[:most/2] + "\n|" + fill("-|")[:most/2-10],
		"rows":         "a|b\n-|-\n" + fill("a|b\n")[:most-20],
		"addresses":    fill("https://a.b "),
		"mail":         fill("a@b.c "),
		"entities":     fill("&amp;"),
		"references":   fill("[a]: b\n"),
		"struck":       fill("~~a~"),
	} {
		var fields []any
		for i := range w.some(10, 2) {
			fields = append(fields, question(fmt.Sprintf("s%d", i), "statement", "text", text))
		}
		id, _ := w.largest(len(fields), func(n int) map[string]any {
			return map[string]any{"title": "Markdown", "description": text[:min(len(text), 4_900)], "fields": fields[:n]}
		})
		all = append(all, gets(name, "/f/"+id+"?x=1", asNobody))
	}
	return all
}

// Many large forms, each viewed once or twice: what is kept of them is bounded.
func expensiveCaches(w *costWorld) []costly {
	var all []costly
	for n := range w.some(30, 2) {
		id, _ := w.largest(w.some(240, 60), func(most int) map[string]any {
			fields := []any{question("t", "long_text")}
			for i := range most {
				fields = append(fields, question(fmt.Sprintf("c%d", i), "calculated", "expression", "len(t)"+strings.Repeat(" + 1", 90), "help", strings.Repeat("x", 500)))
			}
			return map[string]any{"title": fmt.Sprintf("Large %d", n), "fields": fields}
		})
		all = append(all, gets("view", "/f/"+id, asNobody))
	}
	return all
}
