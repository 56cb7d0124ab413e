package cli_test

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// answerFamilies are JSON submissions, which anyone can send.
func answerFamilies() []family {
	return []family{
		{name: "lists", build: expensiveLists},
		{name: "choices", build: expensiveChoices},
		{name: "unknown", build: expensiveUnknown},
		{name: "deep", build: expensiveDeep},
		{name: "expressions", build: expensiveExpressions},
		{name: "conditions", build: expensiveConditions},
		{name: "numbers", build: expensiveNumbers},
		{name: "submissions", build: expensiveSubmissions, background: attackFromMany},
	}
}

// distinctTexts returns different texts with a prefix that take size bytes as JSON.
func distinctTexts(prefix string, size int) []any {
	var list []any
	for i := 0; size > 0; i++ {
		text := prefix + strconv.FormatInt(int64(i), 36)
		list = append(list, text)
		size -= len(text) + 3
	}
	return list
}

// expensiveLists sends long lists to each kind of question that accepts a list or an
// object, and to kinds that do not.
func expensiveLists(w *costFixture) []costlyRequest {
	id := w.publishForm(map[string]any{"title": "Lists", "fields": []any{
		question("mc", "multiple_choice", "options", options(200), "other", true),
		question("strict", "multiple_choice", "options", options(200)),
		question("rank", "ranking", "options", options(50)),
		question("grid", "matrix", "rows", options(100), "options", options(80), "several", true),
		question("name", "name"), question("address", "address"), question("text", "long_text"), question("one", "single_choice", "options", options(200), "other", true),
	}})
	var all []costlyRequest
	for _, size := range w.bodySizes() {
		words := distinctTexts("w", size)
		same := slices.Repeat([]any{"o199"}, size/7)
		object := map[string]any{}
		for _, word := range distinctTexts("p", size-size/4) {
			object[word.(string)] = 0
		}
		grid := map[string]any{}
		for i := range 100 {
			grid[fmt.Sprintf("o%d", i)] = slices.Repeat([]any{"o99", "o98"}, size/100/12)
		}
		long := strings.Repeat("é", size/100)
		for name, answers := range map[string]map[string]any{
			"own words":         {"mc": words},
			"repeated option":   {"mc": same},
			"long own words":    {"mc": slices.Repeat([]any{long}, 50)},
			"not offered":       {"strict": words},
			"repeated strict":   {"strict": same},
			"ranking":           {"rank": same},
			"ranking words":     {"rank": words},
			"matrix lists":      {"grid": grid},
			"matrix rows":       {"grid": object},
			"name parts":        {"name": object},
			"address parts":     {"address": object},
			"list for a text":   {"text": words},
			"object for choice": {"one": object},
		} {
			all = append(all, submitRequest(fmt.Sprintf("%s, %d KB", name, size>>10), id, answers))
		}
		controls := url.Values{"mc": slices.Repeat([]string{"_other"}, size/2/10), "mc.other": {strings.Repeat("x", size/2)}, "_page": {"0"}, "_action": {"look"}}
		all = append(all, postRequest(fmt.Sprintf("other ticked often, %d KB", size>>10), id, controls))
	}
	return all
}

// expensiveChoices selects every option of questions with many, in random order.
func expensiveChoices(w *costFixture) []costlyRequest {
	id, n := w.publishLargest(w.scaled(1000, 300), func(n int) map[string]any {
		fields := []any{}
		for i := range 7 {
			fields = append(fields, question(fmt.Sprintf("m%d", i), "multiple_choice", "options", options(n)))
		}
		return map[string]any{"title": "Choices", "fields": fields}
	})
	answers := map[string]any{}
	var values []any
	for i := range n {
		values = append(values, fmt.Sprintf("o%d", n-1-i))
	}
	controls := url.Values{"_page": {"0"}, "_action": {"look"}}
	for i := range 7 {
		key := fmt.Sprintf("m%d", i)
		w.rand.Shuffle(len(values), func(a, b int) { values[a], values[b] = values[b], values[a] })
		answers[key] = slices.Clone(values)
		for _, value := range values {
			controls.Add(key, value.(string))
		}
	}
	return []costlyRequest{submitRequest("all options", id, answers), postRequest("all options, look", id, controls)}
}

// expensiveUnknown sends keys that the form does not have. The error response lists
// each.
func expensiveUnknown(w *costFixture) []costlyRequest {
	fields := []any{}
	for i := range 500 {
		fields = append(fields, question(fmt.Sprintf("f%d", i), "yes_no", "required", true))
	}
	id := w.publishForm(map[string]any{"title": "Unknown", "fields": fields})
	var all []costlyRequest
	for _, size := range w.bodySizes() {
		answers := map[string]any{}
		for _, key := range distinctTexts("k", size*3/4) {
			answers[key.(string)] = 0
		}
		all = append(all, submitRequest(fmt.Sprintf("unknown keys, %d KB", size>>10), id, answers))
		long := map[string]any{}
		for i := range 100 {
			long[strconv.Itoa(i)+strings.Repeat("k", size/101)] = 0
		}
		all = append(all, submitRequest(fmt.Sprintf("long unknown keys, %d KB", size>>10), id, long))
	}
	return all
}

