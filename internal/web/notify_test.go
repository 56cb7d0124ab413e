package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// From the page to the mailbox and back: confirm, be notified, unsubscribe, be asked again.
func TestNotify(t *testing.T) {
	eachWithMail(t, func(t *testing.T, m *mailer) {
		const lena = "lena@kiln.example"
		has(t, m.b.Get(m.path), `value="off" checked`, `value="`+ada+`"`, "!Mail is off", "!Unsent mail", "!Recipients")
		p := m.notify("add", ada+", "+lena)
		has(t, p, "Notifications saved.", `value="each" checked`, `<span class="state good">Confirmed</span>`, "Not confirmed yet", "Send again")
		link := m.linkTo(lena, 1)

		// A visit changes nothing; who has the link learns the title and nothing else.
		visitor := m.Browser()
		for range 2 {
			p = visitor.Get(link)
			status(t, "visit", p, 200)
			has(t, p, "Get notified of responses?", "Order &lt;b&gt;now&lt;/b&gt;", "!"+ada, "!"+lena, "!Mara")
		}
		for name, want := range map[string]string{"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow", "Cache-Control": "no-store", "X-Frame-Options": "DENY"} {
			if got := p.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		m.submit("first@shop.example")
		m.notified("first@shop.example")
		has(t, m.b.Get(m.path), "Not confirmed yet")
		status(t, "from another site", visitor.PostFrom(t, "https://evil.example", link, nil), 403)
		has(t, visitor.Post(link, nil), "You get notified")
		has(t, visitor.Get(link), "You get notified", "!<form method=\"post\" action=\"/notifications/confirm")
		has(t, m.b.Get(m.path), "!Not confirmed yet")

		m.submit("second@shop.example")
		got := m.mailTo(lena, 2)
		has(t, clitest.Page{Text: got}, "second@shop.example", "!first@shop.example", "List-Unsubscribe-Post: List-Unsubscribe=One-Click")
		off := m.linkTo(lena, 2)
		has(t, visitor.Get(off), "Unsubscribe?", "Order &lt;b&gt;now&lt;/b&gt;", "!"+lena)
		has(t, m.b.Get(m.path), "!Unsubscribed")
		// Mail programs send one request, from anywhere and without cookies; again is no error.
		for range 2 {
			one := m.Browser().PostFrom(t, "https://mail.example", off, url.Values{"List-Unsubscribe": {"One-Click"}})
			status(t, "one click", one, 200)
		}
		has(t, visitor.Get(off), "You are unsubscribed", "Subscribe again")
		has(t, m.b.Get(m.path), "Unsubscribed", "Ask again")
		if to := m.Call("GET", "/api/v1/forms/"+m.form+"/notifications", m.token, "").Text; strings.Contains(to, lena) {
			t.Errorf("unsubscribed, but listed: %s", to)
		}
		// Saving something else does not ask again.
		has(t, m.notify("when", "daily"), `value="daily" checked`, "Ask again")
		has(t, m.notify("again", lena), "Request sent again.", "Not confirmed yet")
		if again := m.linkTo(lena, 3); again == link {
			t.Error("the link of an address that was added again is the old one")
		}
		old := visitor.Post(link, nil)
		status(t, "the old link", old, 400)
		has(t, old, "This link doesn’t work anymore", "!Order")
		has(t, m.notify("remove", lena), "!"+lena)
	})
}

// An address is asked a few times at most, and problems are shown beside the control.
func TestNotifyProblems(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		m := newMailer(t, nil, s)
		has(t, m.notify("add", "lena@kiln.example", "when", "hourly"), "Not confirmed yet")
		var p clitest.Page
		asked := 1
		for ; asked < 10; asked++ {
			if p = m.notify("again", "lena@kiln.example", "when", "hourly"); p.StatusCode != 200 {
				break
			}
			has(t, p, "Request sent again.")
		}
		status(t, "asked too often", p, 429)
		if has(t, p, "This address was asked several times"); asked != 5 {
			t.Errorf("asked %d times", asked)
		}
		for name, fields := range map[string][]string{
			"address": {"add", "nonsense"}, "one of several": {"add", "q1@kiln.example, b@"}, "frequency": {"when", "weekly"}, "no frequency": {"when", ""},
			"header": {"add", "q1@kiln.example\r\nBcc: b@kiln.example"}, "too many": {"add", strings.Repeat("x@kiln.example ", 30)},
		} {
			p := m.notify(fields...)
			problem(t, name, p)
			has(t, m.b.Get(m.path), `value="hourly" checked`, "!q1@kiln.example", "!x@kiln.example")
		}
		has(t, m.notify("add", "nonsense&<>"), `value="nonsense&amp;&lt;&gt;"`)
		// Unknown addresses in buttons do nothing.
		for _, name := range []string{"again", "retry", "remove"} {
			has(t, m.notify(name, "stranger@kiln.example", "when", "hourly"), "!stranger")
		}
		has(t, m.notify("add", " lena@kiln.example  LENA@KILN.example", "when", "hourly"), "Notifications saved.")
		many := []string{}
		for len(many) < 19 {
			many = append(many, string(rune('a'+len(many)))+"@many.example")
		}
		has(t, m.notify("add", strings.Join(many, ";"), "when", "hourly"), "A form can notify up to 20 addresses.", "!Add an email address")
	})
}

