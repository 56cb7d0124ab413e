package e2e

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"formulary/internal/form"
	"formulary/internal/store"
)

// addResponse stores a response with the given time.
func (d ownerDB) addResponse(path string, answers map[string]any, at time.Time) string {
	d.t.Helper()
	ctx := context.Background()
	public, err := d.db.PublicForm(ctx, strings.TrimPrefix(path, "/f/"))
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := d.db.SubmitResponse(ctx, store.Submission{Form: public, Answers: answers, At: at})
	if err != nil {
		d.t.Fatal(err)
	}
	return r.ID
}

const pollForm = `{"fields": [
	{"key": "who", "kind": "short_text", "label": "Who?"},
	{"key": "colour", "kind": "single_choice", "label": "Which colour?", "options": [{"value": "red", "label": "Red"}, {"value": "blue", "label": "Deep blue"}]},
	{"key": "stars", "kind": "rating", "label": "How good?"},
	{"key": "likely", "kind": "scale", "label": "How likely?", "min": 0, "max": 10},
	{"key": "days", "kind": "multiple_choice", "label": "Which days?", "options": [{"value": "fri", "label": "Friday"}, {"value": "sat", "label": "Saturday"}]},
	{"key": "mail", "kind": "email", "label": "Mail"},
	{"key": "note", "kind": "long_text", "label": "Anything else?"}]}`

// createPoll publishes a form with 60 responses, one per hour. Odd ones chose blue.
func createPoll(d ownerDB) (id string, from time.Time) {
	d.t.Helper()
	path := d.publish(form.FormInput{Header: form.Header{Title: "Poll", Language: "en"}, Availability: form.Availability{Sites: form.AnySite}, Definition: parseDefinition(d.t, pollForm)})
	from = time.Date(2026, 3, 1, 0, 30, 0, 0, time.UTC)
	for n := range 60 {
		answers := map[string]any{"who": fmt.Sprintf("Person %02d", n), "colour": []string{"red", "blue"}[n%2], "stars": float64(n%5 + 1), "likely": float64(n % 11)}
		if n%3 == 0 {
			answers["days"] = []string{"fri", "sat"}
			answers["mail"] = fmt.Sprintf("person%02d@example.com", n)
		}
		if n == 7 {
			answers["note"] = "=1+1, \"quoted\"\nand a second line"
		}
		d.addResponse(path, answers, from.Add(time.Duration(n)*time.Hour))
	}
	return strings.TrimPrefix(path, "/f/"), from
}

// shownPeople returns the names in the table of responses.
func (b *tab) shownPeople() []string {
	b.t.Helper()
	return run(b, chromedp.Evaluate[[]string](`(() => {
		const column = Array.from(document.querySelectorAll(".response-table thead > tr > *")).findIndex((e) => e.textContent === "Who?");
		return Array.from(document.querySelectorAll(".response-table tbody tr"), (row) => row.children[column].textContent);
	})()`))
}

func personNames(numbers ...int) (list []string) {
	for _, n := range numbers {
		list = append(list, fmt.Sprintf("Person %02d", n))
	}
	return list
}

// downTo returns the numbers from one to another in descending steps.
func downTo(from, to, step int) (list []int) {
	for n := from; n >= to; n -= step {
		list = append(list, n)
	}
	return list
}

func (b *tab) wantPeople(numbers ...int) {
	b.t.Helper()
	if diff := cmp.Diff(personNames(numbers...), b.shownPeople()); diff != "" {
		b.t.Errorf("responses (-want +got):\n%s", diff)
	}
}

// useTable shows the responses of a form as a table.
func (d ownerDB) useTable(id string) {
	d.t.Helper()
	if err := d.db.SaveResponseLayout(context.Background(), d.owner, id, d.owner, store.ResponseLayout{Table: true}); err != nil {
		d.t.Fatal(err)
	}
}

