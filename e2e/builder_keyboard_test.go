package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"formulary/internal/form"
)

// wantFocus fails the test if the focus is nowhere, or where nobody sees it.
func (b *tab) wantFocus(after string) {
	b.t.Helper()
	if !ask(b, chromedp.Evaluate[bool](`(() => {
		const e = document.activeElement;
		if (!e || e === document.body || e === document.documentElement) return false;
		const box = e.getBoundingClientRect();
		return box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight;
	})()`)) {
		b.t.Fatalf("after %s the focus is lost: %s\nat %s", after, b.focused(), b.describe())
	}
}

// keys presses keys one after the other and looks where the focus is after that.
func (b builder) keys(what, keys string, held ...chromedp.Modifier) {
	b.t.Helper()
	b.typeIn(keys, held...)
	b.wait(`!document.querySelector("dialog:not([open])")`)
	b.wantFocus(what)
}

// tabUntil presses Tab until what has the focus matches; Shift leads back.
func (b builder) tabUntil(selector string, held ...chromedp.Modifier) {
	b.t.Helper()
	for range 80 {
		b.keys("Tab", kb.Tab, held...)
		if ask(b.tab, chromedp.Evaluate[bool](fmt.Sprintf(`document.activeElement.matches(%q)`, selector))) {
			return
		}
	}
	b.t.Fatalf("Tab never comes to %s\nat %s", selector, b.describe())
}

// writing waits until the person can write a question of their own.
func (b builder) writing() {
	b.t.Helper()
	b.wait(`document.activeElement.matches(".fields .asks textarea") && !document.querySelector("dialog")`)
	b.wantFocus("adding")
}

// A whole form is built and published without a mouse, and the focus is never lost.
func TestBuilderKeyboard(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "By hand", "")
	b.tabUntil(".kind")
	b.keys("Enter", kb.Enter)
	b.writing()
	b.keys("typing", "First")
	b.waitLabels("First")

	// Another by the palette: with its search, with arrows, with Tab.
	b.keys("Ctrl+Enter", kb.Enter, chromedp.ModifierCtrl)
	b.wait(`document.activeElement.matches("dialog input")`)
	b.keys("typing", "yes")
	b.keys("Enter", kb.Enter)
	b.writing()
	b.keys("typing", "Second")
	b.tabUntil(".insert")
	b.keys("Space", " ")
	b.wait(`document.activeElement.matches("dialog input")`)
	b.keys("arrows", kb.ArrowDown+kb.ArrowDown+kb.ArrowUp)
	b.wait(`document.activeElement.matches("dialog .kind")`)
	b.keys("Enter", kb.Enter)
	b.writing()
	b.keys("typing", "Third")
	b.waitLabels("First", "Second", "Third")

	// Escape leaves the palette, and what one did before is still there.
	b.keys("Ctrl+Enter", kb.Enter, chromedp.ModifierCtrl)
	b.wait(`document.activeElement.matches("dialog input")`)
	b.typeIn(kb.Escape)
	b.wait(`!document.querySelector("dialog")`)
	b.wantFocus("Escape in the palette")

	b.keys("Alt+Up", kb.ArrowUp, chromedp.ModifierAlt)
	b.wantShown("First", "Third", "Second")
	b.keys("Alt+Up", kb.ArrowUp, chromedp.ModifierAlt)
	b.wantShown("Third", "First", "Second")
	b.keys("Alt+Up at the top", kb.ArrowUp, chromedp.ModifierAlt)
	b.wantShown("Third", "First", "Second")
	b.keys("Alt+Down", kb.ArrowDown, chromedp.ModifierAlt)
	b.waitLabels("First", "Third", "Second")
	if got := ask(b.tab, chromedp.Evaluate[string](`document.activeElement.value`)); got != "Third" {
		t.Errorf("the focus is on %q, want the question that was moved", got)
	}
	b.wait(`document.querySelector("body > [role=status]").textContent === "Moved to position 2 of 3"`)

	b.keys("Ctrl+D", "d", chromedp.ModifierCtrl)
	b.writing()
	b.waitLabels("First", "Third", "Third", "Second")
	b.keys("Escape", kb.Escape)
	b.wait(`document.activeElement.matches("[data-card]")`)
	b.keys("Delete", kb.Delete)
	b.waitLabels("First", "Third", "Second")
	b.keys("Ctrl+Z", "z", chromedp.ModifierCtrl)
	b.waitLabels("First", "Third", "Third", "Second")
	b.keys("Ctrl+Y", "y", chromedp.ModifierCtrl)
	b.waitLabels("First", "Third", "Second")

	// The buttons of a question do the same.
	b.keys("Enter", kb.Enter)
	b.writing()
	for _, name := range []string{"Move up", "Duplicate", "Delete"} {
		before := b.shown()
		b.tabUntil(fmt.Sprintf("[aria-label=%q]", name))
		b.keys(name, " ")
		b.wait(fmt.Sprintf(`JSON.stringify(Array.from(document.querySelectorAll(".fields .asks textarea"), (e) => e.value)) !== %q`, jsonOf(before)))
		b.wantFocus(name)
	}

	// The properties are a few steps further.
	b.tabUntil(".panel .choice input")
	b.keys("Space", " ")
	b.waitStored("a question that needs an answer", func(d *form.Definition) bool {
		for _, f := range d.Fields {
			if f.Required {
				return true
			}
		}
		return false
	})

	for !ask(b.tab, chromedp.Evaluate[bool](`document.activeElement.matches(".tools .primary")`)) {
		b.keys("Shift+Tab", kb.Tab, chromedp.ModifierShift)
	}
	b.typeIn(kb.Enter)
	b.wait(`document.activeElement.matches("dialog .primary")`)
	b.wantStatus(b.leads(chromedp.KeyEvent(kb.Enter, asHardware)), 200)
	b.wantPath("/forms/" + b.id + "/share")
}
