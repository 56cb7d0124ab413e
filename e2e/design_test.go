package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"formulary/internal/form"
)

// TestDesignPage: a logo and a cover are in the preview at once, and the design is saved as a
// theme that another form uses.
func TestDesignPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	head := form.Header{Title: "Kiln", Language: "en"}
	path, other := publishForm(t, s, head, fruitForm), publishForm(t, s, form.Header{Title: "Glaze", Language: "en"}, fruitForm)
	page := func(path string) string { return "/forms/" + strings.TrimPrefix(path, "/f/") + "/design" }
	b := signedInTab(t, s, ada)
	b.monitor.expect("422 (Unprocessable")
	b.do(chromedp.EmulateViewport(1280, 900))
	b.wantStatus(b.open(page(path)), 200)
	if narrow := run(b, chromedp.Evaluate[int](`Array.from(document.querySelectorAll(".moods .mini")).filter((e) => e.getBoundingClientRect().width < 100).length`)); narrow > 0 {
		t.Errorf("%d moods have no picture", narrow)
	}
	const preview = `document.querySelector(".stage iframe:not(.loading)").contentDocument`
	for _, name := range []string{"logo", "cover"} {
		b.do(chromedp.SetUploadFiles(`[data-upload$="for=`+name+`"] [type=file]`, []string{testFile(t, name+".png", 0)}, chromedp.NodeReady))
		b.wait(preview + `?.querySelector("img.logo, .cover img")?.naturalWidth > 0 && document.querySelector("[name=` + name + `]").value !== ""`)
	}
	b.wait(preview + `?.querySelectorAll(".logo, .cover img").length === 2`)
	// The logo stands across the lower edge of the cover, and nothing moves when they load.
	if got := run(b, chromedp.Evaluate[string](`(() => {
		const box = (s) => `+preview+`.querySelector(s).getBoundingClientRect();
		const [logo, cover] = [box(".logo"), box(".cover")];
		return [logo.width, logo.height, logo.top < cover.bottom && logo.bottom > cover.bottom, cover.height >= 128 && cover.height <= 240].join(" ");
	})()`)); got != "64 64 true true" {
		t.Errorf("the head is %s", got)
	}
	b.do(chromedp.SetUploadFiles(`[data-upload$="for=logo"] [type=file]`, []string{testFile(t, "no.pdf", 0)}, chromedp.NodeReady))
	b.wait(`document.querySelector(".design-picture [role=status]").textContent.includes("Choose a JPEG")`)
	b.do(chromedp.Click(`[data-upload$="for=logo"] [data-remove]`), chromedp.Click(`[name=mood][value=night]`))
	b.wait(preview + `?.querySelector(".cover img") !== null && ` + preview + `.querySelector(".logo") === null`)
	b.do(chromedp.Click(".save-theme summary"))
	b.fill("[name=theme]", "Studio")
	b.do(chromedp.Click(button("Save theme"))) // the frame loads too, so there is more than one response
	b.wait(`document.querySelector(".notice")?.textContent.includes("Theme saved.")`)
	b.wantText("In use")
	b.do(chromedp.Click(".themes summary"))
	for _, scheme := range []string{"light", "dark"} {
		b.setColorScheme(scheme)
		for _, violation := range b.axeViolations() {
			t.Errorf("%s: %s", scheme, violation)
		}
	}
	b.wantStatus(b.open(page(other)), 200)
	b.do(chromedp.Click(".themes summary"))
	b.do(chromedp.Click(button("Apply to this form")))
	b.wait(`document.querySelector(".notice")?.textContent.includes("Theme applied. Publish the form to make it live.")`)
	b.wait(`document.querySelector("[name=mood]:checked").value === "night" && document.querySelector("[name=cover]").value !== ""`)
}

// TestEmbedSlideIn: the form slides in at the end of the line on a page from right to left, is
// a dialog for assistive technology, and Escape in the form closes it.
func TestEmbedSlideIn(t *testing.T) {
	t.Parallel()
	s := start(t)
	in := form.FormInput{Header: form.Header{Title: "Guests"}, Definition: guestsForm(t)}
	in.Sites = "*"
	path := openOwnerDB(t, s).publish(in)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "style-src 'none'") // the site allows no inline styles
		fmt.Fprintf(w, `<!doctype html><html lang="ar" dir="rtl"><title>مدونة</title><link rel="icon" href="data:,"><main><h1>مدونة</h1>
			<script src="%s/embed.js" data-form="%s" data-mode="slide-in" data-title="Guests" data-button="Join" data-color="#b4532a" data-ink="#ffffff" async></script></main>`, s.URL, strings.TrimPrefix(path, "/f/"))
	}))
	t.Cleanup(site.Close)
	b := openTab(t, strings.Replace(site.URL, "127.0.0.1", "localhost", 1), s.URL)
	b.focusTab()
	b.do(chromedp.EmulateViewport(1280, 800))
	b.setColorScheme("dark")
	b.wantStatus(b.open("/"), 200)
	b.wait(`(window.root = document.querySelector("main > div")?.shadowRoot) != null`)
	b.do(chromedp.Evaluate[chromedp.Void](`root.querySelector(".open").focus()`), chromedp.KeyEvent(kb.Enter))
	f := b.findFrame(s.URL, path)
	if got := run(b, chromedp.Evaluate[string](`(() => {
		const dialog = root.querySelector("dialog"), box = dialog.getBoundingClientRect();
		return [dialog.matches(":modal"), dialog.ariaModal, dialog.ariaLabel, box.left, box.width].join(" ");
	})()`)); got != "true true Guests 16 432" {
		t.Errorf("the dialog is %s", got)
	}
	for _, violation := range b.axeViolations() {
		t.Error(violation)
	}
	f.do(chromedp.Focus(`input[name="name"]`), chromedp.KeyEvent(kb.Escape))
	b.wait(`!root.querySelector("dialog").open && root.activeElement === root.querySelector(".open")`)
}
