package e2e

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"formulary/internal/form"
)

// availability returns the stored availability of a form.
func (d ownerDB) availability(path string) form.Availability {
	d.t.Helper()
	f, err := d.db.Form(context.Background(), d.owner, strings.TrimPrefix(path, "/f/"))
	if err != nil {
		d.t.Fatal(err)
	}
	return f.Availability
}

// setTimeZone sets the time zone of the owner.
func (d ownerDB) setTimeZone(zone string) {
	d.t.Helper()
	if err := d.db.SetProfile(context.Background(), d.owner, "Ada", "en", zone); err != nil {
		d.t.Fatal(err)
	}
}

// TestShare: availability is set on one page, with and without JavaScript.
func TestShare(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, script := range []bool{true, false} {
		t.Run(fmt.Sprintf("script %t", script), func(t *testing.T) {
			t.Parallel()
			d := openOwnerDB(t, s)
			d.setTimeZone("Europe/Berlin")
			slug := fmt.Sprintf("fruit-%t", script)
			b := signedInTab(t, s, ada)
			if !script {
				b.disableScript()
			}
			id := d.createDraft(form.FormInput{Header: form.Header{Title: "Fruit", Language: "en"}, Availability: form.Availability{Sites: form.AnySite}, Definition: parseDefinition(t, fruitForm)})
			share := "/forms/" + id + "/share"
			b.wantStatus(b.open(share), 200)
			b.wantText("Not published yet")
			b.wantStatus(b.press(`form[action$="/publish"] button`), 200)
			b.wantPath(share)
			b.wantText(s.URL+"/f/"+id, "Open")
			if b.count(`input[name="any_site"]:checked`) != 1 {
				t.Error("a new form cannot be embedded by any site")
			}

			set := func(name, value string) { b.do(chromedp.SetValue(fmt.Sprintf(`[name=%q]`, name), value)) }
			set("slug", "No good address")
			set("response_limit", "70")
			b.wantStatus(b.press(button("Save")), 422)
			if b.count(`[name="slug"][aria-invalid]`) != 1 || b.count("#problem-slug") != 1 {
				t.Error("the problem with the custom link is not shown")
			}
			if got := run(b, chromedp.Value(`[name="response_limit"]`)); got != "70" {
				t.Errorf("after a mistake the limit is %q, want it kept", got)
			}
			set("slug", slug)
			set("opens_at", "2020-07-01T10:00")
			set("closes_at", "2040-01-02T18:30")
			b.do(chromedp.Click(`[name="any_site"]`))
			set("sites", "https://blog.example:8443\nhttps://shop.example")
			b.wantStatus(b.press(button("Save")), 200)
			b.wantText("Saved. Changes are live.", s.URL+"/f/"+slug)
			want := form.Availability{
				Slug: slug, ResponseLimit: 70, Sites: "https://blog.example:8443 https://shop.example",
				OpensAt: time.Date(2020, 7, 1, 8, 0, 0, 0, time.UTC), ClosesAt: time.Date(2040, 1, 2, 17, 30, 0, 0, time.UTC),
			}
			got := d.availability(id)
			got.OpensAt, got.ClosesAt = got.OpensAt.UTC(), got.ClosesAt.UTC()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
			for name, want := range map[string]string{"opens_at": "2020-07-01T10:00", "closes_at": "2040-01-02T18:30", "sites": "https://blog.example:8443\nhttps://shop.example", "slug": slug} {
				if got := run(b, chromedp.Value(fmt.Sprintf(`[name=%q]`, name))); got != want {
					t.Errorf("%s shows %q, want %q", name, got, want)
				}
			}
			reader := openTab(t, s.URL)
			reader.wantStatus(reader.open("/f/"+slug), 200)
			reader.wantText("First", "Second")
			b.wantStatus(b.press(button("Close form")), 200)
			b.wantText("Form closed.", "Closed")
			reader.wantStatus(reader.open("/f/"+slug), 409)
			b.wantStatus(b.press(button("Reopen form")), 200)
			b.wantText("Form reopened.")
			reader.wantStatus(reader.open("/f/"+slug), 200)

			// A prefilled link, made by the page or by the server.
			b.wantStatus(b.open(share), 200)
			b.fill(`#prefill [name="first"]`, "Rosé & Ö?")
			if script {
				b.pick(`#prefill [name="second"]`, "pear")
				b.wait(`!document.querySelector("#prefill .copy-field").hidden`)
				prefilled := b.text("#prefill code")
				u, err := url.Parse(prefilled)
				if err != nil || u.Path != "/f/"+slug || u.Query().Encode() != (url.Values{"first": {"Rosé & Ö?"}, "second": {"pear"}}).Encode() {
					t.Errorf("the link is %q (%v)", prefilled, err)
				}
				if got := run(b, chromedp.Evaluate[string](`document.querySelector("#prefill [data-copy]").dataset.copy`)); got != prefilled {
					t.Errorf("copied is %q", got)
				}
				reader.wantStatus(reader.open(prefilled), 200)
			} else {
				b.do(chromedp.SetValue(`#prefill [name="second"]`, "pear"))
				b.wantStatus(b.press("#prefill button:not([data-copy])"), 200)
				b.wantPath("/f/" + slug)
				reader = b
			}
			if got := run(reader, chromedp.Value(`[name="first"]`)); got != "Rosé & Ö?" {
				t.Errorf("the link prefills %q", got)
			}
			if reader.count(`[name="second"][value="pear"]:checked`) != 1 {
				t.Error("the link does not prefill the choice")
			}
		})
	}
}

