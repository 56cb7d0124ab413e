package cli_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// ownerFamilies are requests of somebody with an account.
func ownerFamilies() []family {
	return []family{
		{name: "definitions", make: expensiveDefinitions},
		{name: "drafts", make: expensiveDrafts},
		{name: "versions", make: expensiveVersions},
		{name: "filters", make: expensiveFilters},
		{name: "searches", make: expensiveSearches},
		{name: "large", make: expensiveLarge, downloads: true},
		{name: "words", make: expensiveWords},
		{name: "exports", make: expensiveExports, downloads: true},
		{name: "workspace", make: expensiveWorkspace},
	}
}

// hostileDefinitions are bodies of up to 1 MB that describe a form; most are
// refused in the end.
func hostileDefinitions(w *costWorld) map[string]string {
	all := map[string]string{}
	for _, size := range w.sizes() {
		repeat := func(part string, room int) string {
			return strings.TrimSuffix(strings.Repeat(part+",", room/(len(part)+1)), ",")
		}
		field := func(key, rest string) string {
			return `{"kind":"short_text","key":"` + key + `","label":"x"` + rest + `}`
		}
		form := func(fields ...string) string { return `{"title":"T","fields":[` + strings.Join(fields, ",") + `]}` }
		label := func(kind string) string { return fmt.Sprintf("%s, %d KB", kind, size>>10) }

		sameOptions := `{"kind":"dropdown","label":"x","options":[` + repeat(`{"label":"a"}`, 13_900) + `]}`
		all[label("options of one label")] = form(repeat(sameOptions, size-2000))
		all[label("options without label")] = form(repeat(`{"kind":"dropdown","options":[`+repeat(`{"label":""}`, 12_900)+`]}`, size-2000))
		all[label("fields of one label")] = form(repeat(`{"kind":"short_text","label":"a"}`, min(size, 16_900)))
		all[label("too many fields")] = form(repeat(`{"kind":"yes_no"}`, size-2000))
		all[label("conditions with mistakes")] = form(field("a", ""), field("b", `,"show_if":{"any":[`+repeat(`{"field":"x","op":"y"}`, size-2000)+`]}`))
		all[label("conditions")] = form(field("a", ""), field("b", `,"show_if":{"any":[`+repeat(`{"field":"a","op":"answered"}`, size-2000)+`]}`))
		all[label("deep conditions")] = form(field("a", ""), field("b", `,"show_if":`+strings.Repeat(`{"not":`, 50)+`{"field":"a"}`+strings.Repeat(`}`, 50)))
		all[label("pipes")] = form(field("a", ""), `{"kind":"statement","text":"`+strings.Repeat("{{z}}", (size-2000)/5)+`"}`)
		all[label("long label")] = form(`{"kind":"short_text","label":"` + strings.Repeat("é", (size-2000)/2) + `"}`)
		all[label("combining label")] = form(`{"kind":"short_text","label":"a` + strings.Repeat("\u0301", (size-2000)/2) + `"}`)
		all[label("jumps")] = form(field("a", `,"jumps":[`+repeat(`{"to":"x"}`, size-2000)+`]`))
		all[label("endings")] = `{"title":"T","fields":[],"endings":[` + repeat(`{"title":"a"}`, size-2000) + `]}`
		all[label("sites")] = `{"title":"T","fields":[],"sites":[` + repeat(`"https://a.b"`, size-2000) + `]}`
		all[label("long title")] = `{"title":"` + strings.Repeat("x", size-2000) + `","fields":[]}`
		all[label("long default")] = form(`{"kind":"multiple_choice","label":"x","other":true,"options":[{"label":"a"}],"default":[` + defaultWords(size-2000) + `]}`)
		var calculated []string
		for i := 0; i < 499 && len(calculated)*1040 < size-2000; i++ {
			calculated = append(calculated, fmt.Sprintf(`{"kind":"calculated","key":"c%d","expression":"1%s"}`, i, strings.Repeat(" + 1", 99)))
		}
		all[label("expressions")] = form(calculated...)
		all[label("expressions, last one wrong")] = form(append(calculated, `{"kind":"calculated","key":"z","expression":"((("}`)...)
		var brackets []string
		for i := 0; i < 499 && len(brackets)*1040 < size-2000; i++ {
			brackets = append(brackets, fmt.Sprintf(`{"kind":"calculated","key":"c%d","expression":"%s1%s"}`, i, strings.Repeat("(", 499), strings.Repeat(")", 499)))
		}
		all[label("brackets")] = form(brackets...)
	}
	return all
}

