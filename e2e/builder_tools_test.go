package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"formulary/internal/cli/clitest"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
)

// draft keeps a form that nobody has published and returns its id.
func (d desk) draft(plan form.FormInput) string {
	d.t.Helper()
	if plan.Definition == nil {
		plan.Definition = &form.Definition{Fields: []*form.Field{}}
	}
	if err := plan.Normalize(); err != nil {
		d.t.Fatalf("%v %+v", err, fault.Wrap(err).Details)
	}
	f, err := d.db.CreateFormFrom(context.Background(), d.owner, plan, store.IdempotencyKey{}, time.Now())
	if err != nil {
		d.t.Fatal(err)
	}
	return f.ID
}

// builder is a tab in which a form is built.
type builder struct {
	*tab
	desk desk
	id   string
}

// openBuilder has Ada build a form that asks this; empty: nothing yet.
func openBuilder(t *testing.T, s *clitest.Service, title, definition string) builder {
	t.Helper()
	d := openDesk(t, s)
	plan := form.FormInput{Header: form.Header{Title: title, Language: "en"}, Availability: form.Availability{Sites: form.AnySite}}
	if definition != "" {
		plan.Definition = asking(t, definition)
	}
	b := builder{visitor(t, s, ada), d, d.draft(plan)}
	b.inFront()
	b.prefer("light")
	b.wantStatus(b.open("/forms/"+b.id+"/build"), 200)
	b.wait(`document.querySelector("#builder .tools") !== null`)
	return b
}

// stored is the draft as it is kept.
func (b builder) stored() *form.Definition {
	b.t.Helper()
	d, err := b.desk.db.Draft(context.Background(), b.desk.owner, b.id)
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}

// waitStored waits until what is kept is as it should be, and the page says that
// it is.
func (b builder) waitStored(what string, right func(*form.Definition) bool) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := eventually(ctx, func() bool { return right(b.stored()) }); err != nil {
		text, _ := json.MarshalIndent(b.stored(), "", " ")
		b.t.Fatalf("%s was not stored; this was:\n%s\nat %s", what, text, b.describe())
	}
	b.wait(`/^(All changes saved|Draft saved. Version \d+ is live\.)$/.test(document.querySelector(".state.saved")?.innerText.trim())`)
}

// labels are the questions of a draft, in their order.
func labels(d *form.Definition) []string {
	list := []string{}
	for _, f := range d.Fields {
		list = append(list, f.Label)
	}
	return list
}

// waitLabels waits until just these questions are stored.
func (b builder) waitLabels(want ...string) {
	b.t.Helper()
	b.waitStored(fmt.Sprintf("%q", want), func(d *form.Definition) bool { return slices.Equal(labels(d), want) })
}

// wantShown fails the test unless the page shows just these questions.
func (b builder) wantShown(want ...string) {
	b.t.Helper()
	if diff := cmp.Diff(want, b.shown()); diff != "" {
		b.t.Errorf("questions (-want +got):\n%s", diff)
	}
}

func (b builder) shown() []string {
	b.t.Helper()
	return ask(b.tab, chromedp.Evaluate[[]string](`Array.from(document.querySelectorAll(".fields .asks textarea"), (e) => e.value)`))
}

// question selects something in the question at a place, from 1.
func question(place int, inside string) string {
	return fmt.Sprintf(".fields > li:nth-child(%d) %s", place, inside)
}

// words is where the question at a place is written.
func words(place int) string { return question(place, ".asks textarea") }

// add chooses a kind from the palette and writes the question.
func (b builder) add(kind, label string) {
	b.t.Helper()
	if b.count(".fields") > 0 {
		b.do(chromedp.Click(".more .primary"))
		b.do(chromedp.Click(fmt.Sprintf(`//dialog//button[contains(@class, "kind")][span[text()=%q]]`, kind)))
	} else {
		b.do(chromedp.Click(fmt.Sprintf(`//button[contains(@class, "kind")][span[text()=%q]]`, kind)))
	}
	b.wait(`document.activeElement.matches(".asks textarea") && !document.querySelector("dialog")`)
	b.typeIn(label)
}

// tool presses a button of the question at a place.
func (b builder) tool(place int, name string) {
	b.t.Helper()
	b.do(chromedp.Click(words(place)))
	b.do(chromedp.Click(question(place, fmt.Sprintf(".handles [aria-label=%q]", name))))
}

// pick chooses in a list, as the browser reports it when a person does.
func (b *tab) pick(selector, value string) {
	b.t.Helper()
	if !ask(b, chromedp.Evaluate[bool](fmt.Sprintf(`(() => {
		const list = document.querySelector(%q);
		if (!Array.from(list.options, (o) => o.value).includes(%[2]q)) return false;
		list.focus();
		list.value = %[2]q;
		list.dispatchEvent(new Event("input", { bubbles: true }));
		list.dispatchEvent(new Event("change", { bubbles: true }));
		return true;
	})()`, selector, value))) {
		b.t.Fatalf("%s does not offer %q:\n%s", selector, value, b.describe())
	}
}

// asHardware makes key presses as a keyboard makes them: what a page does about
// the key going down decides whether a character comes of it.
func asHardware(p *input.DispatchKeyEventParams) {
	if p.Type == input.DispatchKeyEventTypeKeyDown {
		p.Type = input.DispatchKeyEventTypeRawKeyDown
	}
}

// typeIn presses keys where the focus is.
func (b *tab) typeIn(keys string, held ...chromedp.Modifier) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(held...), asHardware))
}

// wantRefused fails the test unless calls to an address that ends so were refused
// with the status; the browser's complaint about it is expected.
func (b *tab) wantRefused(ending string, status int) {
	b.t.Helper()
	if err := b.watch.readUp(); err != nil {
		b.t.Fatal(err)
	}
	b.watch.mu.Lock()
	defer b.watch.mu.Unlock()
	before := len(b.watch.errors)
	b.watch.errors = slices.DeleteFunc(b.watch.errors, func(m chromedp.ConsoleMessage) bool {
		return m.Source == "network" && strings.HasSuffix(m.URL, ending) && strings.Contains(m.Text, fmt.Sprintf("status of %d", status))
	})
	if len(b.watch.errors) == before {
		b.t.Errorf("nothing at %s was refused with %d", ending, status)
	}
}

// jsonOf writes something as JavaScript would.
func jsonOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}
