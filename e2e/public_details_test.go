package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"formulary/internal/form"
)

// brokenWords lists the words in the head of a table that do not stay in one line.
const brokenWords = `Array.from(document.querySelectorAll("#feel thead th"), (cell) => Array.from(cell.textContent.matchAll(/\S+/g), (word) => {
	const range = document.createRange();
	range.setStart(cell.firstChild, word.index);
	range.setEnd(cell.firstChild, word.index + word[0].length);
	return range.getClientRects().length > 1 ? word[0] : "";
})).flat().join("")`

// TestMatrixAndProblems: the marks of a table are in the middle of their rows, words stay
// whole, rows are cards on a phone, and nothing of a question with a problem has the color of
// the brand.
func TestMatrixAndProblems(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openTab(t, s.URL)
	path := publishForm(t, s, form.Header{Title: "Details"}, fmt.Sprintf(moodQuestions, "#1f6b57", "plain"))
	b.do(chromedp.EmulateViewport(1280, 900))
	b.wantStatus(b.open(path+moodAnswers), 200)
	const off = `Math.max(...Array.from(document.querySelectorAll(".matrix td input"), (mark) => {
		const middle = (e) => { const { top, height } = e.getBoundingClientRect(); return top + height / 2; };
		return Math.abs(middle(mark) - middle(mark.closest("tr")));
	}))`
	if got := run(b, chromedp.Evaluate[float64](off)); got > 2 {
		t.Errorf("a mark is %v pixels away from the middle of its row", got)
	}
	if got := run(b, chromedp.Evaluate[string](brokenWords)); got != "" {
		t.Errorf("broken words: %s", got)
	}
	b.wantStatus(b.submitUnchecked(), 422)
	const colors = `(() => { const style = getComputedStyle(document.getElementById("mail").closest(".question")); return style.getPropertyValue("--chosen") === style.getPropertyValue("--bad") && style.getPropertyValue("--bad") !== ""; })()`
	b.wait(`document.activeElement.id === "mail" && ` + colors)
	b.do(chromedp.EmulateViewport(360, 740))
	b.wait(`["#done", "#feel"].every((id) => getComputedStyle(document.querySelector(id + " tbody tr")).display !== "table-row" && document.querySelector(id + " thead").getBoundingClientRect().width <= 1)`)
	// Two columns are side by side, ten are a list.
	b.wait(`(() => { const tops = (id) => new Set(Array.from(document.querySelectorAll(id + " tbody tr:first-child label"), (e) => Math.round(e.getBoundingClientRect().top))).size; return tops("#done") === 1 && tops("#feel") > 1; })()`)
}