// The table works with and without JavaScript.
func TestResponses(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		t.Run(fmt.Sprintf("script %t", script), func(t *testing.T) {
			t.Parallel()
			s := start(t)
			d := openOwnerDB(t, s)
			id, _ := createPoll(d)
			d.useTable(id)
			b := signedInTab(t, s, ada)
			if !script {
				b.disableScript()
			}
			responses := "/forms/" + id + "/responses"
			b.wantStatus(b.open(responses), 200)
			b.wantText("1–25 of 60")
			b.wantPeople(downTo(59, 35, 1)...)
			b.wantStatus(b.press(link("Next")), 200)
			b.wantPeople(downTo(34, 10, 1)...)
			b.wantStatus(b.press(link("Next")), 200)
			b.wantPeople(downTo(9, 0, 1)...)
			b.wantText("51–60 of 60")
			if b.count(`[rel="next"]`) != 0 {
				t.Error("there is a page after the last")
			}

			// A click on a column sorts by it; another reverses the order.
			b.wantStatus(b.open(responses), 200)
			b.wantStatus(b.press(`.response-table thead a`), 200)
			b.wantStatus(b.press(`.response-table [aria-sort="ascending"] a`), 200)
			if b.count(`.response-table [aria-sort="descending"]`) != 1 {
				t.Error("the second click does not reverse the order")
			}

			// Filters stay when the page changes.
			menu := func(name string) {
				b.do(chromedp.Click(fmt.Sprintf(`//div[contains(@class, "list-")]//summary[normalize-space()=%q]`, name)))
			}
			b.wantStatus(b.open(responses+"?order=oldest"), 200)
			menu("Filter")
			if script {
				// The menu suggests the comparisons and options of the question.
				b.pick(`[name="field"]`, "colour")
				offered := run(b, chromedp.Evaluate[[]string](`[...document.querySelectorAll("[name=op] option:not([hidden]), select[name=value] option")].map((o) => o.textContent)`))
				if diff := cmp.Diff([]string{"is", "is not", "is answered", "is not answered", "Red", "Deep blue"}, offered); diff != "" {
					t.Errorf("offered (-want +got):\n%s", diff)
				}
				b.pick(`select[name="value"]`, "Deep blue")
			} else {
				b.do(chromedp.SetValue(`[name="field"]`, "colour"))
				b.fill(`[name="value"]`, "blue")
			}
			b.wantStatus(b.press(button("Add filter")), 200)
			b.wantText("1–25 of 30", "Which colour? is Deep blue")
			b.wantStatus(b.press(link("Next")), 200)
			b.wantText("26–30 of 30")
			b.wantPeople(51, 53, 55, 57, 59)
			b.wantStatus(b.press(link("Clear filters")), 200)
			b.wantText("1–25 of 60")

			b.fill(`[name="search"]`, "second LINE")
			b.wantStatus(b.navigate(chromedp.SendKeys(`[name="search"]`, "\r")), 200)
			b.wantPeople(7)
			b.wantStatus(b.open(responses), 200)
			menu("Filter")
			b.do(chromedp.SetValue(`[name="since"]`, "2026-03-02"), chromedp.SetValue(`[name="until"]`, "2026-03-02"))
			b.wantStatus(b.press(`.divided button`), 200)
			b.wantPeople(downTo(47, 24, 1)...)

			// The table shows the selected columns, in the chosen order, also next time.
			menu("Columns")
			for _, key := range []string{"colour", "stars", "likely", "days"} {
				b.do(chromedp.Click(fmt.Sprintf(`[name="column"][value=%q]`, key)))
			}
			b.do(chromedp.Click(`[name="column"][value="mail"]`))
			b.wantStatus(b.press(".columns-form > button"), 200)
			menu("Columns")
			if script {
				b.do(chromedp.Click(`[value="up:mail"]`))
				b.wantStatus(b.press(".columns-form > button"), 200)
			} else {
				b.wantStatus(b.press(`[value="up:mail"]`), 200)
			}
			head := run(b, chromedp.Evaluate[[]string](`Array.from(document.querySelectorAll(".response-table thead th"), (e) => e.textContent)`))
			if diff := cmp.Diff([]string{"Submitted", "Mail", "Who?"}, head); diff != "" {
				t.Errorf("columns (-want +got):\n%s", diff)
			}
			b.wantPeople(downTo(47, 24, 1)...)

			// Deleting the selected responses keeps the filter and can be undone.
			if script {
				b.do(chromedp.Click(`.response-table thead .select-cell input`))
				b.wait(`document.querySelector(".selection-bar").innerText.includes("24 selected")`)
				b.do(chromedp.Click(`.response-table thead .select-cell input`))
			}
			b.do(chromedp.Click(`.response-table tbody tr:nth-child(1) .select-cell input`), chromedp.Click(`.response-table tbody tr:nth-child(3) .select-cell input`))
			b.wantStatus(b.press(".selection-bar .danger"), 200)
			b.wantText("2 responses deleted.")
			b.wantPeople(append([]int{46}, downTo(44, 24, 1)...)...)
			if n := len(d.readStored("/f/" + id)); n != 58 {
				t.Errorf("%d responses are stored, want 58", n)
			}
			b.wantStatus(b.press(button("Undo")), 200)
			b.wantText("Responses restored.", "1–25 of 60")
			if n := len(d.readStored("/f/" + id)); n != 60 {
				t.Errorf("%d responses are stored after undo, want 60", n)
			}
			b.wantPeople(downTo(59, 35, 1)...)

			// A single response and its neighbors.
			b.wantStatus(b.press(".response-table tbody tr:nth-child(2) th a"), 200)
			b.wantText("Person 58", "How good?", "version 1")
			b.wantStatus(b.press(link("Older")), 200)
			b.wantText("Person 57", "Deep blue", "person57@example.com")
			b.wantStatus(b.press(link("Newer")), 200)
			b.wantStatus(b.press(link("Newer")), 200)
			b.wantText("Person 59")
			if b.count(`[rel="prev"]`) != 0 {
				t.Error("there is a newer response than the newest")
			}
			b.do(chromedp.Click(`.detail-actions .menu summary`))
			b.wantStatus(b.press(`.detail-actions button.danger`), 200)
			b.wantText("deleted.", "1–25 of 59")
		})
	}
}

