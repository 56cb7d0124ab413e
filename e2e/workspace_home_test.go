package e2e

import (
	"context"
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

// listedTitles returns the titles in the list of forms.
func (b *tab) listedTitles() []string {
	b.t.Helper()
	return run(b, chromedp.Evaluate[[]string](`Array.from(document.querySelectorAll(".forms h2 a"), (e) => e.textContent)`))
}

func (b *tab) wantListed(want ...string) {
	b.t.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, b.listedTitles()); diff != "" {
		b.t.Errorf("forms (-want +got):\n%s", diff)
	}
}

// createForms creates a form of each status.
func createForms(d ownerDB) (ids map[string]string) {
	d.t.Helper()
	ids = map[string]string{}
	for _, title := range []string{"Apple day", "Cherry survey", "Banana order"} {
		ids[title] = d.createDraft(form.FormInput{Header: form.Header{Title: title, Language: "en"}, Definition: parseDefinition(d.t, fruitForm)})
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
			b := signedInTab(t, s, ada)
			if !script {
				b.disableScript()
				b.open("/")
			}
			b.wantText("Create your first form", "Blank form", "Customer feedback")
			d := openOwnerDB(t, s)
			ids := createForms(d)
			b.wantStatus(b.open("/"), 200)
			b.wantListed("Banana order", "Cherry survey", "Apple day")

			show := func(search, status, sort string) {
				t.Helper()
				b.fill(`input[name="search"]`, search)
				b.do(chromedp.SetValue(`select[name="status"]`, status), chromedp.SetValue(`select[name="sort"]`, sort))
				if !script {
					b.wantStatus(b.press(".filter > button"), 200)
					return
				}
				// The list follows without a button.
				b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#forms").replaceChildren(), document.querySelector("#search").dispatchEvent(new Event("input"))`))
				b.wait(`document.querySelector("#forms > *") !== null`)
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
			b.wantText("No results")
			b.wantStatus(b.press(link("Show all forms")), 200)
			b.wantListed("Banana order", "Cherry survey", "Apple day")

			// A copy with its questions.
			openMenu := func(title string) {
				b.do(chromedp.Click(fmt.Sprintf(`summary[aria-label="More options for %s"]`, title)))
			}
			openMenu("Cherry survey")
			b.wantStatus(b.press(fmt.Sprintf(`form[action="/forms/%s/duplicate"] button`, ids["Cherry survey"])), 200)
			b.wantText("Draft")
			b.wantStatus(b.open("/?sort=title"), 200)
			if n := len(b.listedTitles()); n != 4 {
				t.Errorf("%d forms after copying one: %q", n, b.listedTitles())
			}

			// Deleted and restored.
			openMenu("Apple day")
			b.wantStatus(b.press(fmt.Sprintf(`form[action="/forms/%s/delete"] button`, ids["Apple day"])), 200)
			b.wantText("Recently deleted", "Apple day")
			if got := b.listedTitles(); len(got) != 3 {
				t.Errorf("after deleting one there are %q", got)
			}
			b.wantStatus(b.press(".recently-deleted button"), 200)
			b.wantText("Form restored.", "Apple day")
			if got := b.listedTitles(); len(got) != 4 {
				t.Errorf("after undoing there are %q", got)
			}
			b.wantStatus(b.open("/forms/"+ids["Apple day"]+"/responses"), 200)

			if script {
				return // the rest does not depend on JavaScript
			}
			// More than one page.
			for n := range 30 {
				d.createDraft(form.FormInput{Header: form.Header{Title: fmt.Sprintf("Form %02d", n), Language: "en"}})
			}
			b.wantStatus(b.open("/?sort=title&search=Form"), 200)
			b.wantListed(numbered(0, 30)...)
			b.wantStatus(b.open("/?sort=title"), 200)
			b.wantStatus(b.press(link("Next")), 200)
			if got := len(b.listedTitles()); got != 4 {
				t.Errorf("%d forms on the second page, want 4", got)
			}
			b.wantStatus(b.press(link("Previous")), 200)
			if got := len(b.listedTitles()); got != 30 {
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

// TestTemplates: each template creates a form with its title that can be published.
func TestTemplates(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := signedInTab(t, s, ada)
	type template struct {
		Name, Title string
	}
	all := run(b, chromedp.Evaluate[[]template](`Array.from(document.querySelectorAll(".template-list [name=template]"), (e) => ({ Name: e.value, Title: e.parentElement.querySelector("strong").textContent }))`))
	if len(all) != 8 {
		t.Fatalf("%d templates, want 8: %v", len(all), all)
	}
	// One in the browser, the others with the same requests.
	chosen := all[len(all)-1]
	b.wantStatus(b.press(fmt.Sprintf(`.template-list input[value=%q] + button`, chosen.Name)), 200)
	b.wait(`document.querySelectorAll(".fields > li").length > 4`)
	if got := run(b, chromedp.Value(".title-input")); got != chosen.Title {
		t.Errorf("%s is called %q, want %q", chosen.Name, got, chosen.Title)
	}
	b.do(chromedp.Click(".toolbar .primary"), chromedp.WaitVisible("dialog form"))
	b.wantStatus(b.press("dialog .primary"), 200)
	b.wantText(chosen.Title, "Open")
	d, owner := openOwnerDB(t, s), s.Browser()
	owner.SignIn(ada)
	for _, template := range all[:len(all)-1] {
		created := owner.Post("/forms", url.Values{"template": {template.Name}}).Header.Get("Location")
		id := strings.TrimSuffix(strings.TrimPrefix(created, "/forms/"), "/build")
		if draft, err := d.db.Draft(t.Context(), d.owner, id); err != nil || len(draft.Fields) < 5 {
			t.Fatalf("%s has the draft %+v, %v at %s", template.Name, draft, err, created)
		}
		published := owner.Get(owner.Post("/forms/"+id+"/publish", nil).Header.Get("Location"))
		if f, err := d.db.Form(t.Context(), d.owner, id); err != nil || f.Status != form.Open || f.Title != template.Title {
			t.Errorf("%s: %+v, %v, want %s\n%s", template.Name, f, err, template.Title, published.Text)
		}
	}
}
