package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"formulary/internal/form"
)

const controlsForm = `{"fields": [
	{"key": "mail", "kind": "email", "label": "Mail", "required": true},
	{"key": "phone", "kind": "phone", "label": "Phone"},
	{"key": "day", "kind": "date", "label": "Day"},
	{"key": "drink", "kind": "multiple_choice", "label": "Drink", "options": [{"value": "tea", "label": "Tea"}], "other": true},
	{"key": "rank", "kind": "ranking", "label": "Rank", "options": [{"value": "a", "label": "Ants"}, {"value": "b", "label": "Bees"}, {"value": "c", "label": "Crabs"}, {"value": "d", "label": "Dogs"}]},
	{"key": "likely", "kind": "scale", "label": "Likely"}, {"key": "stars", "kind": "rating", "label": "Stars"},
	{"key": "days", "kind": "matrix", "label": "Days", "rows": [{"value": "fri", "label": "Friday"}], "options": [{"value": "noon", "label": "Noon"}, {"value": "night", "label": "Night"}]},
	{"key": "ten", "kind": "matrix", "label": "Ten", "rows": [{"label": "Throwing"}], "options": [{"label": "Disappointing"}, {"label": "B"}, {"label": "C"}, {"label": "Extraordinary"}, {"label": "E"}, {"label": "F"}, {"label": "G"}, {"label": "H"}, {"label": "I"}, {"label": "Ten"}]}]}`

// rankOrder is a JavaScript expression for the options and their ranks.
const rankOrder = `Array.from(document.querySelectorAll(".rank li"), (e) => e.querySelector("b").textContent + e.querySelector("label span").textContent[0]).join(" ")`

