package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// armed opens the trap in every page of the tab: sprung is there to be called,
// and the content security policy is out of the way, so that the names have to
// be harmless by themselves.
func (b *tab) armed() {
	b.t.Helper()
	call(b, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true})
	b.onEveryPage(`window.sprung = () => { console.error("a hostile name ran"); };`)
}

// lively lists what in a document could do something, or fetch something, that no
// page of ours has.
const lively = `(doc) => {
	const found = [], harmless = ["http:", "https:", "mailto:", "tel:"];
	const active = "iframe, frame, frameset, object, embed, applet, math, video, audio, img, image, picture, style, base, marquee, foreignObject, animate, set, " +
		"meta[http-equiv], body link, script:not([src], [type='application/json']), [srcdoc], [background], [style]";
	for (const e of doc.querySelectorAll("*")) {
		const acts = Array.from(e.attributes, ({ name, value }) => {
			if (name.startsWith("on")) return name;
			if (!["href", "xlink:href", "src", "action", "formaction", "data", "poster", "srcset", "ping"].includes(name)) return "";
			const { protocol, host } = new URL(value, doc.baseURI);
			if (!harmless.includes(protocol)) return name + "=" + value;
			// A link may lead away; all else is ours.
			return e.localName !== "a" && host !== doc.location.host ? name + "=" + value : "";
		}).filter(Boolean);
		// The owner sees the form in a frame, and its link as a picture; the sample of
		// the pop-up styles itself.
		const ours = e.matches("#popup > dialog, #popup > dialog > button") ||
			e.matches("iframe, img") && /^\/(f|forms)\/frm_/.test(new URL(e.src, doc.baseURI).pathname);
		if (acts.length || e.matches(active) && !ours) found.push(e.localName + " " + acts.join(" "));
	}
	return found;
}`

// wantInert fails the test if a name became an element or an attribute.
func (b *tab) wantInert() {
	b.t.Helper()
	if found := ask(b, chromedp.Evaluate[[]string]("("+lively+")(document)")); len(found) > 0 {
		b.t.Errorf("hostile elements at %s: %q", b.at().Path, found)
	}
}

// wantLiteral fails the test unless the selected elements show just the names.
func (b *tab) wantLiteral(selector string, names ...string) {
	b.t.Helper()
	shown := ask(b, chromedp.Evaluate[[]string](fmt.Sprintf(`Array.from(document.querySelectorAll(%q), (e) => e.textContent)`, selector)))
	have := map[string]bool{}
	for _, words := range shown {
		have[words] = true
	}
	for _, name := range names {
		if !have[name] {
			b.t.Errorf("%s does not show %q as it is", b.at().Path, name)
		}
	}
}

// The trap has to be able to spring, or the tests below show nothing.
func TestTrap(t *testing.T) {
	t.Parallel()
	var name string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Security-Policy", "default-src 'none'")
		words := name
		if r.URL.Path == "/frame" {
			words = hostile[0]
		}
		fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,"><main>`+words)
	}))
	defer site.Close()
	for _, name = range []string{hostile[0], hostile[14], hostile[15], hostile[19], `<iframe src=/frame>`} {
		ctx, closeTab := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
		b := &tab{t: t, ctx: ctx, site: site.URL, watch: startWatch(t, ctx, []string{site.URL})}
		b.armed()
		b.open("/")
		if found := strings.Join(b.watch.problems(), "\n"); !strings.Contains(found, "a hostile name ran") {
			t.Errorf("%s did not spring the trap: %q", name, found)
		}
		closeTab()
	}
}

func TestHostileNames(t *testing.T) {
	t.Parallel()
	s := start(t)
	const site = "https://shop.example"
	ids := addApps(t, s.Place, site+"/callback", hostile)

	// Allowing without the browser is faster, and is tested with it elsewhere.
	person := s.Browser()
	person.SignIn(ada)
	b := visitor(t, s, ada)
	b.armed()
	b.open("/applications")
	b.wantLiteral("h2 a", hostile...)
	b.wantInert()
	for i, name := range hostile {
		b.wantStatus(b.open("/applications/"+ids[i]), 200)
		b.wantLiteral("h1", name)
		b.wantLiteral("title", name+" · Formulary")
		if got := ask(b, chromedp.Value(`input[name="name"]`)); got != name {
			t.Errorf("the field holds %q, want %q", got, name)
		}
		b.wantInert()

		b.open("/authorize?response_type=code&scope=forms:read&client_id=" + ids[i] + "&redirect_uri=" + site + "/callback")
		b.wantLiteral("h1 strong", name)
		b.wantInert()
		person.Allow(clitest.App{ID: ids[i], Redirect: site + "/callback"}.AuthorizeURL("forms:read"))
	}
	b.open("/connections")
	b.wantLiteral("h2", hostile...)
	b.wantInert()
}

// addApps registers applications with names that no form would make it easy to
// type.
func addApps(t *testing.T, place storetest.Place, redirect string, names []string) (ids []string) {
	t.Helper()
	ctx := context.Background()
	db := storetest.Open(t, place)
	person, err := db.UserByEmail(ctx, ada)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		_, hash := account.NewClientSecret()
		app := account.Application{
			Account: person.ID, ID: id.New(id.App, time.Now()), Name: name,
			RedirectURIs: []string{redirect}, Scopes: account.DefaultScopes(), CreatedAt: time.Now(),
		}
		if err := app.Check(); err != nil {
			t.Fatalf("%q cannot be a name: %v", name, err)
		}
		if _, err := db.AddApp(ctx, app, hash, store.IdempotencyKey{}); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, app.ID)
	}
	return ids
}
