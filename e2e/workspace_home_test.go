package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"formulary/internal/form"
	"formulary/internal/store"
)

// listed are the titles in the list of forms, in its order.
func (b *tab) listed() []string {
	b.t.Helper()
	return ask(b, chromedp.Evaluate[[]string](`Array.from(document.querySelectorAll(".forms h2 a"), (e) => e.textContent)`))
}

func (b *tab) wantListed(want ...string) {
	b.t.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, b.listed()); diff != "" {
		b.t.Errorf("forms (-want +got):\n%s", diff)
	}
}

// shelf has a form of each status.
func shelf(d desk) (ids map[string]string) {
	d.t.Helper()
	ids = map[string]string{}
	for _, title := range []string{"Apple day", "Cherry survey", "Banana order"} {
		ids[title] = d.draft(form.FormInput{Header: form.Header{Title: title, Language: "en"}, Definition: asking(d.t, fruit)})
	}
	ctx := context.Background()
	for _, title := range []string{"Apple day", "Cherry survey"} {
		if _, err := d.db.Publish(ctx, d.owner, store.FormRevision{ID: ids[title]}, store.IdempotencyKey{}, time.Now()); err != nil {
			d.t.Fatal(err)
		}
	}
	d.close("/f/" + ids["Apple day"])
	return ids
}

func TestHome(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		t.Run(fmt.Sprintf("script %t", script), func(t *testing.T) {
			t.Parallel()
			s := start(t)
			b := visitor(t, s, ada)
			if !script {
				b.withoutScript()
				b.open("/")
			}
			b.wantWords("Your first form", "Blank form", "Customer feedback")
			d := openDesk(t, s)
			ids := shelf(d)
			b.wantStatus(b.open("/"), 200)
			b.wantListed("Banana order", "Cherry survey", "Apple day")

			show := func(search, status, sort string) {
				t.Helper()
				b.fill(`input[name="search"]`, search)
				b.do(chromedp.SetValue(`select[name="status"]`, status), chromedp.SetValue(`select[name="sort"]`, sort))
				b.wantStatus(b.press(".filter > button"), 200)
			}
			show("", "", "title")
			b.wantListed("Apple day", "Banana order", "Cherry survey")
			show("", "", "oldest")
			b.wantListed("Apple day", "Cherry survey", "Banana order")
			show("AN", "", "")
			b.wantListed("Banana order")
			show("", "open", "")
			b.wantListed("Cherry survey")
			show("", "closed", "")
			b.wantListed("Apple day")
			show("nothing like it", "draft", "title")
			b.wantListed()
			b.wantWords("Nothing found")
			b.wantStatus(b.press(link("Show all forms")), 200)
			b.wantListed("Banana order", "Cherry survey", "Apple day")

			// A copy, with its questions.
			more := func(title string) { b.do(chromedp.Click(fmt.Sprintf(`summary[aria-label="More about %s"]`, title))) }
			more("Cherry survey")
			b.wantStatus(b.press(fmt.Sprintf(`form[action="/forms/%s/duplicate"] button`, ids["Cherry survey"])), 200)
			b.wantWords("draft")
			b.wantStatus(b.open("/?sort=title"), 200)
			if n := len(b.listed()); n != 4 {
				t.Errorf("%d forms after copying one: %q", n, b.listed())
			}

			// Deleted, and back again.
			more("Apple day")
			b.wantStatus(b.press(fmt.Sprintf(`form[action="/forms/%s/delete"] button`, ids["Apple day"])), 200)
			b.wantWords("Deleted in the last hour", "Apple day")
			if got := b.listed(); len(got) != 3 {
				t.Errorf("after deleting one there are %q", got)
			}
			b.wantStatus(b.press(".bin button"), 200)
			b.wantWords("The form is back.", "Apple day")
			if got := b.listed(); len(got) != 4 {
				t.Errorf("after undoing there are %q", got)
			}
			b.wantStatus(b.open("/forms/"+ids["Apple day"]+"/responses"), 200)

			if script {
				return // what follows is the same with it
			}
			// More than a page.
			for n := range 30 {
				d.draft(form.FormInput{Header: form.Header{Title: fmt.Sprintf("Form %02d", n), Language: "en"}})
			}
			b.wantStatus(b.open("/?sort=title&search=Form"), 200)
			b.wantListed(numbered(0, 30)...)
			b.wantStatus(b.open("/?sort=title"), 200)
			b.wantStatus(b.press(link("Next")), 200)
			if got := len(b.listed()); got != 4 {
				t.Errorf("%d forms on the second page, want 4", got)
			}
			b.wantStatus(b.press(link("Previous")), 200)
			if got := len(b.listed()); got != 30 {
				t.Errorf("%d forms on the first page, want 30", got)
			}
		})
	}
}

func numbered(from, to int) (list []string) {
	for n := from; n < to; n++ {
		list = append(list, fmt.Sprintf("Form %02d", n))
	}
	return list
}

// A starter is there as it was described, ready to publish.
func TestStarters(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := visitor(t, s, ada)
	type starter struct {
		Name, Title string
	}
	all := ask(b, chromedp.Evaluate[[]starter](`Array.from(document.querySelectorAll(".starters [name=starter]"), (e) => ({ Name: e.value, Title: e.parentElement.querySelector("strong").textContent }))`))
	if len(all) != 8 {
		t.Fatalf("%d starters, want 8: %v", len(all), all)
	}
	for _, one := range all {
		b.wantStatus(b.open("/"), 200)
		place := ".starters"
		if b.count(place) == 0 {
			place = ".menu.new"
			b.do(chromedp.Click(place + " summary"))
		}
		b.wantStatus(b.press(fmt.Sprintf(`%s input[value=%q] + button`, place, one.Name)), 200)
		b.wait(`document.querySelectorAll(".fields > li").length > 4`)
		if got := ask(b, chromedp.Value(".title")); got != one.Title {
			t.Errorf("%s is called %q, want %q", one.Name, got, one.Title)
		}
		b.do(chromedp.Click(".tools .primary"), chromedp.WaitVisible("dialog form"))
		b.wantStatus(b.press("dialog .primary"), 200)
		b.wantWords(one.Title, "open")
	}
}