// What the mail server refuses is shown with its words, and can be tried again.
func TestNotifyRefused(t *testing.T) {
	eachWithMail(t, func(t *testing.T, m *mailer) {
		const gone = "lena@rcpt-550.test"
		m.notify("add", gone+" "+ada)
		p := m.waitFor("Failed emails")
		has(t, p, "Request to confirm", "550", "Not sent", `<span class="state bad">Refused</span>`, "Send again")
		m.confirmDirectly(gone)
		has(t, m.b.Get(m.path), "!Refused")
		m.submit("x@example.com")
		m.waitFor(`<span class="state bad">Refused</span>`)
		p = m.waitFor("<strong>Notification</strong>") // stored after the state of the address
		has(t, p, "The mail server says: ", "550", "Try again")
		// The words of the server stay when later mails are not even tried.
		m.submit("y@example.com")
		m.notified("y@example.com")
		has(t, m.b.Get(m.path), "!refused this address before")
		p = m.notify("retry", gone)
		has(t, p, "sent to this address again", "!Try again")
		m.submit("z@example.com")
		m.waitFor("Try again")

		// Another form of the account has no failures.
		other := publish(t, m.Service, m.token, mailForm)
		has(t, m.b.Get("/forms/"+other+"/connect/notify"), "!Failed emails")

		// A temporary failure says when the next attempt is.
		m.notify("add", "tom@data-451-1.test")
		m.waitFor("Next attempt")
	})
}

// Nobody sees or changes the mails of somebody else's form.
func TestNotifyAccess(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		m := newMailer(t, nil, s)
		s.AddUser(bob)
		stranger := s.Browser()
		b := s.Browser()
		b.SignIn(bob)
		base := "/forms/" + m.form + "/connect"
		for _, path := range []string{"/notify", "/notify/preview", "/receipt/preview"} {
			status(t, path, b.Get(base+path), 404)
			status(t, path, stranger.Get(base+path), 303)
		}
		for _, path := range []string{"/notify", "/receipt", "/receipt/preview"} {
			fields := url.Values{"when": {"each"}, "add": {bob}, "active": {"1"}, "field": {"email"}}
			status(t, path, b.Post(base+path, fields), 404)
			status(t, path, stranger.Post(base+path, fields), 303)
			status(t, path, m.b.PostFrom(t, "https://evil.example", base+path, fields), 403)
		}
		has(t, m.b.Get(m.path), `value="off" checked`, "!"+bob, `name="active" value="1">`)
		for _, link := range []string{"/notifications/confirm", "/notifications/unsubscribe"} {
			for _, key := range []string{"", "?k=", "?k=x", "?k=fmn_.", "?k=" + strings.Repeat("a", 5000), "?k=%00"} {
				for _, p := range []clitest.Page{stranger.Get(link + key), stranger.Post(link+key, nil)} {
					status(t, link+key, p, http.StatusBadRequest)
					has(t, p, "This link doesn’t work anymore")
				}
			}
		}
	})
}
