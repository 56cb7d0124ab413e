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
	"formulary/internal/web"
)

// gallery is where the pictures of the documents are; others are put aside, to be
// looked at.
var gallery, aside = filepath.Join("..", "docs", "images"), filepath.Join("..", ".cache", "screenshots")

// alsoKept are pages whose pictures are kept in every variant.
var alsoKept = []string{"home", "build", "summary", "public"}

// enoughBytes is what the kept pictures may weigh together.
const enoughBytes = 4 << 20

// studio is a service with the data of a small cultural centre.
type studio struct {
	desk
	s    *clitest.Service
	now  time.Time
	dice *rand.Rand
}

// TestScreenshots writes pictures of the main pages: at a desk and on a telephone,
// by day and by night.
func TestScreenshots(t *testing.T) {
	kept := inDocuments(t)
	for _, folder := range []string{gallery, aside} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	fresh, s := start(t), start(t)
	w := studio{openDesk(t, s), s, time.Now(), rand.New(rand.NewPCG(7, 11))}
	views := w.furnish()
	newcomer := visitor(t, fresh, ada)
	owner, stranger := visitor(t, s, ada, "https://newsletter.example"), openTab(t, s.URL)
	owner.inFront()
	total := 0
	for _, v := range append([]view{{name: "home-first", path: "/", status: 200}}, views...) {
		b := owner
		switch v.name {
		case "home-first":
			b = newcomer
		case "public", "signin":
			b = stranger
		}
		for _, width := range []int64{1280, 360} {
			b.do(chromedp.EmulateViewport(width, map[int64]int64{1280: 860, 360: 740}[width], chromedp.EmulateScale(map[int64]float64{1280: 1, 360: 2}[width])))
			b.prefer("light")
			v.show(b)
			for _, scheme := range []string{"light", "dark"} {
				b.prefer(scheme)
				b.wait(`document.fonts.status === "loaded" && Array.from(document.images).every((i) => i.complete)`)
				name := fmt.Sprintf("%s-%d-%s.png", v.name, width, scheme)
				folder := aside
				if kept[name] || slices.Contains(alsoKept, v.name) {
					folder = gallery
				}
				delete(kept, name)
				picture := small(t, ask(b, chromedp.CaptureScreenshot()))
				if err := os.WriteFile(filepath.Join(folder, name), picture, 0o644); err != nil {
					t.Fatal(err)
				}
				if folder == gallery {
					total += len(picture)
				}
				t.Logf("%7d %s", len(picture), filepath.Join(folder, name))
			}
		}
	}
	for name := range kept {
		t.Errorf("the documents show %s, which is not made", name)
	}
	if t.Logf("%d bytes are kept", total); total > enoughBytes {
		t.Errorf("the pictures weigh %d bytes, more than %d", total, enoughBytes)
	}
}

// inDocuments are the pictures that the documents show.
func inDocuments(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, name := range []string{"README.md", filepath.Join("docs", "guide.md")} {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "images/")[1:] {
			if end := strings.Index(part, ".png"); end > 0 {
				found[part[:end+4]] = true
			}
		}
	}
	return found
}

