//go:build screenshots

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"formulary/internal/cli/clitest"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/workspace"
)

// imagesDir has the images of the documentation; other screenshots go to previewDir.
var imagesDir, previewDir = filepath.Join("..", "docs", "images"), filepath.Join("..", ".cache", "screenshots")

// alwaysKept are pages whose screenshots are in the repository in every variant.
var alwaysKept = []string{"home", "build", "summary", "public"}

// maxImageBytes is the limit for all images in the repository.
const maxImageBytes = 4 << 20

// demoData is a service with the data of a small cultural center.
type demoData struct {
	ownerDB
	s   *clitest.Service
	now time.Time
	rng *rand.Rand
}

// TestScreenshots writes screenshots of the main pages: on a desktop and a phone, in
// light and dark mode.
func TestScreenshots(t *testing.T) {
	wanted := documentedImages(t)
	for _, folder := range []string{imagesDir, previewDir} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	emptyService := start(t)
	s, _ := startWithMail(t)
	w := demoData{openOwnerDB(t, s), s, time.Now(), rand.New(rand.NewPCG(7, 11))}
	views := w.createData()
	newUser := signedInTab(t, emptyService, ada)
	owner, stranger := signedInTab(t, s, ada, "https://newsletter.example"), openTab(t, s.URL)
	owner.focusTab()
	total := 0
	for _, v := range append([]view{{name: "home-first", path: "/", status: 200}}, views...) {
		b := owner
		switch v.name {
		case "home-first":
			b = newUser
		case "public", "signin":
			b = stranger
		}
		for _, width := range []int64{1280, 360} {
			b.do(chromedp.EmulateViewport(width, map[int64]int64{1280: 860, 360: 740}[width], chromedp.EmulateScale(map[int64]float64{1280: 1, 360: 2}[width])))
			b.setColorScheme("light")
			v.show(b)
			for _, scheme := range []string{"light", "dark"} {
				b.setColorScheme(scheme)
				b.wait(`document.fonts.status === "loaded" && Array.from(document.images).every((i) => i.complete)`)
				name := fmt.Sprintf("%s-%d-%s.png", v.name, width, scheme)
				folder := previewDir
				if wanted[name] || slices.Contains(alwaysKept, v.name) {
					folder = imagesDir
				}
				delete(wanted, name)
				picture := shrinkPNG(t, run(b, chromedp.CaptureScreenshot()))
				if err := os.WriteFile(filepath.Join(folder, name), picture, 0o644); err != nil {
					t.Fatal(err)
				}
				if folder == imagesDir {
					total += len(picture)
				}
				t.Logf("%7d %s", len(picture), filepath.Join(folder, name))
			}
		}
	}
	for name := range wanted {
		t.Errorf("the documents show %s, which is not made", name)
	}
	if t.Logf("%d bytes in the repository", total); total > maxImageBytes {
		t.Errorf("the images have %d bytes, more than %d", total, maxImageBytes)
	}
}

// documentedImages returns the names of the images that the documentation shows.
func documentedImages(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, name := range []string{"README.md", filepath.Join("docs", "guide.md"), filepath.Join("docs", "mail.md"), filepath.Join("docs", "spaces.md"), filepath.Join("docs", "applications.md")} {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "images/")[1:] {
			if end := strings.Index(part, ".png"); end > 0 {
				names[part[:end+4]] = true
			}
		}
	}
	return names
}

// shrinkPNG reduces an image to its 256 most frequent colors; other colors become the
// nearest of them.
func shrinkPNG(t *testing.T, picture []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	box := full.Bounds()
	frequency := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(full.At(x, y)).(color.RGBA) }
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			frequency[at(x, y)]++
		}
	}
	colors := make([]color.RGBA, 0, len(frequency))
	for c := range frequency {
		colors = append(colors, c)
	}
	number := func(c color.RGBA) int { return int(c.R)<<16 | int(c.G)<<8 | int(c.B) }
	slices.SortFunc(colors, func(a, b color.RGBA) int { return cmp.Or(frequency[b]-frequency[a], number(a)-number(b)) })
	palette := color.Palette{}
	for _, c := range colors[:min(256, len(colors))] {
		palette = append(palette, c)
	}
	indexOf := map[color.RGBA]uint8{}
	out := image.NewPaletted(box, palette)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			c := at(x, y)
			index, ok := indexOf[c]
			if !ok {
				index = uint8(palette.Index(c))
				indexOf[c] = index
			}
			out.SetColorIndex(x, y, index)
		}
	}
	var text bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&text, out); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// createData fills the service and returns the views to capture.