func defaultWords(size int) string {
	var out strings.Builder
	for i := 0; out.Len() < size; i++ {
		fmt.Fprintf(&out, `,"w%x"`, i)
	}
	return out.String()[1:]
}

// Definitions that are refused, or that are dear to check.
func expensiveDefinitions(w *costWorld) []costly {
	id := w.draft(map[string]any{"title": "Draft", "fields": []any{question("a", "short_text")}})
	var all []costly
	for name, body := range hostileDefinitions(w) {
		all = append(all, costly{name: name, method: "PATCH", path: "/api/v1/forms/" + id, as: asToken, kind: jsonType, body: body})
	}
	return all
}

// The same through the builder, whose answers are translated.
func expensiveDrafts(w *costWorld) []costly {
	id := w.draft(map[string]any{"title": "Draft", "fields": []any{question("a", "short_text")}})
	var all []costly
	for name, body := range hostileDefinitions(w) {
		if strings.Contains(name, "sites") {
			continue // which the builder does not send
		}
		all = append(all, costly{name: name, method: "PUT", path: "/forms/" + id + "/draft", as: asSession, kind: jsonType, body: body})
	}
	nested := `{"title":"T","fields":[{"kind":"short_text","show_if":` + strings.Repeat(`{"not":`, 4_000) + `{"field":"a"}` + strings.Repeat(`}`, 4_000) + `}]}`
	return append(all, costly{name: "deep conditions, 28 KB", method: "PUT", path: "/forms/" + id + "/draft", as: asSession, kind: jsonType, body: nested})
}

// large is a definition near the limit of its size, others for each number.
func large(number, n int) map[string]any {
	fields := []any{question("t", "long_text")}
	for i := range n {
		fields = append(fields, question(fmt.Sprintf("v%d_%d", number, i), "calculated", "expression", "len(t)"+strings.Repeat(" + 1", 80)))
	}
	for i := range n / 40 {
		fields = append(fields, question(fmt.Sprintf("o%d_%d", number, i), "multiple_choice", "options", options(2*n)))
	}
	return map[string]any{"title": fmt.Sprintf("Version %d", number), "fields": fields}
}

// A form with many large versions, read in every way that needs them.
func expensiveVersions(w *costWorld) []costly {
	id, n := w.largest(w.some(240, 60), func(n int) map[string]any { return large(0, n) })
	for number := range w.some(19, 3) {
		w.call("PATCH", "/api/v1/forms/"+id, encoded(w.t, large(number+1, n*9/10)))
		w.call("POST", "/api/v1/forms/"+id+"/publish", "")
	}
	w.fill(id, 20, func(int) map[string]any { return map[string]any{"t": "hello"} })
	api, pages := "/api/v1/forms/"+id, "/forms/"+id
	return []costly{
		gets("summary", api+"/summary", asToken),
		gets("list", api+"/responses", asToken),
		gets("feed", api+"/responses?after=", asToken),
		gets("search", api+"/responses?search=o1", asToken),
		gets("filter", api+"/responses?answers%5Bt%5D=hello", asToken),
		gets("export", api+"/responses/export?format=csv", asToken),
		gets("versions", api+"/versions?per_page=200", asToken),
		gets("summary page", pages+"/summary", asSession),
		gets("responses page", pages+"/responses", asSession),
		gets("responses page, search", pages+"/responses?search=o1", asSession),
		gets("responses page, sorted", pages+"/responses?by=t", asSession),
		gets("builder", pages+"/build", asSession),
		posts("earlier version", id, url.Values{"_version": {"1"}, "_page": {"0"}, "_go": {"look"}, "t": {"x"}}),
		{name: "publish unchanged", method: "POST", path: api + "/publish", as: asToken},
	}
}

