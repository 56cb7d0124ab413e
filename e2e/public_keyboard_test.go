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

// stop is a place where the Tab key stops, and what is typed there.
type stop struct{ name, keys string }

const (
	up, down, right      = kb.ArrowUp, kb.ArrowDown, kb.ArrowRight
	tabKey, enter, space = kb.Tab, kb.Enter, " "
)

// stops are all of them, in the order in which they come. Some answers are wrong
// at first, in ways that only the server knows.
var stops = []stop{
	{"nick", "Ada"}, {"story", "Once" + enter + "upon"}, {"mail", "ada@example.com"}, {"site", "https://example.com"}, {"phone", "none of yours"}, {"age", "36"},
	{"loud", right + right + right}, {"loud.none", ""}, {"soft", ""}, {"soft.none", ""},
	{"stars", space + right}, {"likely", space + right + right}, {"shirt", space}, {"size", space + down}, {"drink", up}, {"drink.other", "Milk"},
	{"bring", space}, {"bring", ""}, {"bring", space},
	{"town", "U"}, {"rank.dance", down}, {"rank.talk", down},
	{"days.fri", space}, {"days.sat", ""},
	{"day", "05312026"}, {"hour", "0530P"}, {"begin", "06012026" + right + "0915A"},
	{"name.given", "Ada"}, {"name.family", "Lovelace"},
	{"home.line1", "Street 1"}, {"home.line2", ""}, {"home.city", "Bonn"}, {"home.region", ""}, {"home.postal_code", "53111"}, {"home.country", "Germ"},
	{"land", "Fran"}, {"rules", space},
}

const keyboardAnswers = `{"nick": "Ada", "story": "Once\nupon", "mail": "ada@example.com", "site": "https://example.com", "phone": "+49 228 1234", "age": 36,
	"loud": 30, "stars": 2, "likely": 2, "shirt": true, "size": "m", "drink": "Milk", "bring": ["cake", "bread"], "town": "ulm", "rank": ["talk", "dance"],
	"days": {"fri": "noon", "sat": "night"}, "day": "2026-05-31", "hour": "17:30", "begin": "2026-06-01T09:15", "name": {"given": "Ada", "family": "Lovelace"},
	"home": {"line1": "Street 1", "city": "Bonn", "postal_code": "53111", "country": "DE"}, "land": "FR", "source": "mail", "double": 72, "rules": true}`

// focused is the name, or else the id, of what has the focus.
func (b *tab) focused() string {
	b.t.Helper()
	return ask(b, chromedp.Evaluate[string](`document.activeElement.name || document.activeElement.id || document.activeElement.localName`))
}

// wantFocusSeen fails the test unless a line is drawn around what has the focus,
// or around the words beside it.
func (b *tab) wantFocusSeen() {
	b.t.Helper()
	if !ask(b, chromedp.Evaluate[bool](`(() => {
		const lined = (e) => {
			const style = getComputedStyle(e);
			return style.opacity !== "0" && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 && !/, 0\)$|\/ 0\)$|^transparent$/.test(style.outlineColor);
		};
		const e = document.activeElement;
		return [e, e.nextElementSibling, e.closest("label")].some((place) => place && lined(place));
	})()`)) {
		b.t.Errorf("nobody sees that the focus is on %s", b.focused())
	}
}

// tabTo presses Tab until the focus leaves where it is, which may be a control of
// several parts, and wants it to arrive at a name.
func (b *tab) tabTo(name string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	ask(b, chromedp.Evaluate[any](`window.was = document.activeElement, null`))
	if err := eventually(ctx, func() bool {
		b.do(chromedp.KeyEvent(tabKey))
		return ask(b, chromedp.Evaluate[bool](`document.activeElement !== window.was`))
	}); err != nil {
		b.t.Fatalf("the focus stays on %s", b.focused())
	}
	if got := b.focused(); got != name {
		b.t.Fatalf("the focus is on %q, want %q", got, name)
	}
	b.wantFocusSeen()
}

