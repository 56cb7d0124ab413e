package cli_test

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// answerFamilies are submissions as JSON, which anybody can send.
func answerFamilies() []family {
	return []family{
		{name: "lists", make: expensiveLists},
		{name: "choices", make: expensiveChoices},
		{name: "unknown", make: expensiveUnknown},
		{name: "deep", make: expensiveDeep},
		{name: "expressions", make: expensiveExpressions},
		{name: "conditions", make: expensiveConditions},
		{name: "numbers", make: expensiveNumbers},
		{name: "intake", make: expensiveIntake, beside: crowd},
	}
}

// distinct are texts of the given prefix that fill so many bytes of JSON.
func distinct(prefix string, size int) []any {
	var list []any
	for i := 0; size > 0; i++ {
		text := prefix + strconv.FormatInt(int64(i), 36)
		list = append(list, text)
		size -= len(text) + 3
	}
	return list
}

// Long lists for each kind that takes a list or an object, and for those that
// do not.
func expensiveLists(w *costWorld) []costly {
	id := w.open(map[string]any{"title": "Lists", "fields": []any{
		question("mc", "multiple_choice", "options", options(200), "other", true),
		question("strict", "multiple_choice", "options", options(200)),
		question("rank", "ranking", "options", options(50)),
		question("grid", "matrix", "rows", options(100), "options", options(80), "several", true),
		question("name", "name"), question("address", "address"), question("text", "long_text"), question("one", "single_choice", "options", options(200), "other", true),
	}})
	var all []costly
	for _, size := range w.sizes() {
		words := distinct("w", size)
		same := slices.Repeat([]any{"o199"}, size/7)
		object := map[string]any{}
		for _, word := range distinct("p", size-size/4) {
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
			all = append(all, submits(fmt.Sprintf("%s, %d KB", name, size>>10), id, answers))
		}
		in := url.Values{"mc": slices.Repeat([]string{"_other"}, size/2/10), "mc.other": {strings.Repeat("x", size/2)}, "_page": {"0"}, "_go": {"look"}}
		all = append(all, posts(fmt.Sprintf("other ticked often, %d KB", size>>10), id, in))
	}
	return all
}

// Every option of questions with many, in the worst order.
func expensiveChoices(w *costWorld) []costly {
	id, n := w.largest(w.some(1000, 300), func(n int) map[string]any {
		fields := []any{}
		for i := range 7 {
			fields = append(fields, question(fmt.Sprintf("m%d", i), "multiple_choice", "options", options(n)))
		}
		return map[string]any{"title": "Choices", "fields": fields}
	})
	answers := map[string]any{}
	var backwards []any
	for i := range n {
		backwards = append(backwards, fmt.Sprintf("o%d", n-1-i))
	}
	in := url.Values{"_page": {"0"}, "_go": {"look"}}
	for i := range 7 {
		key := fmt.Sprintf("m%d", i)
		w.rand.Shuffle(len(backwards), func(a, b int) { backwards[a], backwards[b] = backwards[b], backwards[a] })
		answers[key] = slices.Clone(backwards)
		for _, value := range backwards {
			in.Add(key, value.(string))
		}
	}
	return []costly{submits("all options", id, answers), posts("all options, look", id, in)}
}

// Keys that the form does not have: each is a detail of the answer.
func expensiveUnknown(w *costWorld) []costly {
	fields := []any{}
	for i := range 500 {
		fields = append(fields, question(fmt.Sprintf("f%d", i), "yes_no", "required", true))
	}
	id := w.open(map[string]any{"title": "Unknown", "fields": fields})
	var all []costly
	for _, size := range w.sizes() {
		answers := map[string]any{}
		for _, key := range distinct("k", size*3/4) {
			answers[key.(string)] = 0
		}
		all = append(all, submits(fmt.Sprintf("unknown keys, %d KB", size>>10), id, answers))
		long := map[string]any{}
		for i := range 100 {
			long[strconv.Itoa(i)+strings.Repeat("k", size/101)] = 0
		}
		all = append(all, submits(fmt.Sprintf("long unknown keys, %d KB", size>>10), id, long))
	}
	return all
}