// TestExport: exports contain exactly the responses that the table shows, from all
// pages.
func TestExport(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	d.setTimeZone("America/New_York")
	id, _ := createPoll(d)
	b := signedInTab(t, s, ada)
	get := func(kind string) string {
		t.Helper()
		return run(b, chromedp.Evaluate[string](fmt.Sprintf(`fetch(Array.from(document.querySelectorAll("details.menu a")).find((a) => a.textContent === %q).href)
			.then(async (r) => { if (!r.ok || !r.headers.get("Content-Disposition").startsWith("attachment")) throw new Error(r.status);
				return Array.from(new Uint8Array(await r.arrayBuffer()), (n) => String.fromCharCode(n)).join(""); })`, kind), chromedp.EvalAwaitPromise))
	}
	for _, test := range []struct {
		name  string
		query url.Values
		want  []int
	}{
		{"all", nil, downTo(59, 0, 1)},
		{"an answer", url.Values{"where": {"colour"}, "is": {"blue"}}, downTo(59, 1, 2)},
		{"search", url.Values{"search": {"person 1"}}, downTo(19, 10, 1)},
		// A day in New York starts at 05:00 UTC.
		{"a day", url.Values{"since": {"2026-03-01"}, "until": {"2026-03-01"}}, downTo(28, 5, 1)},
		{"nothing", url.Values{"search": {"nobody said this"}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := &tab{t, b.ctx, b.site, b.monitor}
			b.wantStatus(b.open("/forms/"+id+"/responses?"+test.query.Encode()), 200)
			rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(get("CSV"), "\u00ef\u00bb\u00bf"))).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			column := -1
			for i, label := range rows[0] {
				if label == "Who?" {
					column = i
				}
			}
			if column < 0 {
				t.Fatalf("no column for the question in %q", rows[0])
			}
			names := map[string]bool{}
			for _, row := range rows[1:] {
				names[row[column]] = true
			}
			want := map[string]bool{}
			for _, name := range personNames(test.want...) {
				want[name] = true
			}
			if diff := cmp.Diff(want, names); diff != "" || len(rows)-1 != len(test.want) {
				t.Errorf("%d rows of CSV (-want +got):\n%s", len(rows)-1, diff)
			}
			if lines := strings.Count(get("JSON Lines"), "\n"); lines != len(test.want) {
				t.Errorf("%d lines of JSON, want %d", lines, len(test.want))
			}
			if book := get("Excel (XLSX)"); !strings.HasPrefix(book, "PK") {
				t.Errorf("the workbook begins with %.4q", book)
			}
		})
	}
}

