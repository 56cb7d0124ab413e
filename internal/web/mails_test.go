package web_test

import (
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

var keptMail = regexp.MustCompile(`href="(/mails/usr_[a-z0-9]{26}/eml_[a-z0-9]{26})" dir="auto">([^<]*)</a>`)

// unsent waits for a mail on the page of administrators, and returns its address.
func (m *mailer) unsent(subject string) (path string) {
	m.t.Helper()
	var p clitest.Page
	if !clitest.WaitFor(func() bool {
		p = m.b.Get("/mails")
		for _, found := range keptMail.FindAllStringSubmatch(p.Text, -1) {
			if path = found[1]; strings.Contains(found[2], subject) {
				return true
			}
		}
		return false
	}) {
		m.t.Fatalf("no mail %q\n%s", subject, p.Text)
	}
	return path
}

// Without a mail server, administrators read what would have been sent.
func TestMails(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		m := newMailer(t, nil, s)
		s.AddUser(bob)
		has(t, m.b.Get("/"), `href="/mails"`)
		has(t, m.b.Get("/mails?page=99"), "No emails yet", "FORMULARY_SMTP_URL")
		m.receipt(goodReceipt)
		m.submit("mara@example.com")
		path := m.unsent("Thanks, Mara")
		has(t, m.b.Get("/mails"), "mara@example.com")
		has(t, m.b.Get(path), "Thanks, Mara", "To mara@example.com", "We **start** soon.", `src="`+path+`/html"`)
		html := m.b.Get(path + "/html")
		has(t, html, "<strong>start</strong>", `<base target="_blank">`)
		if html.Header.Get("X-Frame-Options") != "SAMEORIGIN" {
			t.Errorf("frame options %s", html.Header.Get("X-Frame-Options"))
		}
		// A request to confirm can be followed from there.
		m.notify("add", "lena@kiln.example")
		confirm := m.b.Get(m.unsent("Confirm notifications") + "/html")
		has(t, s.Browser().Get(recipientLink.FindString(confirm.Text)), "Get notified of responses?")

		b := s.Browser()
		b.SignIn(bob)
		has(t, b.Get("/"), `!href="/mails"`)
		for _, address := range []string{"/mails", path, path + "/html"} {
			p := b.Get(address)
			status(t, address, p, 403)
			has(t, p, "Only administrators can see this page.", "!Mara")
			status(t, address, s.Browser().Get(address), 303)
		}
		other := path[:len(path)-1] + "0"
		if other == path {
			other = path[:len(path)-1] + "1"
		}
		for _, address := range []string{path + "x", "/mails/x/y", "/mails/x/y/html", other} {
			status(t, address, m.b.Get(address), 404)
		}

		// Answers that are deleted are in no mail either.
		s.Call("DELETE", "/api/v1/forms/"+m.form, m.token, "")
		gone := m.b.Get(path)
		has(t, gone, "!Mara")
		has(t, m.b.Get("/mails"), "!Mara")
	})
}

// Mails that a server has got are not for administrators.
func TestMailsAreSent(t *testing.T) {
	eachWithMail(t, func(t *testing.T, m *mailer) {
		m.receipt(goodReceipt)
		m.submit("mara@example.com")
		m.mailTo("mara@example.com", 1)
		has(t, m.b.Get("/"), `!href="/mails"`)
		has(t, m.b.Get("/mails"), "No emails yet", "!Mara")
	})
}
