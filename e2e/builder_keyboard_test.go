package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"formulary/internal/form"
)

// wantFocus fails the test if no visible element has the focus.
func (b *tab) wantFocus(after string) {
	b.t.Helper()
	if !run(b, chromedp.Evaluate[bool](`(() => {
		const e = document.activeElement;
		if (!e || e === document.body || e === document.documentElement) return false;
		const box = e.getBoundingClientRect();
		const hasSize = box.width > 0 && box.height > 0, isOnScreen = box.bottom > 0 && box.top < innerHeight;
		return hasSize && isOnScreen;
	})()`)) {
		b.t.Fatalf("after %s the focus is lost: %s\nat %s", after, b.focusedName(), b.describe())
	}
}

// pressKeys presses keys and checks that the focus is visible afterwards.
func (b builder) pressKeys(step, keys string, held ...chromedp.Modifier) {
	b.t.Helper()
	b.typeKeys(keys, held...)
	b.wait(`!document.querySelector("dialog:not([open])")`)
	b.wantFocus(step)
}

// tabUntil presses Tab until the focused element matches. With Shift it goes backwards.
func (b builder) tabUntil(selector string, held ...chromedp.Modifier) {
	b.t.Helper()
	for range 80 {
		b.pressKeys("Tab", kb.Tab, held...)
		if run(b.tab, chromedp.Evaluate[bool](fmt.Sprintf(`document.activeElement.matches(%q)`, selector))) {
			return
		}
	}
	b.t.Fatalf("Tab never comes to %s\nat %s", selector, b.describe())
}

// waitForLabelInput waits until the focus is in the label of a question.
func (b builder) waitForLabelInput() {
	b.t.Helper()
	b.wait(`document.activeElement.matches(".fields .label-row textarea") && !document.querySelector("dialog")`)
	b.wantFocus("adding")
}

// TestBuilderKeyboard: a form can be built and published with the keyboard alone, and
// the focus is never lost.
func TestBuilderKeyboard(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "By hand", "")
	b.tabUntil(".kind")
	b.pressKeys("Enter", kb.Enter)
	b.waitForLabelInput()
	b.pressKeys("typing", "First")
	b.waitLabels("First")

	// More questions from the palette: with its search, with arrows, with Tab.
	b.pressKeys("Ctrl+Enter", kb.Enter, chromedp.ModifierCtrl)
	b.wait(`document.activeElement.matches("dialog input")`)
	b.pressKeys("typing", "yes")
	b.pressKeys("Enter", kb.Enter)
	b.waitForLabelInput()
	b.pressKeys("typing", "Second")
	b.tabUntil(".insert-button")
	b.pressKeys("Space", " ")
	b.wait(`document.activeElement.matches("dialog input")`)
	b.pressKeys("arrows", kb.ArrowDown+kb.ArrowDown+kb.ArrowUp)
	b.wait(`document.activeElement.matches("dialog .kind")`)
	b.pressKeys("Enter", kb.Enter)
	b.waitForLabelInput()
	b.pressKeys("typing", "Third")
	b.waitLabels("First", "Second", "Third")

	// Escape closes the palette and keeps the form.
	b.pressKeys("Ctrl+Enter", kb.Enter, chromedp.ModifierCtrl)
	b.wait(`document.activeElement.matches("dialog input")`)
	b.typeKeys(kb.Escape)
	b.wait(`!document.querySelector("dialog")`)
	b.wantFocus("Escape in the palette")

	b.pressKeys("Alt+Up", kb.ArrowUp, chromedp.ModifierAlt)
	b.wantShown("First", "Third", "Second")
	b.pressKeys("Alt+Up", kb.ArrowUp, chromedp.ModifierAlt)
	b.wantShown("Third", "First", "Second")
	b.pressKeys("Alt+Up at the top", kb.ArrowUp, chromedp.ModifierAlt)
	b.wantShown("Third", "First", "Second")
	b.pressKeys("Alt+Down", kb.ArrowDown, chromedp.ModifierAlt)
	b.waitLabels("First", "Third", "Second")
	if got := run(b.tab, chromedp.Evaluate[string](`document.activeElement.value`)); got != "Third" {
		t.Errorf("the focus is on %q, want the question that was moved", got)
	}
	b.wait(`document.querySelector("body > [role=status]").textContent === "Moved to position 2 of 3"`)

	b.pressKeys("Ctrl+D", "d", chromedp.ModifierCtrl)
	b.waitForLabelInput()
	b.waitLabels("First", "Third", "Third", "Second")
	b.pressKeys("Escape", kb.Escape)
	b.wait(`document.activeElement.matches("[data-card]")`)
	b.pressKeys("Delete", kb.Delete)
	b.waitLabels("First", "Third", "Second")
	b.pressKeys("Ctrl+Z", "z", chromedp.ModifierCtrl)
	b.waitLabels("First", "Third", "Third", "Second")
	b.pressKeys("Ctrl+Y", "y", chromedp.ModifierCtrl)
	b.waitLabels("First", "Third", "Second")

	// The buttons of a question do the same.
	b.pressKeys("Enter", kb.Enter)
	b.waitForLabelInput()
	for _, name := range []string{"Move up", "Duplicate", "Delete"} {
		before := b.shownLabels()
		b.tabUntil(fmt.Sprintf("[aria-label=%q]", name))
		b.pressKeys(name, " ")
		b.wait(fmt.Sprintf(`JSON.stringify(Array.from(document.querySelectorAll(".fields .label-row textarea"), (e) => e.value)) !== %q`, jsonOf(before)))
		b.wantFocus(name)
	}

	// The properties panel is reached with Tab.
	b.tabUntil(".panel .choice input")
	b.pressKeys("Space", " ")
	b.waitStored("a question that needs an answer", func(d *form.Definition) bool {
		for _, f := range d.Fields {
			if f.Required {
				return true
			}
		}
		return false
	})

	for !run(b.tab, chromedp.Evaluate[bool](`document.activeElement.matches(".toolbar .primary")`)) {
		b.pressKeys("Shift+Tab", kb.Tab, chromedp.ModifierShift)
	}
	b.typeKeys(kb.Enter)
	b.wait(`document.activeElement.matches("dialog .primary")`)
	b.wantStatus(b.navigate(chromedp.KeyEvent(kb.Enter, asRawKey)), 200)
	b.wantPath("/forms/" + b.id + "/share")
}