// TestSummary: the page shows the same numbers as the API.
func TestSummary(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	id, _ := createPoll(d)
	app := s.AddApp(ada, "https://shop.example/callback")
	token := s.Token(ada, app, "responses:read").Access
	b := signedInTab(t, s, ada)
	b.wantStatus(b.open("/forms/"+id+"/summary"), 200)
	type count struct {
		Label string
		Count float64
	}
	type questionSummary struct {
		Key     string
		Text    string
		Choices []count
	}
	shown := run(b, chromedp.Evaluate[[]questionSummary](`Array.from(document.querySelectorAll(".question-summary"), (e) => ({
		Key: e.id, Text: e.querySelector("p.muted").innerText,
		Choices: Array.from(e.querySelectorAll("tbody tr"), (row) => ({ Label: row.children[0].textContent, Count: Number(row.children[1].textContent) })) }))`))
	answer := s.Call("GET", "/api/v1/forms/"+id+"/summary", token, "")
	if answer.StatusCode != 200 {
		t.Fatalf("the API says %d: %s", answer.StatusCode, answer.Text)
	}
	b.wantText(fmt.Sprintf("Responses: %v", answer.Body["responses"]))
	questions := answer.Body["questions"].([]any)
	if len(questions) != 7 || len(shown) != len(questions) {
		t.Fatalf("%d questions shown, %d in the API, want 7", len(shown), len(questions))
	}
	for i, q := range questions {
		question := q.(map[string]any)
		page := shown[i]
		if page.Key != question["key"] {
			t.Errorf("question %d is %s, in the API %s", i, page.Key, question["key"])
		}
		want := []string{fmt.Sprintf("%v answer", question["answered"])}
		for _, name := range []string{"average", "nps"} {
			if n, ok := question[name].(float64); ok {
				want = append(want, strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", n), "0"), "."))
			}
		}
		for _, text := range want {
			if !strings.Contains(page.Text, text) {
				t.Errorf("%s: the page says %q, want %q in it", page.Key, page.Text, text)
			}
		}
		choices := []count{}
		list, _ := question["choices"].([]any)
		for _, c := range list {
			choice := c.(map[string]any)
			choices = append(choices, count{choice["label"].(string), choice["count"].(float64)})
		}
		if diff := cmp.Diff(choices, page.Choices); diff != "" {
			t.Errorf("%s (-API +page):\n%s", page.Key, diff)
		}
	}
	days := run(b, chromedp.Evaluate[map[string]float64](`Object.fromEntries(Array.from(document.querySelectorAll("#main [aria-labelledby=by-day] tbody tr"), (row) => [row.querySelector("time").dateTime, Number(row.children[1].textContent)]))`))
	want := map[string]float64{}
	for _, day := range answer.Body["days"].([]any) {
		entry := day.(map[string]any)
		want[entry["date"].(string)] = entry["responses"].(float64)
	}
	if diff := cmp.Diff(want, days); diff != "" || len(days) != 3 {
		t.Errorf("days (-API +page):\n%s", diff)
	}
	for _, selector := range []string{"#main [aria-labelledby=by-day] svg.chart", "#colour svg.chart", "#stars svg.chart", "#likely svg.chart", "#days svg.chart"} {
		if b.count(selector) == 0 {
			t.Errorf("there is no %s", selector)
		}
	}
	// Two periods, two questions, and a search in the texts.
	b.wantStatus(b.open("/forms/"+id+"/summary?since=2026-03-02&until=2026-03-03&compare=1&rows=colour&columns=days"), 200)
	b.wantText("compared with the 2 days before", "36", "50 % more")
	if b.count(".chart-before") != 1 || b.count(".heat [data-heat] a") == 0 {
		t.Error("the periods or the questions are not compared")
	}
	b.fill(`#who input[type=search]`, "son 4")
	b.wait(`document.querySelectorAll("#who li mark").length === 10`)
	for _, v := range b.axeViolations() {
		t.Error(v)
	}
}