// Values that are deep, wide, or repeat a long path to every member.
func expensiveDeep(w *costWorld) []costly {
	id := w.open(map[string]any{"title": "Deep", "fields": []any{question("a", "long_text"), question("m", "matrix", "rows", options(2), "options", options(2))}})
	var all []costly
	for _, size := range w.sizes() {
		nulls := strings.TrimSuffix(strings.Repeat("null,", size/10), ",")
		nest := strings.Repeat("[", 55)
		shut := strings.Repeat("]", 55)
		for name, body := range map[string]string{
			"nulls under a long key": `{"answers":{"` + strings.Repeat("k", size/2-60) + `":[` + nulls + `]}}`,
			"nulls, deep":            `{"answers":{"a":` + nest + nulls + shut + `}}`,
			"deep lists":             `{"answers":{"a":[` + strings.TrimSuffix(strings.Repeat(nest+shut+",", size/111), ",") + `]}}`,
			"too deep":               `{"answers":{"a":` + strings.Repeat("[", size-60) + `}}`,
			"empty objects":          `{"answers":{"a":[` + strings.TrimSuffix(strings.Repeat("{},", size/3-30), ",") + `]}}`,
			"escapes":                `{"answers":{"a":"` + strings.Repeat(`\u00e9`, size/6-30) + `"}}`,
			"spaces":                 `{"answers":` + strings.Repeat(" ", size-60) + `{"a":"x"}}`,
			"duplicate key":          `{"answers":{` + strings.TrimSuffix(strings.Repeat(`"a":1,`, size/6-30), ",") + `}}`,
			"unknown member":         `{"` + strings.Repeat("x", size-40) + `":1}`,
		} {
			all = append(all, costly{name: fmt.Sprintf("%s, %d KB", name, size>>10), method: "POST", path: "/f/" + id, kind: jsonType, body: body})
			// The same, written so that no quicker reader takes it.
			body = strings.Replace(body, `"answers"`, `"\u0061nswers"`, 1)
			all = append(all, costly{name: fmt.Sprintf("%s, escaped, %d KB", name, size>>10), method: "POST", path: "/f/" + id, kind: jsonType, body: body})
		}
	}
	return all
}

// Calculated fields that grow, repeat and depend on each other.
func expensiveExpressions(w *costWorld) []costly {
	long := strings.Repeat("x", 19_000)
	var all []costly
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
		id, _ := w.largest(w.some(240, 60), func(n int) map[string]any {
			fields := []any{question("t", "long_text")}
			for i := range n {
				fields = append(fields, question(fmt.Sprintf("c%d", i), "calculated", "concealed", i%2 == 0, "expression", f.expression(i)))
			}
			return map[string]any{"title": "Expressions", "fields": fields}
		})
		all = append(all, submits(f.name, id, map[string]any{"t": long}))
		in := url.Values{"t": {long}, "_page": {"0"}}
		for _, turn := range []string{"look", "next"} {
			in.Set("_go", turn)
			all = append(all, posts(f.name+", "+turn, id, in))
		}
		all = append(all, gets(f.name+", page", "/f/"+id+"?t=x", asNobody))
	}
	// Each expression sees every earlier question, whatever it uses.
	id, _ := w.largest(w.some(60, 10), func(n int) map[string]any {
		fields := []any{question("t", "long_text")}
		for i := range n {
			fields = append(fields, question(fmt.Sprintf("m%d", i), "matrix", "rows", options(100), "options", options(1)))
		}
		for i := range 3 * n {
			fields = append(fields, question(fmt.Sprintf("c%d", i), "calculated", "expression", "1"))
		}
		return map[string]any{"title": "Expressions", "fields": fields}
	})
	return append(all, submits("many questions", id, map[string]any{"t": "x"}),
		posts("many questions, look", id, url.Values{"_page": {"0"}, "_go": {"look"}}), gets("many questions, schema", "/api/v1/forms/"+id+"/schema", asToken))
}