// TestControls answers questions with the mouse, the keyboard and the scripts of the
// controls, on a desktop and a phone.
func TestControls(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := openOwnerDB(t, s)
	for _, width := range []int64{1280, 360} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			d := all.withT(t)
			path := d.publish(form.FormInput{Header: form.Header{Title: "Controls", Language: "en-US"}, Definition: parseDefinition(t, controlsForm)})
			b := openTab(t, s.URL)
			b.focusTab()
			b.do(chromedp.EmulateViewport(width, 800))
			b.wantStatus(b.open(path), 200)

			// A problem appears with its question and goes with the key that solves it.
			b.do(chromedp.Click(button("Submit")))
			b.wait(`document.activeElement.name === "mail" && document.getElementById("problem-mail").innerText.includes("Answer this question.")`)
			// A notice at the top links to each.
			b.wait(`document.querySelector(".sheet > .problems:first-child a[href='#mail']").innerText !== ""`)
			b.do(chromedp.Click(`.problems a[href="#mail"]`))
			b.wait(`document.activeElement.name === "mail"`)
			b.do(chromedp.KeyEvent("ada@example"))
			b.wait(`document.getElementById("problem-mail").innerText.includes("Enter an email address") && document.activeElement.ariaInvalid === "true"`)
			b.do(chromedp.KeyEvent(".c"))
			b.wait(`document.querySelector("#problem-mail, .problems") === null && document.activeElement.ariaInvalid === null`)
			b.do(chromedp.KeyEvent("om"))
			// The country writes its code; a code alone is no answer.
			b.wait(`document.querySelector(".phone select")?.options.length > 200`)
			b.do(chromedp.Focus("#phone"))
			b.wait(`document.getElementById("phone").value === "+1 "`)
			b.do(chromedp.Evaluate[chromedp.Void](`(() => { const list = document.querySelector(".phone select"); list.value = "DE"; list.dispatchEvent(new Event("change", { bubbles: true })); })()`))
			b.wait(`document.activeElement.id === "phone" && document.activeElement.value === "+49 "`)
			b.do(chromedp.KeyEvent("228 1234"))

			// Dates have the order of the language.
			if got := run(b, chromedp.Evaluate[string](`Array.from(document.querySelectorAll("#day label"), (e) => e.innerText).join(" ")`)); got != "Month Day Year" {
				t.Errorf("the parts of a date are %q", got)
			}
			b.fill(`input[name="day.month"]`, "2")
			b.fill(`input[name="day.day"]`, "30")
			b.fill(`input[name="day.year"]`, "2027")
			b.do(chromedp.Focus("#phone"))
			b.wait(`document.getElementById("problem-day")?.innerText.includes("Enter a valid date.")`)
			b.fill(`input[name="day.day"]`, "3")
			b.wait(`document.getElementById("problem-day") === null`)

			// "Other" opens and takes the focus; what was typed there is kept, but not sent.
			b.choose("drink", "_other")
			b.wait(`document.activeElement.name === "drink.other"`)
			b.do(chromedp.KeyEvent("Milk"))
			b.choose("drink", "_other")
			b.choose("drink", "tea")
			b.wait(`!document.querySelector('[name="drink.other"]').checkVisibility() && document.querySelector('[name="drink.other"]').value === "Milk"`)

			// Ranking: drag, tap, keys.
			b.drawLine(".rank li:nth-child(4)", [2]float64{.5, .5}, [2]float64{.5, .2}, [2]float64{.5, -.7}, [2]float64{.5, -1.4}, [2]float64{.5, -1.9}, [2]float64{.5, -2.4}, [2]float64{.5, -3})
			b.wait(rankOrder + ` === "1D A B C"`)
			b.wait(`document.querySelector(".rank ~ [role=status]").textContent === "Dogs: rank 1 of 4"`)
			b.drawLine(".rank li:nth-child(4)", [2]float64{.5, .5}, [2]float64{.5, .5})
			b.wait(rankOrder + ` === "1D 2C A B"`)
			b.do(chromedp.Focus(".rank li:nth-child(2) .down"), chromedp.KeyEvent(kb.ArrowUp))
			b.wait(rankOrder + ` === "1C 2D A B" && document.activeElement.closest("li").innerText.includes("Crabs")`)

			b.choose("likely", "10")
			if rows := run(b, chromedp.Evaluate[int](fmt.Sprintf(rowsOf, "likely"))); rows != 1 {
				t.Errorf("the scale has %d rows", rows)
			}
			if got := run(b, chromedp.Evaluate[float64](`document.documentElement.scrollWidth`)); int64(got) > width {
				t.Errorf("the page is %v pixels wide", got)
			}
			if small := run(b, chromedp.Evaluate[string](smallTargets)); small != "" {
				t.Errorf("too small are %s", small)
			}
			b.wantStatus(b.press(button("Submit")), 200)
			b.wantPath(path + "/done")
			d.wantStored(path, `{"mail": "ada@example.com", "phone": "+49 228 1234", "day": "2027-02-03", "drink": ["tea"], "rank": ["c", "d"], "likely": 10}`)
		})
	}
}