// Filters by very many answers, each time others.
func expensiveFilters(w *costWorld) []costly {
	fields := []any{question("t", "short_text"), question("mc", "multiple_choice", "options", options(200))}
	for i := range 20 {
		fields = append(fields, question(fmt.Sprintf("m%d", i), "matrix", "rows", options(100), "options", options(3), "several", i%2 == 0))
	}
	id := w.open(map[string]any{"title": "Filters", "fields": fields})
	w.fill(id, w.some(2000, 20), func(i int) map[string]any {
		return map[string]any{"t": fmt.Sprint(i), "mc": []any{"o1", "o2"}, "m0": map[string]any{"o1": []any{"o1"}}}
	})
	query := func(n int) string {
		var out strings.Builder
		for i, first := 0, w.rand.IntN(20); i < n; i++ {
			fmt.Fprintf(&out, "&answers%%5Bm%d.o%d%%5D=o%d", (first+i/100)%20, i%100, w.rand.IntN(3))
		}
		return out.String()
	}
	api := "/api/v1/forms/" + id
	all := []costly{
		gets("one value", api+"/responses?answers%5Bt%5D=7", asToken),
		gets("many deep pages", api+"/responses?page=90&per_page=20&search=1", asToken),
	}
	for _, n := range []int{5, 10, 1050} {
		for range w.some(4, 1) {
			kept := query(n)
			all = append(all,
				gets(fmt.Sprintf("list, %d filters", n), api+"/responses?per_page=200"+kept, asToken),
				gets(fmt.Sprintf("feed, %d filters", n), api+"/responses?after=&limit=1000"+kept, asToken),
				gets(fmt.Sprintf("export, %d filters", n), api+"/responses/export?format=jsonl"+kept, asToken))
		}
	}
	for i := range w.some(150, 5) { // each is another statement
		all = append(all, gets("other filters", api+"/responses?per_page=1"+query(1+i%10), asToken))
	}
	return all
}

// Searches in long answers that nearly match everywhere.
func expensiveSearches(w *costWorld) []costly {
	id := w.open(map[string]any{"title": "Searches", "fields": []any{question("t", "long_text"), question("n", "number"), question("mc", "multiple_choice", "options", options(1000))}})
	w.fill(id, w.some(1000, 10), func(i int) map[string]any {
		return map[string]any{"t": strings.Repeat("aÄ", 2000) + fmt.Sprint(i), "n": i, "mc": []any{"o1"}}
	})
	for i := range w.some(200, 3) {
		w.draft(map[string]any{"title": fmt.Sprint("Form ", i), "description": strings.Repeat("aÄ", 2_400), "fields": []any{}})
	}
	var all []costly
	for name, text := range map[string]string{
		"nearly": strings.Repeat("aä", 99) + "b", "wildcards": strings.Repeat("%", 190), "underscores": strings.Repeat("_", 190), "options": "o", "quotes": strings.Repeat(`"`, 190), "nothing": "zzz",
	} {
		query := "search=" + url.QueryEscape(text)
		all = append(all,
			gets(name+", list", "/api/v1/forms/"+id+"/responses?"+query, asToken),
			gets(name+", feed", "/api/v1/forms/"+id+"/responses?after=&"+query, asToken),
			gets(name+", page", "/forms/"+id+"/responses?"+query, asSession),
			gets(name+", forms", "/api/v1/forms?"+query, asToken),
			gets(name+", home", "/?"+query, asSession))
	}
	return append(all,
		gets("sorted by a text", "/forms/"+id+"/responses?by=t", asSession),
		gets("sorted by a number", "/forms/"+id+"/responses?by=-n", asSession),
		costly{name: "deletion of what nothing matches", method: "DELETE", path: "/api/v1/forms/" + id + "/responses?search=" + url.QueryEscape(strings.Repeat("aä", 99)+"b"), as: asToken},
		gets("long text contains", "/forms/"+id+"/responses?where=t&is="+url.QueryEscape(strings.Repeat("aä", 900)+"b"), asSession))
}

// Responses as large as they can be, many in one answer.
func expensiveLarge(w *costWorld) []costly {
	var fields []any
	for i := range 13 {
		fields = append(fields, question(fmt.Sprintf("t%d", i), "long_text"))
	}
	id := w.open(map[string]any{"title": "Large", "fields": fields})
	w.fill(id, w.some(200, 5), func(int) map[string]any {
		answers := map[string]any{}
		for i := range 13 {
			answers[fmt.Sprintf("t%d", i)] = strings.Repeat("x", 19_900)
		}
		return answers
	})
	api, pages := "/api/v1/forms/"+id, "/forms/"+id
	return []costly{
		gets("list", api+"/responses?per_page=200", asToken),
		gets("feed", api+"/responses?after=&limit=1000", asToken),
		gets("page", pages+"/responses", asSession),
		gets("summary", pages+"/summary", asSession),
		gets("csv", api+"/responses/export?format=csv", asToken),
		gets("xlsx", api+"/responses/export?format=xlsx", asToken),
	}
}