// Hundreds of conditions on one long answer.
func expensiveConditions(w *costWorld) []costly {
	long := strings.Repeat("Äx", 9_500)
	var picked []any
	ticked := url.Values{}
	for i := range 200 {
		picked = append(picked, fmt.Sprintf("o%d", i))
		ticked.Add("t", fmt.Sprintf("o%d", i))
	}
	var all []costly
	for _, c := range []struct {
		name   string
		first  map[string]any
		op     string
		value  any
		answer any
		posted url.Values
		most   int
	}{
		{"contains", question("t", "long_text"), "contains", "äxy", long, url.Values{"t": {long}}, w.some(3000, 600)},
		{"equals", question("t", "long_text"), "equals", "x", long, url.Values{"t": {long}}, w.some(3000, 600)},
		{"lists", question("t", "multiple_choice", "options", options(200)), "equals", append([]any{"other"}, picked[1:]...), picked, ticked, w.some(100, 40)},
	} {
		id, _ := w.largest(c.most, func(n int) map[string]any {
			fields := []any{c.first}
			for from := 0; from < n; from += 12 { // several for each question
				condition := map[string]any{"field": "t", "op": c.op, "value": c.value}
				fields = append(fields, question(fmt.Sprintf("f%d", from), "short_text", "show_if", map[string]any{"any": slices.Repeat([]any{condition}, min(12, n-from))}))
			}
			return map[string]any{"title": "Conditions", "fields": fields}
		})
		c.posted.Set("_page", "0")
		for _, turn := range []string{"look", "next"} {
			c.posted.Set("_go", turn)
			all = append(all, posts(c.name+", "+turn, id, c.posted))
		}
		all = append(all, submits(c.name, id, map[string]any{"t": c.answer}))
	}
	return all
}

// Texts that are hard to read as numbers, dates or addresses.
func expensiveNumbers(w *costWorld) []costly {
	kinds := []string{"number", "slider", "rating", "date", "time", "datetime", "email", "url", "phone", "country"}
	var fields []any
	for _, kind := range kinds {
		more := []any{}
		if kind == "number" {
			more = []any{"step", 0.0001}
		}
		fields = append(fields, question(kind, kind, more...))
	}
	id := w.open(map[string]any{"title": "Numbers", "fields": fields})
	var all []costly
	for _, size := range w.sizes() {
		digits := strings.Repeat("7", size-200)
		for name, value := range map[string]string{"digits": digits, "fraction": "0." + digits, "exponent": "1e" + digits, "zeros": "0." + strings.Repeat("0", size-210) + "1"} {
			all = append(all, costly{name: fmt.Sprintf("%s, %d KB", name, size>>10), method: "POST", path: "/f/" + id, kind: jsonType, body: `{"answers":{"number":` + value + `}}`})
		}
		for _, text := range []string{"1.111.", "1,", "٣", "a@a.", "https://a/", "+49 ", "2026-01-01", " "} {
			in := url.Values{"_page": {"0"}, "_go": {"look"}}
			answers := map[string]any{}
			for _, kind := range kinds {
				value := strings.Repeat(text, size/len(kinds)/len(url.QueryEscape(text))-20)
				in.Set(kind, value)
				answers[kind] = value
			}
			all = append(all, posts(fmt.Sprintf("%q in every kind, %d KB", text, size>>10), id, in), submits(fmt.Sprintf("%q in every kind as JSON, %d KB", text, size>>10), id, answers))
		}
	}
	return all
}

// Many large submissions at once, which wait for the writer together.
func expensiveIntake(w *costWorld) []costly {
	var fields []any
	for i := range 50 {
		fields = append(fields, question(fmt.Sprintf("t%d", i), "long_text"))
	}
	id := w.open(map[string]any{"title": "Intake", "fields": fields})
	var all []costly
	for _, size := range w.sizes() {
		answers := map[string]any{}
		for i := range 50 {
			answers[fmt.Sprintf("t%d", i)] = strings.Repeat("x", min(19_000, size/51))
		}
		all = append(all, submits(fmt.Sprintf("stored, %d KB", size>>10), id, answers))
		keyed := submits(fmt.Sprintf("with a key, %d KB", size>>10), id, answers)
		keyed.header = map[string]string{"Idempotency-Key": strings.Repeat("k", 250) + strconv.Itoa(size%1000)}
		all = append(all, keyed)
	}
	return all
}

// crowd sends the requests on many connections at once.
func crowd(w *costWorld, requests []costly, until <-chan struct{}) {
	w.attackWith(w.some(100, 8), requests, until)
}