// TestKeptAnswers: answers survive a reload, a closed tab and a lost connection, until they
// are sent or erased.
func TestKeptAnswers(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	path := d.publish(form.FormInput{Header: form.Header{Title: "Kept"}, Definition: parseDefinition(t, `{"fields": [
		{"key": "name", "kind": "short_text", "label": "Name", "required": true}, {"key": "shirt", "kind": "yes_no", "label": "A shirt?"},
		{"key": "size", "kind": "dropdown", "label": "Size", "options": [{"value": "s", "label": "S"}, {"value": "m", "label": "M"}], "show_if": {"field": "shirt", "op": "equals", "value": true}},
		{"key": "from", "kind": "hidden"}, {"kind": "page_break"}, {"key": "note", "kind": "long_text", "label": "Note"}]}`)})
	b := openTab(t, s.URL)
	b.focusTab()
	b.monitor.expect("ERR_INTERNET_DISCONNECTED")
	b.wantStatus(b.open(path+"?from=mail"), 200)
	if got := b.count("script[src*=form-answers]"); got != 0 {
		t.Error("the scripts for answers are loaded before they are needed")
	}
	b.fill(`[name="name"]`, "Ada")
	b.choose("shirt", "true")
	b.wait(`document.getElementById("size")?.checkVisibility()`)
	b.do(chromedp.Evaluate[chromedp.Void](`(() => { const list = document.getElementById("size"); list.value = "m"; list.dispatchEvent(new Event("change", { bubbles: true })); })()`))
	b.wait(`document.querySelector(".kept:not([hidden])")?.innerText.includes("Your answers are kept on this device until you submit them.")`)
	if got := run(b, chromedp.Evaluate[string](`Object.values(localStorage).map((text) => Object.keys(JSON.parse(text).answers)).join(" ")`)); got != "name,shirt,size" {
		t.Errorf("the device has %q", got)
	}

	// Another visit. Leaving earlier could stop the database from being created that tells it.
	waitForMark := func() {
		t.Helper()
		b.wait(`indexedDB.databases().then((list) => list.some(({ name }) => name === "formulary"))`)
	}
	waitForMark()
	const restored = `document.querySelector('[name="name"]').value === "Ada" && document.getElementById("size").value === "m" && document.getElementById("size").checkVisibility()`
	b.wantStatus(b.open(path), 200)
	b.wait(restored + ` && document.querySelector(".welcome").innerText.startsWith("Welcome back. Your answers from")`)
	b.do(chromedp.Click(button("Start again")))
	b.wait(`localStorage.length === 0 && document.querySelector('[name="name"]').value === "" && !document.getElementById("size").checkVisibility()`)
	b.wantText("Your answers were erased from this device.")

	// The answers of other pages, and of an expired version.
	b.fill(`[name="name"]`, "Bob")
	b.wantStatus(b.press(button("Next")), 200)
	b.fill("#note", "Kept")
	b.wait(`Object.values(localStorage).join().includes("Kept")`)
	waitForMark()
	b.wantStatus(b.open(path), 200)
	b.wait(`document.querySelector('[name="name"]').value === "Bob"`)
	b.wantStatus(b.press(button("Next")), 200)
	b.wait(`document.getElementById("note").value === "Kept"`)

	// Without a connection, the page waits and then sends.
	b.setNetwork(true, -1)
	b.do(chromedp.Click(button("Submit")))
	b.wait(`document.querySelector(".waiting").innerText.startsWith("No connection. Your answers are still here.")`)
	b.wantPath(path)
	d.wantStored(path)
	b.setNetwork(false, -1)
	b.wait(`location.pathname.endsWith("/done") && localStorage.length === 0`)
	d.wantStored(path, `{"name": "Bob", "note": "Kept"}`)

	// The owner does not want answers to be kept: what is there goes, and nothing is added.
	shared := d.publish(form.FormInput{Header: form.Header{Title: "Shared"}, Definition: parseDefinition(t, `{"fields": [{"key": "name", "kind": "short_text", "label": "Name"}], "settings": {"forget_answers": true}}`)})
	run(b, chromedp.Evaluate[any](fmt.Sprintf(`localStorage.setItem("formulary %s 0", JSON.stringify({ answers: {}, time: Date.now() })), null`, shared)))
	b.wantStatus(b.open(shared), 200)
	b.fill(`[name="name"]`, "Ada")
	b.wait(`localStorage.length === 0`)
	b.fill(`[name="name"]`, "Bob")
	if got := run(b, chromedp.Evaluate[int](`localStorage.length + document.querySelectorAll(".kept:not([hidden])").length`)); got != 0 {
		t.Error("answers are kept although the owner does not want it")
	}

	run(b, chromedp.Evaluate[any](fmt.Sprintf(`localStorage.setItem("formulary %s 1", JSON.stringify({ answers: { name: { name: ["Old"] } }, time: Date.now() - 31 * 24 * 3600 * 1000 })), null`, path)))
	b.wantStatus(b.open(path), 200)
	b.do(chromedp.Focus(`[name="name"]`))
	b.wait(`localStorage.length === 0 && document.querySelector('[name="name"]').value === ""`)
}