// TestShareSamples: the QR code and the samples of the embedded form are shown,
// whatever sites are allowed.
func TestShareSamples(t *testing.T) {
	t.Parallel()
	s := start(t)
	for name, sites := range map[string]string{"any site": form.AnySite, "one site": "https://shop.example", "no site": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := openOwnerDB(t, s).publish(form.FormInput{Header: form.Header{Title: "Fruit", Language: "en"}, Availability: form.Availability{Sites: sites}, Definition: parseDefinition(t, fruitForm)})
			id := strings.TrimPrefix(path, "/f/")
			b := signedInTab(t, s, ada)
			b.focusTab()
			b.wantStatus(b.open("/forms/"+id+"/share"), 200)
			b.wait(`(() => { const code = document.querySelector(".qr img"); return code.complete && code.naturalWidth > 0; })()`)
			type file struct{ Type, Disposition, Start string }
			for kind, want := range map[string]file{
				"svg": {"image/svg+xml", "attachment", "<svg"}, "png": {"image/png", "attachment", "\x89PNG"},
			} {
				got := run(b, chromedp.Evaluate[file](fmt.Sprintf(`fetch("/forms/%s/code/qr.%s?download=1").then(async (r) => ({
					Type: r.headers.get("Content-Type"), Disposition: r.headers.get("Content-Disposition").split(";")[0],
					Start: String.fromCharCode(...new Uint8Array(await r.arrayBuffer()).slice(0, 4)) }))`, id, kind), chromedp.EvalAwaitPromise))
				if kind == "png" {
					want.Start = "\u0089PNG"
				}
				if got != want {
					t.Errorf("the %s is %+v, want %+v", kind, got, want)
				}
			}
			b.wantText(fmt.Sprintf(`<script src="%s/embed.js" data-form="%s" data-title="Fruit" async></script>`, s.URL, id))
			b.wait(`(() => { const card = document.querySelector(".share-card img"); card.loading = "eager"; return card.complete && card.naturalWidth === 1200; })()`)
			b.injectSample()
			b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".embeds").scrollIntoView()`))
			b.wait(`sample.shows("inline", "Second")`)
			for _, mode := range []string{"popup", "slide-in"} {
				b.do(chromedp.Click(`.ways [value="` + mode + `"]`))
				// The form is loaded when the dialog is opened, with the keyboard.
				b.wait(`sample.opener("` + mode + `") && !sample.frame("` + mode + `").src`)
				b.do(chromedp.Evaluate[chromedp.Void](`sample.opener("`+mode+`").focus()`), chromedp.KeyEvent(kb.Enter))
				b.wait(`sample.dialog("` + mode + `").matches(":modal") && sample.shows("` + mode + `", "Second")`)
				// Escape closes it, also in the form.
				b.do(chromedp.Evaluate[chromedp.Void](`sample.frame("`+mode+`").contentDocument.querySelector("input:not([type=hidden])").focus()`), chromedp.KeyEvent(kb.Escape))
				b.wait(`!sample.dialog("` + mode + `").open && sample.isFocused("` + mode + `")`)
				b.do(chromedp.KeyEvent(kb.Enter))
				b.wait(`sample.dialog("` + mode + `").open`)
				b.do(chromedp.Evaluate[chromedp.Void](`sample.dialog("` + mode + `").querySelector("button").click()`))
				b.wait(`!sample.dialog("` + mode + `").open`)
			}
			b.do(chromedp.Click(`.ways [value="full-page"]`))
			b.wait(`sample.shows("full-page", "Second") && !sample.frame("full-page").contentDocument.body.classList.contains("embedded")`)
		})
	}
}

// injectSample adds functions that find the parts of the samples on the share page. Dialogs
// are in a shadow root.
func (b *tab) injectSample() {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](`window.sample = {
		page: (mode) => document.querySelector(".way-" + mode + " iframe").contentDocument,
		root: (mode) => Array.from(sample.page(mode)?.querySelectorAll("div") ?? []).find((e) => e.shadowRoot)?.shadowRoot,
		dialog: (mode) => sample.root(mode)?.querySelector("dialog"),
		opener: (mode) => sample.root(mode)?.querySelector(".open") ?? sample.root(mode)?.host.previousElementSibling,
		frame: (mode) => (sample.root(mode) ?? sample.page(mode)).querySelector("iframe"),
		shows: (mode, text) => (sample.frame(mode)?.contentDocument?.body?.innerText ?? "").includes(text),
		isFocused: (mode) => (sample.root(mode).activeElement ?? sample.page(mode).activeElement) === sample.opener(mode),
	}`))
}
