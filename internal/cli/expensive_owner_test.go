package cli_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// ownerFamilies are requests of a user with an account.
func ownerFamilies() []family {
	return []family{
		{name: "definitions", build: expensiveDefinitions},
		{name: "drafts", build: expensiveDrafts},
		{name: "versions", build: expensiveVersions},
		{name: "filters", build: expensiveFilters},
		{name: "searches", build: expensiveSearches},
		{name: "large", build: expensiveLarge, downloads: true},
		{name: "free-text", build: expensiveFreeText},
		{name: "exports", build: expensiveExports, downloads: true},
		{name: "workspace", build: expensiveWorkspace},
	}
}

// hostileDefinitions are form definitions of up to 1 MB. Most are rejected.
func hostileDefinitions(w *costFixture) map[string]string {
	all := map[string]string{}
	for _, size := range w.bodySizes() {
		repeat := func(element string, size int) string {
			return strings.TrimSuffix(strings.Repeat(element+",", size/(len(element)+1)), ",")
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

// expensiveDefinitions sends definitions that are rejected or costly to validate.
func expensiveDefinitions(w *costFixture) []costlyRequest {
	id := w.createForm(map[string]any{"title": "Draft", "fields": []any{question("a", "short_text")}})
	var all []costlyRequest
	for name, body := range hostileDefinitions(w) {
		all = append(all, costlyRequest{name: name, method: "PATCH", path: "/api/v1/forms/" + id, as: withToken, contentType: jsonType, body: body})
	}
	return all
}

// expensiveDrafts sends the same through the builder, whose errors are translated.
func expensiveDrafts(w *costFixture) []costlyRequest {
	id := w.createForm(map[string]any{"title": "Draft", "fields": []any{question("a", "short_text")}})
	var all []costlyRequest
	for name, body := range hostileDefinitions(w) {
		if strings.Contains(name, "sites") {
			continue // the builder does not send sites
		}
		all = append(all, costlyRequest{name: name, method: "PUT", path: "/forms/" + id + "/draft", as: withSession, contentType: jsonType, body: body})
	}
	nested := `{"title":"T","fields":[{"kind":"short_text","show_if":` + strings.Repeat(`{"not":`, 4_000) + `{"field":"a"}` + strings.Repeat(`}`, 4_000) + `}]}`
	return append(all, costlyRequest{name: "deep conditions, 28 KB", method: "PUT", path: "/forms/" + id + "/draft", as: withSession, contentType: jsonType, body: nested})
}

// largeDefinition returns a definition near the size limit, different for each number.
func largeDefinition(number, n int) map[string]any {
	fields := []any{question("t", "long_text")}
	for i := range n {
		fields = append(fields, question(fmt.Sprintf("v%d_%d", number, i), "calculated", "expression", "len(t)"+strings.Repeat(" + 1", 80)))
	}
	for i := range n / 40 {
		fields = append(fields, question(fmt.Sprintf("o%d_%d", number, i), "multiple_choice", "options", options(2*n)))
	}
	return map[string]any{"title": fmt.Sprintf("Version %d", number), "fields": fields}
}

// expensiveVersions reads a form with many large versions in every way that needs them.
func expensiveVersions(w *costFixture) []costlyRequest {
	id, n := w.publishLargest(w.scaled(240, 60), func(n int) map[string]any { return largeDefinition(0, n) })
	for number := range w.scaled(19, 3) {
		w.mustCall("PATCH", "/api/v1/forms/"+id, mustJSON(w.t, largeDefinition(number+1, n*9/10)))
		w.mustCall("POST", "/api/v1/forms/"+id+"/publish", "")
	}
	w.fill(id, 20, func(int) map[string]any { return map[string]any{"t": "hello"} })
	api, pages := "/api/v1/forms/"+id, "/forms/"+id
	return []costlyRequest{
		getRequest("summary", api+"/summary", withToken),
		getRequest("list", api+"/responses", withToken),
		getRequest("feed", api+"/responses?after=", withToken),
		getRequest("search", api+"/responses?search=o1", withToken),
		getRequest("filter", api+"/responses?answers%5Bt%5D=hello", withToken),
		getRequest("export", api+"/responses/export?format=csv", withToken),
		getRequest("versions", api+"/versions?per_page=200", withToken),
		getRequest("summary page", pages+"/summary", withSession),
		getRequest("responses page", pages+"/responses", withSession),
		getRequest("responses page, search", pages+"/responses?search=o1", withSession),
		getRequest("responses page, sorted", pages+"/responses?by=t", withSession),
		getRequest("builder", pages+"/build", withSession),
		postRequest("earlier version", id, url.Values{"_version": {"1"}, "_page": {"0"}, "_action": {"look"}, "t": {"x"}}),
		{name: "publish unchanged", method: "POST", path: api + "/publish", as: withToken},
	}
}

// expensiveFilters filters by very many answers, different ones each time.
func expensiveFilters(w *costFixture) []costlyRequest {
	fields := []any{question("t", "short_text"), question("mc", "multiple_choice", "options", options(200))}
	for i := range 20 {
		fields = append(fields, question(fmt.Sprintf("m%d", i), "matrix", "rows", options(100), "options", options(3), "several", i%2 == 0))
	}
	id := w.publishForm(map[string]any{"title": "Filters", "fields": fields})
	w.fill(id, w.scaled(2000, 20), func(i int) map[string]any {
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
	all := []costlyRequest{
		getRequest("one value", api+"/responses?answers%5Bt%5D=7", withToken),
		getRequest("many deep pages", api+"/responses?page=90&per_page=20&search=1", withToken),
	}
	for _, n := range []int{5, 10, 1050} {
		for range w.scaled(4, 1) {
			filters := query(n)
			all = append(all,
				getRequest(fmt.Sprintf("list, %d filters", n), api+"/responses?per_page=200"+filters, withToken),
				getRequest(fmt.Sprintf("feed, %d filters", n), api+"/responses?after=&limit=1000"+filters, withToken),
				getRequest(fmt.Sprintf("export, %d filters", n), api+"/responses/export?format=jsonl"+filters, withToken))
		}
	}
	for i := range w.scaled(150, 5) { // each is a different SQL statement
		all = append(all, getRequest("other filters", api+"/responses?per_page=1"+query(1+i%10), withToken))
	}
	return all
}

// expensiveSearches searches long answers that almost match everywhere.
func expensiveSearches(w *costFixture) []costlyRequest {
	id := w.publishForm(map[string]any{"title": "Searches", "fields": []any{question("t", "long_text"), question("n", "number"), question("mc", "multiple_choice", "options", options(1000))}})
	w.fill(id, w.scaled(1000, 10), func(i int) map[string]any {
		return map[string]any{"t": strings.Repeat("aÄ", 2000) + fmt.Sprint(i), "n": i, "mc": []any{"o1"}}
	})
	for i := range w.scaled(200, 3) {
		w.createForm(map[string]any{"title": fmt.Sprint("Form ", i), "description": strings.Repeat("aÄ", 2_400), "fields": []any{}})
	}
	var all []costlyRequest
	for name, text := range map[string]string{
		"nearly": strings.Repeat("aä", 99) + "b", "wildcards": strings.Repeat("%", 190), "underscores": strings.Repeat("_", 190), "options": "o", "quotes": strings.Repeat(`"`, 190), "nothing": "zzz",
	} {
		query := "search=" + url.QueryEscape(text)
		all = append(all,
			getRequest(name+", list", "/api/v1/forms/"+id+"/responses?"+query, withToken),
			getRequest(name+", feed", "/api/v1/forms/"+id+"/responses?after=&"+query, withToken),
			getRequest(name+", page", "/forms/"+id+"/responses?"+query, withSession),
			getRequest(name+", forms", "/api/v1/forms?"+query, withToken),
			getRequest(name+", home", "/?"+query, withSession))
	}
	return append(all,
		getRequest("sorted by a text", "/forms/"+id+"/responses?by=t", withSession),
		getRequest("sorted by a number", "/forms/"+id+"/responses?by=-n", withSession),
		costlyRequest{name: "deletion of what nothing matches", method: "DELETE", path: "/api/v1/forms/" + id + "/responses?search=" + url.QueryEscape(strings.Repeat("aä", 99)+"b"), as: withToken},
		getRequest("long text contains", "/forms/"+id+"/responses?where=t&is="+url.QueryEscape(strings.Repeat("aä", 900)+"b"), withSession))
}

// expensiveLarge reads many responses of maximum size at once.
func expensiveLarge(w *costFixture) []costlyRequest {
	var fields []any
	for i := range 13 {
		fields = append(fields, question(fmt.Sprintf("t%d", i), "long_text"))
	}
	id := w.publishForm(map[string]any{"title": "Large", "fields": fields})
	w.fill(id, w.scaled(200, 5), func(int) map[string]any {
		answers := map[string]any{}
		for i := range 13 {
			answers[fmt.Sprintf("t%d", i)] = strings.Repeat("x", 19_900)
		}
		return answers
	})
	api, pages := "/api/v1/forms/"+id, "/forms/"+id
	return []costlyRequest{
		getRequest("list", api+"/responses?per_page=200", withToken),
		getRequest("feed", api+"/responses?after=&limit=1000", withToken),
		getRequest("page", pages+"/responses", withSession),
		getRequest("summary", pages+"/summary", withSession),
		getRequest("csv", api+"/responses/export?format=csv", withToken),
		getRequest("xlsx", api+"/responses/export?format=xlsx", withToken),
	}
}

// expensiveFreeText counts free text answers that differ in each response.
func expensiveFreeText(w *costFixture) []costlyRequest {
	var fields []any
	for i := range 20 {
		fields = append(fields, question(fmt.Sprintf("o%d", i), "single_choice", "options", options(2), "other", true))
	}
	id := w.publishForm(map[string]any{"title": "Words", "fields": fields})
	w.fill(id, w.scaled(1000, 20), func(n int) map[string]any {
		answers := map[string]any{}
		for i := range 20 {
			answers[fmt.Sprintf("o%d", i)] = fmt.Sprintf("%d %d ", n, i) + strings.Repeat("x", 480)
		}
		return answers
	})
	return []costlyRequest{
		getRequest("summary", "/api/v1/forms/"+id+"/summary", withToken), getRequest("summary page", "/forms/"+id+"/summary", withSession),
		submitRequest("one more", id, map[string]any{"o0": strings.Repeat("y", 480)}), getRequest("summary after one more", "/api/v1/forms/"+id+"/summary", withToken),
		{name: "publish", method: "POST", path: "/api/v1/forms/" + id + "/publish", as: withToken},
	}
}

// publishWideForm publishes a form with as many columns as possible.
func (w *costFixture) publishWideForm() string {
	id, _ := w.publishLargest(w.scaled(60, 5), func(n int) map[string]any {
		fields := []any{question("t", "long_text")}
		for i := range n {
			fields = append(fields, question(fmt.Sprintf("m%d", i), "matrix", "rows", options(100), "options", options(2)))
		}
		return map[string]any{"title": "Wide", "fields": fields}
	})
	return id
}

// expensiveExports exports forms with very many columns.
func expensiveExports(w *costFixture) []costlyRequest {
	id := w.publishWideForm()
	w.fill(id, w.scaled(200, 20), func(int) map[string]any { return map[string]any{"t": strings.Repeat("=x", 200)} })
	var all []costlyRequest
	for _, format := range []string{"csv", "xlsx", "jsonl"} {
		all = append(all,
			getRequest(format, "/api/v1/forms/"+id+"/responses/export?format="+format, withToken),
			getRequest(format+" by page", "/forms/"+id+"/responses/export?format="+format, withSession))
	}
	if !w.small { // the download contains the data of every other family
		all = append(all, getRequest("account", "/account/download", withSession))
	}
	return all
}

// expensiveWorkspace opens the workspace pages of a form with very many columns.
func expensiveWorkspace(w *costFixture) []costlyRequest {
	id := w.publishWideForm()
	w.fill(id, 30, func(int) map[string]any {
		return map[string]any{"t": strings.Repeat("x", 2000), "m0": map[string]any{"o1": "o1"}}
	})
	flow, _ := w.publishLargest(w.scaled(240, 40), func(n int) map[string]any {
		fields := []any{question("a", "yes_no")}
		jump := map[string]any{"to": "bye", "if": map[string]any{"field": "a", "op": "answered"}}
		for i := range n {
			fields = append(fields, question(fmt.Sprintf("p%d", i), "page_break"), question(fmt.Sprintf("q%d", i), "yes_no", "jumps", []any{jump}))
		}
		return map[string]any{"title": "Flow", "fields": fields, "endings": []any{map[string]any{"key": "bye", "title": "Bye"}}}
	})
	pages := "/forms/" + id
	var columns strings.Builder
	for i := 0; columns.Len() < 24<<10; i++ {
		fmt.Fprintf(&columns, "&column=m%d.o%d", i%60, i/60%100)
	}
	all := []costlyRequest{
		getRequest("all columns", pages+"/responses?"+columns.String()[1:], withSession),
		getRequest("long column", pages+"/responses?column="+strings.Repeat("x", 24<<10), withSession),
		getRequest("long search", pages+"/responses?search="+strings.Repeat("x", 24<<10), withSession),
		getRequest("deleted", pages+"/responses?deleted="+strings.Repeat("x,", 12<<10), withSession),
		getRequest("preview page", pages+"/preview?page=0", withSession),
		getRequest("flow", "/forms/"+flow+"/flow", withSession),
		getRequest("next", "/signin?next=/"+strings.Repeat("x", 24<<10), anonymous),
	}
	restored, uris := url.Values{}, url.Values{"name": {"App"}, "scope": slices.Repeat([]string{"forms:read"}, 800), "redirect_uris": {strings.Repeat("https://a.example/\n", 2_000)}}
	for i := range 1_200 {
		restored.Add("response", fmt.Sprintf("rsp_01k9z8m7q3e4r5t6y7v8w9%04d", i))
	}
	all = append(all,
		costlyRequest{name: "restore", method: "POST", path: pages + "/responses/restore", as: withSession, contentType: formType, body: restored.Encode()},
		costlyRequest{name: "application", method: "POST", path: "/applications", as: withSession, contentType: formType, body: uris.Encode()},
		costlyRequest{name: "sites", method: "POST", path: pages + "/share", as: withSession, contentType: formType, body: url.Values{"slug": {"x"}, "sites": {strings.Repeat("https://a.example ", 3_000)}}.Encode()})
	for _, page := range []string{"/responses", "/summary", "/build", "/share", "/flow", "/preview", "/code/qr.png", "/code/qr.svg"} {
		all = append(all, getRequest(page, pages+page, withSession))
	}
	return all
}
