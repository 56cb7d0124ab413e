package web_test

import (
	"context"
	"io"
	"mime/quotedprintable"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/mail/mailtest"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// mailer is a published form of Ada that asks for an address, on a service with a real SMTP
// server.
type mailer struct {
	*clitest.Service
	t      *testing.T
	server *mailtest.Server
	b      *clitest.Browser // of Ada
	token  string
	form   string
	path   string // of the page about mails
}

const mailForm = `{"title": "Order <b>now</b>", "fields": [{"key": "name", "kind": "short_text", "label": "Name"}, {"key": "email", "kind": "email", "label": "Email"}]}`

// eachWithMail runs a test on every engine.
func eachWithMail(t *testing.T, test func(t *testing.T, m *mailer)) {
	t.Helper()
	t.Parallel()
	storetest.EachReused(t, func(t *testing.T, storage storetest.Storage) {
		server := mailtest.Start(t, mailtest.WithoutTLS)
		test(t, newMailer(t, server, clitest.Start(t, storage, "--smtp-url=smtp://"+server.Address+"?tls=none", "--mail-from=forms@example.org")))
	})
}

func newMailer(t *testing.T, server *mailtest.Server, s *clitest.Service) *mailer {
	t.Helper()
	m := &mailer{Service: s, t: t, server: server, b: s.Browser()}
	m.token, m.form = publishAsAda(t, s, mailForm)
	m.path = "/forms/" + m.form + "/connect/notify"
	m.b.SignIn(ada)
	return m
}

// notify saves the form with the notifications, and returns the page after it.
func (m *mailer) notify(fields ...string) clitest.Page {
	m.t.Helper()
	values := url.Values{"when": {"each"}}
	for i := 0; i < len(fields); i += 2 {
		values.Set(fields[i], fields[i+1])
	}
	p := m.b.Post(m.path, values)
	if p.StatusCode == 303 {
		return m.b.Get(p.Header.Get("Location"))
	}
	return p
}

// submit submits a response.
func (m *mailer) submit(email string) string {
	m.t.Helper()
	a := m.Call("POST", "/api/v1/forms/"+m.form+"/responses", m.token, `{"answers": {"name": "Mara", "email": "`+email+`"}}`)
	if a.StatusCode != 201 {
		m.t.Fatalf("submit: %s", a.Text)
	}
	return a.String("id")
}

// mailTo waits for the nth mail to an address and returns it.
func (m *mailer) mailTo(address string, n int) string {
	m.t.Helper()
	var got string
	m.server.Wait(func(list []mailtest.Received) bool {
		count := 0
		for _, r := range list {
			if r.To == address {
				if count++; count == n {
					got = r.Content
					return true
				}
			}
		}
		return false
	})
	text, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(got)))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(text)
}

// notified waits for a mail to Ada that has a text.
func (m *mailer) notified(text string) {
	m.t.Helper()
	m.server.Wait(func(list []mailtest.Received) bool {
		return slices.ContainsFunc(list, func(r mailtest.Received) bool { return r.To == ada && strings.Contains(r.Content, text) })
	})
}

var recipientLink = regexp.MustCompile(`/notifications/(?:confirm|unsubscribe)\?k=fmn_[A-Za-z0-9_.-]+`)

// linkTo returns the link in the nth mail to an address.
func (m *mailer) linkTo(address string, n int) string {
	m.t.Helper()
	link := recipientLink.FindString(m.mailTo(address, n))
	if link == "" {
		m.t.Fatalf("no link in the mail to %s", address)
	}
	return link
}

// confirmDirectly confirms an address that gets no mails.
func (m *mailer) confirmDirectly(address string) {
	m.t.Helper()
	ctx := context.Background()
	db := storetest.Open(m.t, m.Storage)
	user, err := db.UserByEmail(ctx, ada)
	if err != nil {
		m.t.Fatal(err)
	}
	n, err := db.Notifications(ctx, user.ID, m.form)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, r := range n.Recipients {
		if r.Email == address {
			status(m.t, "confirm "+address, m.Browser().Post("/notifications/confirm?k="+store.LinkOf(user.ID, m.form, r).String(), nil), 200)
			return
		}
	}
	m.t.Fatalf("%s is no recipient", address)
}

// waitFor loads the page about mails until it has a text.
func (m *mailer) waitFor(text string) clitest.Page {
	m.t.Helper()
	var p clitest.Page
	if !clitest.WaitFor(func() bool {
		p = m.b.Get(m.path)
		return strings.Contains(p.Text, text)
	}) {
		m.t.Fatalf("the page never has %q\n%s", text, p.Text)
	}
	return p
}
