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

// createDraft creates a form without publishing it and returns its ID.
func (d ownerDB) createDraft(in form.FormInput) string {
	d.t.Helper()
	if in.Definition == nil {
		in.Definition = &form.Definition{Fields: []*form.Field{}}
	}
	if err := in.Normalize(); err != nil {
		d.t.Fatalf("%v %+v", err, fault.Wrap(err).Details)
	}
	f, err := d.db.CreateFormFrom(context.Background(), d.owner, in, store.IdempotencyKey{}, time.Now())
	if err != nil {
		d.t.Fatal(err)
	}
	return f.ID
}

// builder is a tab with the form builder.
type builder struct {
	*tab
	ownerDB ownerDB
	id      string
}

// openBuilder creates a form and opens it in the builder. An empty definition creates a
// form without questions.
func openBuilder(t *testing.T, s *clitest.Service, title, definition string) builder {
	t.Helper()
	d := openOwnerDB(t, s)
	in := form.FormInput{Header: form.Header{Title: title, Language: "en"}, Availability: form.Availability{Sites: form.AnySite}}
	if definition != "" {
		in.Definition = parseDefinition(t, definition)
	}
	b := builder{signedInTab(t, s, ada), d, d.createDraft(in)}
	b.focusTab()
	b.setColorScheme("light")
	b.do(chromedp.Evaluate[chromedp.Void](`localStorage.setItem("builder panel", "open")`))
	b.wantStatus(b.open("/forms/"+b.id+"/build"), 200)
	b.wait(`document.querySelector("#builder .panel h2") !== null`)
	return b
}

// readStored returns the stored draft as the builder shows it.
func (b builder) readStored() *form.Definition {
	b.t.Helper()
	d, err := b.ownerDB.db.Draft(context.Background(), b.ownerDB.owner, b.id)
	if err != nil {
		b.t.Fatal(err)
	}
	if u := d.Unfinished; u != nil {
		return &form.Definition{Fields: u.Fields, Endings: u.Endings, Settings: u.Settings, Design: d.Design}
	}
	return d
}

// waitStored waits until the stored draft is as wanted and the page shows that it is
// saved.
func (b builder) waitStored(what string, isWanted func(*form.Definition) bool) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	if err := waitUntil(ctx, func() bool { return isWanted(b.readStored()) }); err != nil {
		text, _ := json.MarshalIndent(b.readStored(), "", " ")
		b.t.Fatalf("%s was not stored; this was:\n%s\nat %s", what, text, b.describe())
	}
	b.wait(`/^(All changes saved|Draft saved. Version \d+ is live\.)$/.test(document.querySelector(".save-status.saved")?.innerText.trim())`)
}

// labels returns the labels of a draft's fields.
func labels(d *form.Definition) []string {
	list := []string{}
	for _, f := range d.Fields {
		list = append(list, f.Label)
	}
	return list
}

// waitLabels waits until the stored draft has exactly these labels.
func (b builder) waitLabels(want ...string) {
	b.t.Helper()
	b.waitStored(fmt.Sprintf("%q", want), func(d *form.Definition) bool { return slices.Equal(labels(d), want) })
}

// wantShown fails the test unless the builder shows exactly these labels.
func (b builder) wantShown(want ...string) {
	b.t.Helper()
	if diff := cmp.Diff(want, b.shownLabels()); diff != "" {
		b.t.Errorf("questions (-want +got):\n%s", diff)
	}
}

func (b builder) shownLabels() []string {
	b.t.Helper()
	return run(b.tab, chromedp.Evaluate[[]string](`Array.from(document.querySelectorAll(".fields .label-row textarea"), (e) => e.value)`))
}

// inQuestion returns a selector for an element of the question at a position, from 1.
func inQuestion(position int, inside string) string {
	return fmt.Sprintf(".fields > li:nth-child(%d) %s", position, inside)
}

// labelInput returns a selector for the label of the question at a position.
func labelInput(position int) string { return inQuestion(position, ".label-row textarea") }

// add adds a question from the palette and types its label.
func (b builder) add(kind, label string) {
	b.t.Helper()
	if b.count(".fields") > 0 {
		b.do(chromedp.Click(".add-buttons .primary"))
		b.do(chromedp.Click(fmt.Sprintf(`//dialog//button[contains(@class, "kind")][span[text()=%q]]`, kind)))
	} else {
		b.do(chromedp.Click(fmt.Sprintf(`//button[contains(@class, "kind")][span[text()=%q]]`, kind)))
	}
	b.wait(`document.activeElement.matches(".label-row textarea") && !document.querySelector("dialog")`)
	b.typeKeys(label)
}

// clickTool clicks a button of the question at a position.
func (b builder) clickTool(position int, name string) {
	b.t.Helper()
	b.do(chromedp.Click(labelInput(position)))
	b.do(chromedp.Click(inQuestion(position, fmt.Sprintf(".card-actions [aria-label=%q]", name))))
}

// pick selects an option of a list and fires the same events as a user's choice.
func (b *tab) pick(selector, value string) {
	b.t.Helper()
	if !run(b, chromedp.Evaluate[bool](fmt.Sprintf(`(() => {
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

// asRawKey sends key presses like a keyboard does: the page can prevent the character
// in its keydown handler.
func asRawKey(p *input.DispatchKeyEventParams) {
	if p.Type == input.DispatchKeyEventTypeKeyDown {
		p.Type = input.DispatchKeyEventTypeRawKeyDown
	}
}

// typeKeys presses keys on the focused element.
func (b *tab) typeKeys(keys string, held ...chromedp.Modifier) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(held...), asRawKey))
}

// wantRefused fails the test unless a request to a URL with that ending got the status.
// The browser's console error for it is then ignored.
func (b *tab) wantRefused(ending string, status int) {
	b.t.Helper()
	if err := b.monitor.drainConsole(); err != nil {
		b.t.Fatal(err)
	}
	b.monitor.mu.Lock()
	defer b.monitor.mu.Unlock()
	before := len(b.monitor.errors)
	b.monitor.errors = slices.DeleteFunc(b.monitor.errors, func(m chromedp.ConsoleMessage) bool {
		return m.Source == "network" && strings.HasSuffix(m.URL, ending) && strings.Contains(m.Text, fmt.Sprintf("status of %d", status))
	})
	if len(b.monitor.errors) == before {
		b.t.Errorf("nothing at %s was refused with %d", ending, status)
	}
}

// jsonOf encodes a value as JSON.
func jsonOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}