// Own words beside the options, other ones in each response: all are counted.
func expensiveWords(w *costWorld) []costly {
	var fields []any
	for i := range 20 {
		fields = append(fields, question(fmt.Sprintf("o%d", i), "single_choice", "options", options(2), "other", true))
	}
	id := w.open(map[string]any{"title": "Words", "fields": fields})
	w.fill(id, w.some(1000, 20), func(n int) map[string]any {
		answers := map[string]any{}
		for i := range 20 {
			answers[fmt.Sprintf("o%d", i)] = fmt.Sprintf("%d %d ", n, i) + strings.Repeat("x", 480)
		}
		return answers
	})
	return []costly{
		gets("summary", "/api/v1/forms/"+id+"/summary", asToken), gets("summary page", "/forms/"+id+"/summary", asSession),
		submits("one more", id, map[string]any{"o0": strings.Repeat("y", 480)}), gets("summary after one more", "/api/v1/forms/"+id+"/summary", asToken),
		{name: "publish", method: "POST", path: "/api/v1/forms/" + id + "/publish", as: asToken},
	}
}

// wide opens a form whose responses have as many columns as can be.
func (w *costWorld) wide() string {
	id, _ := w.largest(w.some(60, 5), func(n int) map[string]any {
		fields := []any{question("t", "long_text")}
		for i := range n {
			fields = append(fields, question(fmt.Sprintf("m%d", i), "matrix", "rows", options(100), "options", options(2)))
		}
		return map[string]any{"title": "Wide", "fields": fields}
	})
	return id
}

// Exports of definitions with very many columns.
func expensiveExports(w *costWorld) []costly {
	id := w.wide()
	w.fill(id, w.some(200, 20), func(int) map[string]any { return map[string]any{"t": strings.Repeat("=x", 200)} })
	var all []costly
	for _, format := range []string{"csv", "xlsx", "jsonl"} {
		all = append(all,
			gets(format, "/api/v1/forms/"+id+"/responses/export?format="+format, asToken),
			gets(format+" by page", "/forms/"+id+"/responses/export?format="+format, asSession))
	}
	if !w.small { // it holds what every other family made
		all = append(all, gets("account", "/account/download", asSession))
	}
	return all
}

// Pages of the workspace for a form with very many columns.
func expensiveWorkspace(w *costWorld) []costly {
	id := w.wide()
	w.fill(id, 30, func(int) map[string]any {
		return map[string]any{"t": strings.Repeat("x", 2000), "m0": map[string]any{"o1": "o1"}}
	})
	flow, _ := w.largest(w.some(240, 40), func(n int) map[string]any {
		steps := []any{question("a", "yes_no")}
		jump := map[string]any{"to": "bye", "if": map[string]any{"field": "a", "op": "answered"}}
		for i := range n {
			steps = append(steps, question(fmt.Sprintf("p%d", i), "page_break"), question(fmt.Sprintf("q%d", i), "yes_no", "jumps", []any{jump}))
		}
		return map[string]any{"title": "Flow", "fields": steps, "endings": []any{map[string]any{"key": "bye", "title": "Bye"}}}
	})
	pages := "/forms/" + id
	var columns strings.Builder
	for i := 0; columns.Len() < 24<<10; i++ {
		fmt.Fprintf(&columns, "&column=m%d.o%d", i%60, i/60%100)
	}
	all := []costly{
		gets("all columns", pages+"/responses?"+columns.String()[1:], asSession),
		gets("long column", pages+"/responses?column="+strings.Repeat("x", 24<<10), asSession),
		gets("long search", pages+"/responses?search="+strings.Repeat("x", 24<<10), asSession),
		gets("deleted", pages+"/responses?deleted="+strings.Repeat("x,", 12<<10), asSession),
		gets("preview page", pages+"/preview?page=0", asSession),
		gets("flow", "/forms/"+flow+"/flow", asSession),
		gets("next", "/signin?next=/"+strings.Repeat("x", 24<<10), asNobody),
	}
	restored, uris := url.Values{}, url.Values{"name": {"App"}, "scope": slices.Repeat([]string{"forms:read"}, 800), "redirect_uris": {strings.Repeat("https://a.example/\n", 2_000)}}
	for i := range 1_200 {
		restored.Add("response", fmt.Sprintf("rsp_01k9z8m7q3e4r5t6y7v8w9%04d", i))
	}
	all = append(all,
		costly{name: "restore", method: "POST", path: pages + "/responses/restore", as: asSession, kind: formType, body: restored.Encode()},
		costly{name: "application", method: "POST", path: "/applications", as: asSession, kind: formType, body: uris.Encode()},
		costly{name: "sites", method: "POST", path: pages + "/share", as: asSession, kind: formType, body: url.Values{"slug": {"x"}, "sites": {strings.Repeat("https://a.example ", 3_000)}}.Encode()})
	for _, page := range []string{"/responses", "/summary", "/build", "/share", "/flow", "/preview", "/code/qr.png", "/code/qr.svg"} {
		all = append(all, gets(page, pages+page, asSession))
	}
	return all
}
