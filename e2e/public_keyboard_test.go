package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"formulary/internal/form"
)

// keyboardForm has each kind of question on one page.
const keyboardForm = `{"fields": [
	{"key": "nick", "kind": "short_text", "label": "Nickname", "required": true},
	{"key": "story", "kind": "long_text", "label": "Story"},
	{"key": "mail", "kind": "email", "label": "Mail"},
	{"key": "site", "kind": "url", "label": "Site"},
	{"key": "phone", "kind": "phone", "label": "Phone"},
	{"key": "age", "kind": "number", "label": "Age", "unit": "years"},
	{"key": "loud", "kind": "slider", "label": "Loud", "step": 10},
	{"key": "soft", "kind": "slider", "label": "Soft"},
	{"key": "stars", "kind": "rating", "label": "Stars"},
	{"key": "likely", "kind": "scale", "label": "Likely"},
	{"key": "shirt", "kind": "yes_no", "label": "A shirt?"},
	{"key": "size", "kind": "single_choice", "label": "Which size?", "options": [{"value": "s", "label": "Small"}, {"value": "m", "label": "Medium"}, {"value": "l", "label": "Large"}], "show_if": {"field": "shirt", "op": "equals", "value": true}},
	{"key": "drink", "kind": "single_choice", "label": "Drink", "options": [{"value": "tea", "label": "Tea"}], "other": true},
	{"key": "bring", "kind": "multiple_choice", "label": "Bring", "options": [{"value": "cake", "label": "Cake"}, {"value": "salad", "label": "Salad"}, {"value": "bread", "label": "Bread"}]},
	{"key": "town", "kind": "dropdown", "label": "Town", "options": [{"value": "bonn", "label": "Bonn"}, {"value": "ulm", "label": "Ulm"}]},
	{"key": "rank", "kind": "ranking", "label": "Rank", "options": [{"value": "dance", "label": "Dance"}, {"value": "talk", "label": "Talk"}]},
	{"key": "days", "kind": "matrix", "label": "Days", "required": true, "rows": [{"value": "fri", "label": "Friday"}, {"value": "sat", "label": "Saturday"}], "options": [{"value": "noon", "label": "Noon"}, {"value": "night", "label": "Night"}]},
	{"key": "day", "kind": "date", "label": "Day"},
	{"key": "hour", "kind": "time", "label": "Hour"},
	{"key": "begin", "kind": "datetime", "label": "Begin"},
	{"key": "name", "kind": "name", "label": "Name"},
	{"key": "home", "kind": "address", "label": "Address"},
	{"key": "land", "kind": "country", "label": "Country"},
	{"key": "source", "kind": "hidden"},
	{"key": "double", "kind": "calculated", "label": "Twice your age", "expression": "age * 2"},
	{"key": "note", "kind": "statement", "label": "Nearly done", "text": "One more box."},
	{"key": "rules", "kind": "consent", "label": "Rules", "text": "I have read them", "required": true}]}`

// tabStop is an element that the Tab key reaches, and the keys to press there.
type tabStop struct{ name, keys string }

const (
	up, down, right      = kb.ArrowUp, kb.ArrowDown, kb.ArrowRight
	tabKey, enter, space = kb.Tab, kb.Enter, " "
)

// tabStops lists all of them in order. Some answers are wrong at first. Buttons have no
// name: those of the ranking move an option up or down, or clear it; those of dates open a
// calendar.
var tabStops = []tabStop{
	{"nick", "Ada"}, {"story", "Once" + enter + "upon"}, {"mail", "ada@example.com"}, {"site", "https://example.com"}, {"select", ""}, {"phone", "none of yours"}, {"age", "36"},
	{"loud", right + right + right}, {"loud.none", ""}, {"soft", ""}, {"soft.none", ""},
	{"stars", space + right}, {"likely", space + right + right}, {"shirt", space}, {"size", space + down}, {"drink", up}, {"drink.other", "Milk"},
	{"bring", space}, {"bring", ""}, {"bring", space},
	{"town", "U"}, {"button", ""}, {"button", ""}, {"button", space}, {"button", ""}, {"button", ""},
	{"days.fri", space}, {"days.sat", ""},
	{"day.day", "31"}, {"day.month", "5"}, {"day.year", "2026"}, {"button", ""}, {"hour", "0530P"},
	{"begin.day", "01"}, {"begin.month", "06"}, {"begin.year", "2026"}, {"button", ""}, {"begin.time", "0915A"},
	{"name.given", "Ada"}, {"name.family", "Lovelace"},
	{"home.line1", "Street 1"}, {"home.line2", ""}, {"home.city", "Bonn"}, {"home.region", ""}, {"home.postal_code", "53111"}, {"home.country", "Germ"},
	{"land", "Fran"}, {"rules", space},
}

const keyboardAnswers = `{"nick": "Ada", "story": "Once\nupon", "mail": "ada@example.com", "site": "https://example.com", "phone": "+49 228 1234", "age": 36,
	"loud": 30, "stars": 2, "likely": 2, "shirt": true, "size": "m", "drink": "Milk", "bring": ["cake", "bread"], "town": "ulm", "rank": ["talk"],
	"days": {"fri": "noon", "sat": "night"}, "day": "2026-05-31", "hour": "17:30", "begin": "2026-06-01T09:15", "name": {"given": "Ada", "family": "Lovelace"},
	"home": {"line1": "Street 1", "city": "Bonn", "postal_code": "53111", "country": "DE"}, "land": "FR", "source": "mail", "double": 72, "rules": true}`