// expensiveDeep sends values that are deep, wide, or that have a long path for every
// member.
func expensiveDeep(w *costFixture) []costlyRequest {
	id := w.publishForm(map[string]any{"title": "Deep", "fields": []any{question("a", "long_text"), question("m", "matrix", "rows", options(2), "options", options(2))}})
	var all []costlyRequest
	for _, size := range w.bodySizes() {
		nulls := strings.TrimSuffix(strings.Repeat("null,", size/10), ",")
		open := strings.Repeat("[", 55)
		close := strings.Repeat("]", 55)
		for name, body := range map[string]string{
			"nulls under a long key": `{"answers":{"` + strings.Repeat("k", size/2-60) + `":[` + nulls + `]}}`,
			"nulls, deep":            `{"answers":{"a":` + open + nulls + close + `}}`,
			"deep lists":             `{"answers":{"a":[` + strings.TrimSuffix(strings.Repeat(open+close+",", size/111), ",") + `]}}`,
			"too deep":               `{"answers":{"a":` + strings.Repeat("[", size-60) + `}}`,
			"empty objects":          `{"answers":{"a":[` + strings.TrimSuffix(strings.Repeat("{},", size/3-30), ",") + `]}}`,
			"escapes":                `{"answers":{"a":"` + strings.Repeat(`\u00e9`, size/6-30) + `"}}`,
			"spaces":                 `{"answers":` + strings.Repeat(" ", size-60) + `{"a":"x"}}`,
			"duplicate key":          `{"answers":{` + strings.TrimSuffix(strings.Repeat(`"a":1,`, size/6-30), ",") + `}}`,
			"unknown member":         `{"` + strings.Repeat("x", size-40) + `":1}`,
		} {
			all = append(all, costlyRequest{name: fmt.Sprintf("%s, %d KB", name, size>>10), method: "POST", path: "/f/" + id, contentType: jsonType, body: body})
			// The escape keeps the body from the fast parser.
			body = strings.Replace(body, `"answers"`, `"\u0061nswers"`, 1)
			all = append(all, costlyRequest{name: fmt.Sprintf("%s, escaped, %d KB", name, size>>10), method: "POST", path: "/f/" + id, contentType: jsonType, body: body})
		}
	}
	return all
}

// expensiveExpressions uses calculations that grow, repeat and depend on each other.
func expensiveExpressions(w *costFixture) []costlyRequest {
	long := strings.Repeat("x", 19_000)
	var all []costlyRequest
	for _, f := range []struct {
		name       string
		expression func(i int) string
	}{
		{"concatenation", func(int) string { return "t" + strings.Repeat(" + t", 90) }},
		{"chain", func(i int) string {
			if i == 0 {
				return "t + t"
			}
			return fmt.Sprintf("c%d + c%d + t", i-1, i-1)
		}},
		{"folding", func(int) string {
			return "len(" + strings.Repeat("lower(upper(", 40) + "t" + strings.Repeat("))", 40) + ")"
		}},
		{"finding", func(int) string {
			return strings.TrimSuffix(strings.Repeat(`indexOf(t, "`+strings.Repeat("x", 20)+`y") + `, 20), " + ")
		}},
	} {
		id, _ := w.publishLargest(w.scaled(240, 60), func(n int) map[string]any {
			fields := []any{question("t", "long_text")}
			for i := range n {
				fields = append(fields, question(fmt.Sprintf("c%d", i), "calculated", "concealed", i%2 == 0, "expression", f.expression(i)))
			}
			return map[string]any{"title": "Expressions", "fields": fields}
		})
		all = append(all, submitRequest(f.name, id, map[string]any{"t": long}))
		controls := url.Values{"t": {long}, "_page": {"0"}}
		for _, action := range []string{"look", "next"} {
			controls.Set("_action", action)
			all = append(all, postRequest(f.name+", "+action, id, controls))
		}
		all = append(all, getRequest(f.name+", page", "/f/"+id+"?t=x", anonymous))
	}
	// Each expression can refer to every earlier question.
	id, _ := w.publishLargest(w.scaled(60, 10), func(n int) map[string]any {
		fields := []any{question("t", "long_text")}
		for i := range n {
			fields = append(fields, question(fmt.Sprintf("m%d", i), "matrix", "rows", options(100), "options", options(1)))
		}
		for i := range 3 * n {
			fields = append(fields, question(fmt.Sprintf("c%d", i), "calculated", "expression", "1"))
		}
		return map[string]any{"title": "Expressions", "fields": fields}
	})
	return append(all, submitRequest("many questions", id, map[string]any{"t": "x"}),
		postRequest("many questions, look", id, url.Values{"_page": {"0"}, "_action": {"look"}}), getRequest("many questions, schema", "/api/v1/forms/"+id+"/schema", withToken))
}