// small writes a picture with 256 colours: those that are most of it, and for the
// rest the nearest of them.
func small(t *testing.T, picture []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	box := full.Bounds()
	often := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(full.At(x, y)).(color.RGBA) }
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			often[at(x, y)]++
		}
	}
	colours := make([]color.RGBA, 0, len(often))
	for c := range often {
		colours = append(colours, c)
	}
	number := func(c color.RGBA) int { return int(c.R)<<16 | int(c.G)<<8 | int(c.B) }
	slices.SortFunc(colours, func(a, b color.RGBA) int { return cmp.Or(often[b]-often[a], number(a)-number(b)) })
	palette := color.Palette{}
	for _, c := range colours[:min(256, len(colours))] {
		palette = append(palette, c)
	}
	place := map[color.RGBA]uint8{}
	out := image.NewPaletted(box, palette)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			c := at(x, y)
			index, ok := place[c]
			if !ok {
				index = uint8(palette.Index(c))
				place[c] = index
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

// furnish fills the service and returns what is to be seen of it.
func (w studio) furnish() []view {
	w.t.Helper()
	ctx := context.Background()
	if err := w.db.SetProfile(ctx, w.owner, "Ada Lovelace", "en", "Europe/Berlin"); err != nil {
		w.t.Fatal(err)
	}
	feedback := w.form("feedback", "", 60, 164, "open", w.customer)
	w.form("rsvp", "Midsummer dinner", 58, 41, "closed", w.guest)
	w.form("survey", "First aid, autumn course", 55, 46, "closed", w.pupil)
	w.form("application", "", 33, 0, "draft", nil)
	w.form("order", "", 30, 38, "open", w.orderer)
	event := w.form("event", "Open studio day", 24, 57, "open", w.visitor)
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
	calls := func(b *tab) {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		defer cancel()
		if err := eventually(ctx, func() bool {
			b.wantStatus(b.open("/applications/"+app.ID), 200)
			return b.count(".calls tbody tr") > 4
		}); err != nil {
			b.t.Fatal("the calls are not listed")
		}
	}
	return []view{
		{name: "home", path: "/", status: 200},
		{name: "build", path: "/forms/" + feedback + "/build", status: 200, then: func(b *tab) {
			b.wait(`document.querySelector("#builder .tools") !== null`)
			b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".fields > li:nth-child(7) .card").focus()`))
			b.wait(`document.querySelector(".fields > li:nth-child(7) .chosen") !== null`)
			b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".chosen").scrollIntoView({ block: "center" })`))
		}},
		{name: "flow", path: "/forms/" + event + "/flow", status: 200},
		{name: "share", path: "/forms/" + event + "/share", status: 200},
		{name: "responses", path: "/forms/" + feedback + "/responses", status: 200},
		{name: "response", path: "/forms/" + feedback + "/responses/" + list[0].ID, status: 200},
		{name: "summary", path: "/forms/" + feedback + "/summary", status: 200},
		{name: "application", path: "/applications/" + app.ID, status: 200, then: calls},
		{name: "account", path: "/account", status: 200},
		{name: "public", path: "/f/" + feedback + "?score=9&service=5&may_quote=true&praise=The+people.", status: 200},
		{name: "consent", path: "/authorize?" + app.AuthorizeURL("forms:read,responses:read").Encode(), status: 200},
		{name: "signin", path: "/signin", status: 200},
	}
}

// form begins with a starter, so many days ago, and has as many people answer it.
func (w studio) form(starter, title string, days, people int, status form.Status, answers func() map[string]any) string {
	w.t.Helper()
	ctx := context.Background()
	plan, err := web.LoadTemplate("en", starter)
	if err != nil {
		w.t.Fatal(err)
	}
	plan.Title = cmp.Or(title, plan.Title)
	made := w.now.AddDate(0, 0, -days)
	f, err := w.db.CreateFormFrom(ctx, w.owner, plan, store.IdempotencyKey{}, made)
	if err != nil {
		w.t.Fatal(err)
	}
	if status == form.Draft {
		return f.ID
	}
	if _, err := w.db.Publish(ctx, w.owner, store.FormRevision{ID: f.ID}, store.IdempotencyKey{}, made.Add(3*time.Hour)); err != nil {
		w.t.Fatal(err)
	}
	public, err := w.db.PublicForm(ctx, f.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	open := days
	if status == form.Closed {
		open = days / 3
	}
	var moments []time.Time
	for range people {
		// Mostly in waves after a letter to everybody, and hardly at night.
		day := w.dice.IntN(open)
		if w.dice.IntN(3) > 0 {
			day = (open * w.dice.IntN(4) / 4) + min(w.dice.IntN(5), w.dice.IntN(7))
		}
		at := made.AddDate(0, 0, min(day, open-1)).Truncate(24 * time.Hour).Add(time.Duration(7*60+w.dice.IntN(15*60)) * time.Minute)
		if at.Before(made.Add(4 * time.Hour)) {
			at = made.Add(time.Duration(5+w.dice.IntN(9)) * time.Hour)
		}
		moments = append(moments, at)
	}
	slices.SortFunc(moments, time.Time.Compare)
	stored := 0
	for _, at := range moments {
		if at.After(w.now) {
			continue
		}
		e := public.Definition.Evaluate(answers())
		if len(e.Problems) > 0 {
			w.t.Fatalf("%s: %+v", starter, e.Problems)
		}
		_, err := w.db.SubmitResponse(ctx, store.Submission{Form: public, Answers: e.Answers, Metadata: form.Metadata{Source: "page", Seconds: 35 + w.dice.Int64N(150)}, At: at})
		if err != nil && fault.Wrap(err).Code != fault.Invalid {
			w.t.Fatal(err)
		}
		if err == nil {
			stored++
		}
	}
	if stored < people*2/3 {
		w.t.Errorf("%s has only %d of %d responses", starter, stored, people)
	}
	if status == form.Closed {
		if _, err := w.db.CloseForm(ctx, w.owner, f.ID, 0, made.AddDate(0, 0, open)); err != nil {
			w.t.Fatal(err)
		}
	}
	return f.ID
}