// focusedName returns the name, the ID or the tag of the focused element.
func (b *tab) focusedName() string {
	b.t.Helper()
	return run(b, chromedp.Evaluate[string](`document.activeElement.name || document.activeElement.id || document.activeElement.localName`))
}

// wantFocusVisible fails the test unless the focused element or its label has an
// outline.
func (b *tab) wantFocusVisible() {
	b.t.Helper()
	if !run(b, chromedp.Evaluate[bool](`(() => {
		const hasOutline = (e) => {
			const { opacity, outlineStyle, outlineWidth, outlineColor } = getComputedStyle(e);
			const isDrawn = outlineStyle !== "none" && parseFloat(outlineWidth) >= 1;
			const isTransparent = opacity === "0" || /, 0\)$|\/ 0\)$|^transparent$/.test(outlineColor);
			return isDrawn && !isTransparent;
		};
		const e = document.activeElement;
		return [e, e.nextElementSibling, e.closest("label, .choice")].some((candidate) => candidate && hasOutline(candidate));
	})()`)) {
		b.t.Errorf("the focus on %s is not visible", b.focusedName())
	}
}

// tabTo presses Tab until the focus leaves the current control, which may have several
// parts, and checks that it arrives at the named control.
func (b *tab) tabTo(name string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	run(b, chromedp.Evaluate[any](`window.lastFocused = document.activeElement, null`))
	if err := waitUntil(ctx, func() bool {
		b.do(chromedp.KeyEvent(tabKey))
		return run(b, chromedp.Evaluate[bool](`document.activeElement !== window.lastFocused`))
	}); err != nil {
		b.t.Fatalf("the focus stays on %s", b.focusedName())
	}
	if got := b.focusedName(); got != name {
		b.t.Fatalf("the focus is on %q, want %q", got, name)
	}
	b.wantFocusVisible()
}

// tabToName presses Tab until the named control has the focus.
func (b *tab) tabToName(name string) {
	b.t.Helper()
	for range 200 {
		if b.focusedName() == name {
			b.wantFocusVisible()
			return
		}
		b.do(chromedp.KeyEvent(tabKey))
	}
	b.t.Fatalf("the focus never comes to %q", name)
}

// typeRetrying types keys. On a busy machine, letters more than a second apart do not
// select an option of a list, so it pauses and retries.
func (b *tab) typeRetrying(keys string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	isSelected := fmt.Sprintf(`document.activeElement.localName !== "select" || !/^[a-z]+$/i.test(%[1]q) || document.activeElement.selectedOptions[0].text.startsWith(%[1]q)`, keys)
	for b.do(chromedp.KeyEvent(keys)); !run(b, chromedp.Evaluate[bool](isSelected)); b.do(chromedp.KeyEvent(keys)) {
		select {
		case <-ctx.Done():
			b.t.Fatalf("%q is not found in %s", keys, b.focusedName())
		case <-time.After(1100 * time.Millisecond):
		}
	}
}

// TestKeyboard: every kind of question can be answered with the keyboard.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	s := start(t)
	ownerDB := openOwnerDB(t, s)
	path := ownerDB.publish(form.FormInput{Header: form.Header{Title: "Everything"}, Definition: parseDefinition(t, keyboardForm)})
	b := openTab(t, s.URL)
	b.focusTab()
	b.wantStatus(b.open(path+"?source=mail"), 200)

	// The submit button is last. The browser moves the focus to the missing answer.
	b.tabToName("_action")
	b.do(chromedp.KeyEvent(enter))
	b.wait(`document.activeElement.name === "nick"`)
	b.wantFocusVisible()
	run(b, chromedp.Evaluate[any](`document.activeElement.blur(), null`))

	for i, current := range tabStops {
		if i == 0 {
			b.tabToName(current.name)
		} else {
			b.tabTo(current.name)
		}
		if current.keys != "" {
			b.typeRetrying(current.keys)
		}
		b.wantFocusVisible()
		if current.name == "loud" {
			b.wait(`!document.querySelector('[name="loud.none"]').checked`)
		}
	}
	if !run(b, chromedp.Evaluate[bool](`document.querySelector('[name="soft.none"]').checked`)) {
		t.Error("a slider that was not moved has an answer")
	}
	b.tabTo("_action")

	// The page shows all problems, and the first has the focus.
	for _, problem := range []struct {
		key string
		fix func()
	}{
		{"phone", func() {
			b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent("+49 228 1234"))
		}},
		{"days", func() {
			b.tabToName("days.sat")
			b.do(chromedp.KeyEvent(space + right))
		}},
	} {
		b.do(chromedp.KeyEvent(enter))
		b.wait(fmt.Sprintf(`document.activeElement.closest(%q) !== null`, "#"+problem.key))
		b.wantFocusVisible()
		described := run(b, chromedp.Evaluate[string](`document.getElementById(`+fmt.Sprintf("%q", "problem-"+problem.key)+`)?.innerText ?? ""`))
		if strings.TrimSpace(described) == "" {
			t.Errorf("the problem of %s is not shown:\n%s", problem.key, b.describe())
		}
		if !run(b, chromedp.Evaluate[bool](fmt.Sprintf(`document.activeElement.getAttribute("aria-describedby").includes(%q)`, "problem-"+problem.key))) {
			t.Errorf("%s is not described by its problem", problem.key)
		}
		problem.fix()
		b.tabToName("_action")
	}
	b.wantStatus(b.navigate(chromedp.KeyEvent(space)), 200)
	b.wantPath(path + "/done")
	ownerDB.wantStored(path, keyboardAnswers)
}
