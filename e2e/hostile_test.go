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

// detectScripts reports hostile texts that run as scripts: they call window.sprung. It
// also disables the content security policy, so that escaping alone must protect the page.
func (b *tab) detectScripts() {
	b.t.Helper()
	sendCommand(b, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true})
	b.injectScript(`window.sprung = () => { console.error("a hostile text ran"); };`)
}

// findActive is a JavaScript function that lists the elements of a document that could
// run code or load resources, except those that our pages have.
const findActive = `(doc) => {
	const found = [], harmless = ["http:", "https:", "mailto:", "tel:"];
	const active = "iframe, frame, frameset, object, embed, applet, math, video, audio, img, image, picture, style:not(head > style:only-of-type), base, marquee, foreignObject, animate, set, " +
		"meta[http-equiv], body link:not([rel=modulepreload][href^='/static/']), script:not([src], [type='application/json']), [srcdoc], [background], [style]";
	for (const e of doc.querySelectorAll("*")) {
		const activeAttributes = Array.from(e.attributes, ({ name, value }) => {
			if (name.startsWith("on")) return name;
			if (!["href", "xlink:href", "src", "action", "formaction", "data", "poster", "srcset", "ping"].includes(name)) return "";
			const { protocol, host } = new URL(value, doc.baseURI);
			if (!harmless.includes(protocol)) return name + "=" + value;
			// Only links may point to other hosts.
			return e.localName !== "a" && host !== doc.location.host ? name + "=" + value : "";
		}).filter(Boolean);
		// Our own frames, QR codes and cards.
		const isOurs = e.matches("iframe, img") && /^\/(f|forms)\/frm_/.test(new URL(e.src, doc.baseURI).pathname);
		if (activeAttributes.length || e.matches(active) && !isOurs) found.push(e.localName + " " + activeAttributes.join(" "));
	}
	return found;
}`

// wantInert fails the test if a hostile text became an element or an attribute.
func (b *tab) wantInert() {
	b.t.Helper()
	if active := run(b, chromedp.Evaluate[[]string]("("+findActive+")(document)")); len(active) > 0 {
		b.t.Errorf("hostile elements at %s: %q", b.location().Path, active)
	}
}

// wantLiteral fails the test unless the selected elements show exactly the names.
func (b *tab) wantLiteral(selector string, names ...string) {
	b.t.Helper()
	shown := run(b, chromedp.Evaluate[[]string](fmt.Sprintf(`Array.from(document.querySelectorAll(%q), (e) => e.textContent)`, selector)))
	isShown := map[string]bool{}
	for _, text := range shown {
		isShown[text] = true
	}
	for _, name := range names {
		if !isShown[name] {
			b.t.Errorf("%s does not show %q as it is", b.location().Path, name)
		}
	}
}

// TestDetectScripts: hostile texts that are not escaped are detected. Otherwise the tests below
// would show nothing.
func TestDetectScripts(t *testing.T) {
	t.Parallel()
	var name string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Security-Policy", "default-src 'none'")
		text := name
		if r.URL.Path == "/frame" {
			text = hostile[0]
		}
		fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,"><main>`+text)
	}))
	defer site.Close()
	for _, name = range []string{hostile[0], hostile[14], hostile[15], hostile[19], `<iframe src=/frame>`} {
		ctx, closeTab := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
		b := &tab{t: t, ctx: ctx, site: site.URL, monitor: startMonitor(t, ctx, []string{site.URL})}
		b.detectScripts()
		b.open("/")
		if problems := strings.Join(b.monitor.problems(), "\n"); !strings.Contains(problems, "a hostile text ran") {
			t.Errorf("%s was not detected: %q", name, problems)
		}
		closeTab()
	}
}

func TestHostileNames(t *testing.T) {
	t.Parallel()
	s := start(t)
	const site = "https://shop.example"
	ids := addApps(t, s.Storage, site+"/callback", hostile)

	// Allowing access without the browser is faster; other tests do it with the
	// browser.
	client := s.Browser()
	client.SignIn(ada)
	b := signedInTab(t, s, ada)
	b.detectScripts()
	b.open("/applications")
	b.wantLiteral("h2 a", hostile...)
	b.wantInert()
	for i, name := range hostile {
		client.Allow(clitest.App{ID: ids[i], Redirect: site + "/callback"}.AuthorizeURL("forms:read"))
		if i%6 != 0 { // the lists show all of them
			continue
		}
		b.wantStatus(b.open("/applications/"+ids[i]), 200)
		b.wantLiteral("h1", name)
		b.wantLiteral("title", name+" · Formulary")
		if got := run(b, chromedp.Value(`input[name="name"]`)); got != name {
			t.Errorf("the field contains %q, want %q", got, name)
		}
		b.wantInert()

		b.open("/authorize?response_type=code&scope=forms:read&client_id=" + ids[i] + "&redirect_uri=" + site + "/callback")
		b.wantLiteral("h1 strong", name)
		b.wantInert()
	}
	b.open("/connections")
	b.wantLiteral("h2", hostile...)
	b.wantInert()
}

// addApps registers applications directly in the database.
func addApps(t *testing.T, place storetest.Storage, redirect string, names []string) (ids []string) {
	t.Helper()
	ctx := context.Background()
	db := storetest.Open(t, place)
	user, err := db.UserByEmail(ctx, ada)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		_, hash := account.NewClientSecret()
		app := account.Application{
			Account: user.ID, ID: id.New(id.App, time.Now()), Name: name,
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
