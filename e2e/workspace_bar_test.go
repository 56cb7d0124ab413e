package e2e

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"formulary/internal/form"
)

// barLayout is where the parts of a page about a form are, in pixels.
type barLayout struct {
	Bar, Left, Right int   // height of the bar, edges of the content
	Tabs             []int // where each tab starts
	Free             bool  // nothing in the bar covers something else
}

const measureBar = `(() => {
	const round = (list) => list.map(Math.round);
	const main = document.querySelector("main"), box = main.getBoundingClientRect(), style = getComputedStyle(main);
	const parts = [...document.querySelectorAll(".form-head > *, .tabs a, .topbar-end > *, .toolbar > *")].map((e) => e.getBoundingClientRect()).filter((r) => r.width > 1 && r.top < 56).sort((a, b) => a.left - b.left);
	const [bar, left, right] = round([document.querySelector(".form-bar").getBoundingClientRect().height, box.left + parseFloat(style.paddingLeft), box.right - parseFloat(style.paddingRight)]);
	return { Bar: bar, Left: left, Right: right, Tabs: round([...document.querySelectorAll(".tabs a")].map((e) => e.getBoundingClientRect().left)),
		Free: parts.every((r, i) => !i || parts[i - 1].right <= r.left + 1) && document.documentElement.scrollWidth <= innerWidth };
})()`

// TestFormBar: pages about a form have one bar of 56 pixels with tabs at the same places, and
// content of the same width.
func TestFormBar(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	id := d.publish(form.FormInput{Header: form.Header{Title: "A form with a title that is too long for any bar that has tabs", Language: "en"}, Definition: parseDefinition(t, pollForm)})[len("/f/"):]
	d.submitTo(id, "Ann", "blue")
	b := signedInTab(t, s, ada)
	first := map[int64]barLayout{}
	for _, tab := range []string{"build", "flow", "design", "share", "connect/notify", "connect", "responses", "summary", "versions"} {
		b.wantStatus(b.open("/forms/"+id+"/"+tab), 200)
		if tab == "build" {
			b.wait(`document.querySelector("#builder .toolbar") !== null`)
		}
		for _, width := range []int64{1200, 1280, 1920} {
			b.do(chromedp.EmulateViewport(width, 900))
			got := run(b, chromedp.Evaluate[barLayout](measureBar))
			if want, ok := first[width]; !ok {
				first[width] = got
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s at %d pixels (-the builder +this page):\n%s", tab, width, diff)
			}
			if got.Bar != 56 || !got.Free || len(got.Tabs) != 7 {
				t.Errorf("%s at %d pixels: %+v", tab, width, got)
			}
		}
	}
}

// TestSpaceInBar: a space with a long name leaves room for the rest of the bar.
func TestSpaceInBar(t *testing.T) {
	t.Parallel()
	s := start(t)
	var space struct{ ID string }
	if err := json.Unmarshal([]byte(s.Command("", "space", "add", "Kulturzentrum an der Lindenstraße", "--owner", ada, "--json")), &space); err != nil {
		t.Fatal(err)
	}
	b := signedInTab(t, s, ada)
	b.wantStatus(b.open("/spaces/"+space.ID), 200)
	for width, height := range map[int64]int{360: 110, 800: 130, 1024: 130, 1280: 70} {
		b.do(chromedp.EmulateViewport(width, 800))
		got := run(b, chromedp.Evaluate[string](`(() => {
			const parts = [...document.querySelectorAll(".brand, .space-menu > summary, .topbar-end button")].map((e) => e.getBoundingClientRect());
			return parts.filter((r, i) => i && parts[i - 1].right > r.left + 1).length + " " + (document.documentElement.scrollWidth <= innerWidth) + " " + (document.querySelector(".topbar").offsetHeight <= `+strconv.Itoa(height)+`);
		})()`))
		if got != "0 true true" {
			t.Errorf("at %d pixels: %s", width, got)
		}
	}
}