// expensiveConditions evaluates hundreds of conditions on one long answer.
func expensiveConditions(w *costFixture) []costlyRequest {
	long := strings.Repeat("Äx", 9_500)
	var selected []any
	selectedForm := url.Values{}
	for i := range 200 {
		selected = append(selected, fmt.Sprintf("o%d", i))
		selectedForm.Add("t", fmt.Sprintf("o%d", i))
	}
	var all []costlyRequest
	for _, c := range []struct {
		name          string
		first         map[string]any
		op            string
		value         any
		answer        any
		controls      url.Values
		maxConditions int
	}{
		{"contains", question("t", "long_text"), "contains", "äxy", long, url.Values{"t": {long}}, w.scaled(3000, 600)},
		{"equals", question("t", "long_text"), "equals", "x", long, url.Values{"t": {long}}, w.scaled(3000, 600)},
		{"lists", question("t", "multiple_choice", "options", options(200)), "equals", append([]any{"other"}, selected[1:]...), selected, selectedForm, w.scaled(100, 40)},
	} {
		id, _ := w.publishLargest(c.maxConditions, func(n int) map[string]any {
			fields := []any{c.first}
			for from := 0; from < n; from += 12 { // 12 conditions per question
				condition := map[string]any{"field": "t", "op": c.op, "value": c.value}
				fields = append(fields, question(fmt.Sprintf("f%d", from), "short_text", "show_if", map[string]any{"any": slices.Repeat([]any{condition}, min(12, n-from))}))
			}
			return map[string]any{"title": "Conditions", "fields": fields}
		})
		c.controls.Set("_page", "0")
		for _, action := range []string{"look", "next"} {
			c.controls.Set("_action", action)
			all = append(all, postRequest(c.name+", "+action, id, c.controls))
		}
		all = append(all, submitRequest(c.name, id, map[string]any{"t": c.answer}))
	}
	return all
}

// expensiveNumbers sends texts that are hard to parse as numbers, dates or addresses.
func expensiveNumbers(w *costFixture) []costlyRequest {
	kinds := []string{"number", "slider", "rating", "date", "time", "datetime", "email", "url", "phone", "country"}
	var fields []any
	for _, kind := range kinds {
		properties := []any{}
		if kind == "number" {
			properties = []any{"step", 0.0001}
		}
		fields = append(fields, question(kind, kind, properties...))
	}
	id := w.publishForm(map[string]any{"title": "Numbers", "fields": fields})
	var all []costlyRequest
	for _, size := range w.bodySizes() {
		digits := strings.Repeat("7", size-200)
		for name, value := range map[string]string{"digits": digits, "fraction": "0." + digits, "exponent": "1e" + digits, "zeros": "0." + strings.Repeat("0", size-210) + "1"} {
			all = append(all, costlyRequest{name: fmt.Sprintf("%s, %d KB", name, size>>10), method: "POST", path: "/f/" + id, contentType: jsonType, body: `{"answers":{"number":` + value + `}}`})
		}
		for _, text := range []string{"1.111.", "1,", "٣", "a@a.", "https://a/", "+49 ", "2026-01-01", " "} {
			controls := url.Values{"_page": {"0"}, "_action": {"look"}}
			answers := map[string]any{}
			for _, kind := range kinds {
				value := strings.Repeat(text, size/len(kinds)/len(url.QueryEscape(text))-20)
				controls.Set(kind, value)
				answers[kind] = value
			}
			all = append(all, postRequest(fmt.Sprintf("%q in every kind, %d KB", text, size>>10), id, controls), submitRequest(fmt.Sprintf("%q in every kind as JSON, %d KB", text, size>>10), id, answers))
		}
	}
	return all
}

// expensiveSubmissions sends many large submissions at once, which wait in the write queue.
func expensiveSubmissions(w *costFixture) []costlyRequest {
	var fields []any
	for i := range 50 {
		fields = append(fields, question(fmt.Sprintf("t%d", i), "long_text"))
	}
	id := w.publishForm(map[string]any{"title": "Intake", "fields": fields})
	var all []costlyRequest
	for _, size := range w.bodySizes() {
		answers := map[string]any{}
		for i := range 50 {
			answers[fmt.Sprintf("t%d", i)] = strings.Repeat("x", min(19_000, size/51))
		}
		all = append(all, submitRequest(fmt.Sprintf("stored, %d KB", size>>10), id, answers))
		keyed := submitRequest(fmt.Sprintf("with a key, %d KB", size>>10), id, answers)
		keyed.header = map[string]string{"Idempotency-Key": strings.Repeat("k", 250) + strconv.Itoa(size%1000)}
		all = append(all, keyed)
	}
	return all
}

// attackFromMany sends the requests on many connections at once.
func attackFromMany(w *costFixture, requests []costlyRequest, until <-chan struct{}) {
	w.attackWith(w.scaled(100, 8), requests, until)
}