func (w demoData) createData() []view {
	w.t.Helper()
	ctx := context.Background()
	if err := w.db.SetProfile(ctx, w.owner, "Ada Lovelace", "en", "Europe/Berlin"); err != nil {
		w.t.Fatal(err)
	}
	feedback := w.createForm(demoForm{"feedback", "", 60, 164, "open", w.customer})
	w.createForm(demoForm{"rsvp", "Midsummer dinner", 58, 41, "closed", w.guest})
	w.createForm(demoForm{"survey", "First aid, autumn course", 55, 46, "closed", w.pupil})
	w.createForm(demoForm{"application", "", 33, 0, "draft", nil})
	w.createForm(demoForm{"order", "", 30, 38, "open", w.orderer})
	event := w.createForm(demoForm{"event", "Open studio day", 24, 57, "open", w.visitor})
	if _, err := w.db.UpdateForm(ctx, w.owner, store.FormRevision{ID: event}, func(p *form.FormInput) error {
		p.Slug, p.ClosesAt, p.ResponseLimit = "open-studio", w.now.AddDate(0, 0, 20).Truncate(time.Hour), 120
		return p.Normalize()
	}, w.now.Add(-50*time.Hour)); err != nil {
		w.t.Fatal(err)
	}
	app := clitest.App{Redirect: "https://newsletter.example/callback"}
	if err := json.Unmarshal([]byte(w.s.Command("", "app", "add", "Newsletter", "--owner="+ada, "--redirect-uri="+app.Redirect, "--json")), &app); err != nil {
		w.t.Fatal(err)
	}
	token := w.s.Token(ada, app, "forms:read,responses:read").Access
	for _, path := range []string{"/forms?per_page=20", "/forms/" + feedback, "/forms/" + feedback + "/responses?per_page=50", "/forms/" + feedback + "/summary", "/forms/frm_00000000000000000000000000"} {
		w.s.Call("GET", "/api/v1"+path, token, "")
	}
	list, _, err := w.db.Responses(ctx, w.owner, feedback, store.ResponseFilter{Search: "workshop"}, store.Page{Limit: 1})
	if err != nil || len(list) != 1 {
		w.t.Fatalf("there is no such response: %v", err)
	}
	space := w.createSpace()
	waitForRequests := func(b *tab) {
		ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
		defer cancel()
		if err := waitUntil(ctx, func() bool {
			b.wantStatus(b.open("/applications/"+app.ID), 200)
			return b.count(".request-log tbody tr") > 4
		}); err != nil {
			b.t.Fatal("the requests are not listed")
		}
	}
	return []view{
		{name: "home", path: "/", status: 200},
		{name: "build", path: "/forms/" + feedback + "/build", status: 200, prepare: func(b *tab) {
			b.wait(`document.querySelector("#builder .toolbar") !== null`)
			b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".fields > li:nth-child(7)").focus()`))
			b.wait(`document.querySelector(".fields > li:nth-child(7).selected") !== null`)
			b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".fields > .selected").scrollIntoView({ block: "center" })`))
		}},
		{name: "flow", path: "/forms/" + event + "/flow", status: 200},
		{name: "share", path: "/forms/" + event + "/share", status: 200},
		{name: "connect", path: "/forms/" + feedback + "/connect", status: 200},
		{name: "webhook", path: w.createWebhooks(feedback), status: 200},
		{name: "notify", path: w.createNotifications(event), status: 200, prepare: func(b *tab) { waitForPreviews(b, 1) }},
		{name: "receipt", path: "/forms/" + event + "/connect/notify", status: 200, prepare: func(b *tab) {
			b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#receipt").scrollIntoView()`))
			waitForPreviews(b, 2)
		}},
		{name: "responses", path: "/forms/" + feedback + "/responses", status: 200},
		{name: "response", path: "/forms/" + feedback + "/responses/" + list[0].ID, status: 200},
		{name: "summary", path: "/forms/" + feedback + "/summary", status: 200},
		{name: "application", path: "/applications/" + app.ID, status: 200, prepare: waitForRequests},
		{name: "account", path: "/account", status: 200},
		{name: "public", path: "/f/" + feedback + "?score=9&service=5&may_quote=true&praise=The+people.", status: 200},
		{name: "consent", path: "/authorize?" + app.AuthorizeURL("forms:read,responses:read").Encode(), status: 200},
		{name: "consent-limits", path: "/authorize?" + app.AuthorizeURL("forms:read,responses:read").Encode(), status: 200, prepare: func(b *tab) {
			b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".limits").open = true`))
		}},
		{name: "space", path: space, status: 200},
		{name: "spaces", path: "/spaces", status: 200},
		{name: "design", path: "/forms/" + feedback + "/design", status: 200},
		{name: "signin", path: "/signin", status: 200},
	}
}

// demoForm is a form to create from a template.
type demoForm struct {
	template string
	title    string // empty: that of the template
	days     int    // age of the form
	people   int    // number of respondents
	status   form.Status
	answers  func() map[string]any
}

// createForm creates a form and its responses and returns its ID.
func (w demoData) createForm(spec demoForm) string {
	w.t.Helper()
	ctx := context.Background()
	in, err := workspace.LoadTemplate("en", spec.template)
	if err != nil {
		w.t.Fatal(err)
	}
	in.Title = cmp.Or(spec.title, in.Title)
	createdAt := w.now.AddDate(0, 0, -spec.days)
	f, err := w.db.CreateFormFrom(ctx, w.owner, in, store.IdempotencyKey{}, createdAt)
	if err != nil {
		w.t.Fatal(err)
	}
	if spec.status == form.Draft {
		return f.ID
	}
	if _, err := w.db.Publish(ctx, w.owner, store.FormRevision{ID: f.ID}, store.IdempotencyKey{}, createdAt.Add(3*time.Hour)); err != nil {
		w.t.Fatal(err)
	}
	public, err := w.db.PublicForm(ctx, f.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	open := spec.days
	if spec.status == form.Closed {
		open = spec.days / 3
	}
	var times []time.Time
	for range spec.people {
		// Mostly in waves after a newsletter, and never at night.
		day := w.rng.IntN(open)
		if w.rng.IntN(3) > 0 {
			day = (open * w.rng.IntN(4) / 4) + min(w.rng.IntN(5), w.rng.IntN(7))
		}
		submittedAt := createdAt.AddDate(0, 0, min(day, open-1)).Truncate(24 * time.Hour).Add(time.Duration(7*60+w.rng.IntN(15*60)) * time.Minute)
		if submittedAt.Before(createdAt.Add(4 * time.Hour)) {
			submittedAt = createdAt.Add(time.Duration(5+w.rng.IntN(9)) * time.Hour)
		}
		times = append(times, submittedAt)
	}
	slices.SortFunc(times, time.Time.Compare)
	stored := 0
	for _, submittedAt := range times {
		if submittedAt.After(w.now) {
			continue
		}
		e := public.Definition.Evaluate(spec.answers())
		if len(e.Problems) > 0 {
			w.t.Fatalf("%s: %+v", spec.template, e.Problems)
		}
		w.countVisits(public, submittedAt)
		_, err := w.db.SubmitResponse(ctx, store.Submission{Form: public, Answers: e.Answers, Metadata: form.Metadata{Source: "page", Seconds: 35 + w.rng.Int64N(150)}, At: submittedAt})
		if err != nil && fault.Wrap(err).Code != fault.Invalid {
			w.t.Fatal(err)
		}
		if err == nil {
			stored++
		}
	}
	if stored < spec.people*2/3 {
		w.t.Errorf("%s has only %d of %d responses", spec.template, stored, spec.people)
	}
	if spec.status == form.Closed {
		if _, err := w.db.CloseForm(ctx, w.owner, f.ID, 0, createdAt.AddDate(0, 0, open)); err != nil {
			w.t.Fatal(err)
		}
	}
	return f.ID
}