// seek presses Tab until the focus is on a name.
func (b *tab) seek(name string) {
	b.t.Helper()
	for range 200 {
		if b.focused() == name {
			b.wantFocusSeen()
			return
		}
		b.do(chromedp.KeyEvent(tabKey))
	}
	b.t.Fatalf("the focus never comes to %q", name)
}

// enter types. A list takes letters that come more than a second apart, as on a busy
// machine, for other words: there it tries again, after such a pause.
func (b *tab) enter(keys string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	chosen := fmt.Sprintf(`document.activeElement.localName !== "select" || !/^[a-z]+$/i.test(%[1]q) || document.activeElement.selectedOptions[0].text.startsWith(%[1]q)`, keys)
	for b.do(chromedp.KeyEvent(keys)); !ask(b, chromedp.Evaluate[bool](chosen)); b.do(chromedp.KeyEvent(keys)) {
		select {
		case <-ctx.Done():
			b.t.Fatalf("%q is not found in %s", keys, b.focused())
		case <-time.After(1100 * time.Millisecond):
		}
	}
}

// Somebody without a mouse answers every kind of question.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	s := start(t)
	desk := openDesk(t, s)
	path := desk.publish(form.FormInput{Header: form.Header{Title: "Everything"}, Definition: asking(t, keyboardForm)})
	b := openTab(t, s.URL)
	b.inFront()
	b.wantStatus(b.open(path+"?source=mail"), 200)

	// Send is at the end; the browser itself brings people back to what is missing.
	b.seek("_go")
	b.do(chromedp.KeyEvent(enter))
	b.wait(`document.activeElement.name === "nick"`)
	b.wantFocusSeen()
	ask(b, chromedp.Evaluate[any](`document.activeElement.blur(), null`))

	for i, at := range stops {
		if i == 0 {
			b.seek(at.name)
		} else {
			b.tabTo(at.name)
		}
		if at.keys != "" {
			b.enter(at.keys)
		}
		b.wantFocusSeen()
		if at.name == "loud" {
			b.wait(`!document.querySelector('[name="loud.none"]').checked`)
		}
	}
	if !ask(b, chromedp.Evaluate[bool](`document.querySelector('[name="soft.none"]').checked`)) {
		t.Error("a slider that was not moved has an answer")
	}
	b.tabTo("_go")

	// After each thing that is wrong, the focus is there.
	for _, wrong := range []struct {
		key  string
		mend func()
	}{
		{"phone", func() {
			b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent("+49 228 1234"))
		}},
		{"rank", func() {
			b.seek("rank.dance")
			b.do(chromedp.KeyEvent(down))
		}},
		{"days", func() {
			b.seek("days.sat")
			b.do(chromedp.KeyEvent(space + right))
		}},
	} {
		b.wantStatus(b.leads(chromedp.KeyEvent(enter)), 422)
		b.wantPath(path)
		b.wait(fmt.Sprintf(`document.activeElement.closest(%q) !== null`, "#"+wrong.key))
		b.wantFocusSeen()
		described := ask(b, chromedp.Evaluate[string](`document.getElementById(`+fmt.Sprintf("%q", "problem-"+wrong.key)+`)?.innerText ?? ""`))
		if strings.TrimSpace(described) == "" {
			t.Errorf("nothing says what is wrong with %s:\n%s", wrong.key, b.describe())
		}
		if !ask(b, chromedp.Evaluate[bool](fmt.Sprintf(`document.activeElement.getAttribute("aria-describedby").includes(%q)`, "problem-"+wrong.key))) {
			t.Errorf("%s is not tied to what is wrong with it", wrong.key)
		}
		wrong.mend()
		b.seek("_go")
	}
	b.wantStatus(b.leads(chromedp.KeyEvent(space)), 200)
	b.wantPath(path + "/done")
	desk.wantStored(path, keyboardAnswers)
}
