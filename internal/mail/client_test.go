package mail_test

import (
	"context"
	"errors"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"formulary/internal/mail"
	"formulary/internal/mail/mailtest"
)

func TestMain(m *testing.M) { mailtest.Main(m) }

var ctx = context.Background()

// newClient returns a client for a server, whose URL has a suffix such as ?tls=none.
func newClient(t *testing.T, scheme, user string, s *mailtest.Server, suffix string, trusted mailtest.Certificate) *mail.Client {
	t.Helper()
	server, err := mail.ParseServer(scheme + "://" + user + s.Address + suffix)
	if err != nil {
		t.Fatal(err)
	}
	server.RootCAs = trusted.Pool
	c := mail.NewClient(server, netmail.Address{Name: "Forms", Address: "forms@example.com"})
	t.Cleanup(func() { c.CloseIdle(true) })
	return c
}

func message(id, to string) mail.Message {
	return mail.Message{ID: id, To: to, Subject: "Hello", Text: "Hello\n", HTML: "<p>Hello</p>", Date: time.Now()}
}

// A connection is encrypted with a certificate that is trusted, or not used.
func TestConnections(t *testing.T) {
	t.Parallel()
	ours, other := mailtest.NewCertificate(t), mailtest.NewCertificate(t)
	for _, c := range []struct {
		name, scheme, user, suffix string
		options                    []mailtest.Option
		trusted                    mailtest.Certificate
		sent                       bool
	}{
		{"STARTTLS", "smtp", "", "", []mailtest.Option{mailtest.WithCertificate(ours)}, ours, true},
		{"STARTTLS with another certificate", "smtp", "", "", []mailtest.Option{mailtest.WithCertificate(ours)}, other, false},
		{"STARTTLS is required", "smtp", "", "", []mailtest.Option{mailtest.WithoutTLS}, ours, false},
		{"without TLS", "smtp", "", "?tls=none", []mailtest.Option{mailtest.WithoutTLS}, ours, true},
		{"implicit TLS", "smtps", "", "", []mailtest.Option{mailtest.WithImplicitTLS, mailtest.WithCertificate(ours)}, ours, true},
		{"implicit TLS with another certificate", "smtps", "", "", []mailtest.Option{mailtest.WithImplicitTLS, mailtest.WithCertificate(ours)}, other, false},
		{"AUTH", "smtp", "ada:p%40ss@", "", []mailtest.Option{mailtest.WithCertificate(ours), mailtest.WithUser("ada", "p@ss")}, ours, true},
		{"AUTH over implicit TLS", "smtps", "ada:p%40ss@", "", []mailtest.Option{mailtest.WithImplicitTLS, mailtest.WithCertificate(ours), mailtest.WithUser("ada", "p@ss")}, ours, true},
		{"AUTH without TLS", "smtp", "ada:p%40ss@", "?tls=none", []mailtest.Option{mailtest.WithoutTLS, mailtest.WithUser("ada", "p@ss")}, ours, true},
		{"AUTH with a wrong password", "smtp", "ada:wrong@", "", []mailtest.Option{mailtest.WithCertificate(ours), mailtest.WithUser("ada", "p@ss")}, ours, false},
		{"421 as greeting", "smtp", "", "", []mailtest.Option{mailtest.WithCertificate(ours), mailtest.WithGreeting(421)}, ours, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := mailtest.Start(t, c.options...)
			err := newClient(t, c.scheme, c.user, s, c.suffix, c.trusted).Send(ctx, message("eml_1", "ana@example.org"))
			if c.sent && err != nil || !c.sent && !mail.IsOutage(err) {
				t.Fatalf("sent: %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "p@ss") {
				t.Errorf("the error has the password: %v", err)
			}
			if !c.sent {
				if n := len(s.Received()); n != 0 {
					t.Errorf("%d mails received", n)
				}
				return
			}
			got := s.WaitFor(1)[0]
			if got.From != "forms@example.com" || got.To != "ana@example.org" || got.ID != "<eml_1@example.com>" {
				t.Errorf("received from %s to %s: %s", got.From, got.To, got.ID)
			}
		})
	}
}

// What a server answers decides whether a mail is tried again.
func TestFailures(t *testing.T) {
	t.Parallel()
	s := mailtest.Start(t, mailtest.WithoutTLS)
	c := newClient(t, "smtp", "", s, "?tls=none", mailtest.Certificate{})
	for _, test := range []struct {
		to                    string
		code                  int
		permanent, badAddress bool
	}{
		{"a@rcpt-550.test", 550, true, true},
		{"a@rcpt-450.test", 450, false, false},
		{"a@rcpt-421.test", 421, false, false},
		{"a@data-554.test", 554, true, false},
		{"a@data-451.test", 451, false, false},
		{"a@drop-9.test", 0, false, false},
	} {
		err := c.Send(ctx, message("eml_"+test.to[2:6], test.to))
		f, ok := errors.AsType[*mail.Failure](err)
		if !ok || f.Code != test.code || f.Permanent != test.permanent || f.BadAddress != test.badAddress || mail.IsOutage(err) {
			t.Errorf("%s: %+v", test.to, err)
		}
		// The connection, or the next one, still works.
		if err := c.Send(ctx, message("eml_ok", "ok@example.org")); err != nil {
			t.Errorf("after %s: %v", test.to, err)
		}
	}
	if err := c.Send(ctx, message("eml_bad", "a@example.org\r\nBcc: b@example.org")); err == nil || err.(*mail.Failure).Permanent == false {
		t.Errorf("an address with two lines: %v", err)
	}
}

// A connection that the server has closed is replaced.
func TestReconnect(t *testing.T) {
	t.Parallel()
	s := mailtest.Start(t, mailtest.WithoutTLS)
	c := newClient(t, "smtp", "", s, "?tls=none", mailtest.Certificate{})
	if err := c.Send(ctx, message("eml_1", "ana@example.org")); err != nil {
		t.Fatal(err)
	}
	s.WaitFor(1)
	s.Stop()
	if err := c.Send(ctx, message("eml_2", "ana@example.org")); !mail.IsOutage(err) {
		t.Errorf("without a server: %v", err)
	}
	s.Restart()
	if err := c.Send(ctx, message("eml_3", "ana@example.org")); err != nil {
		t.Error(err)
	}
	s.WaitFor(2)
	s.Stop()
	s.Restart()
	if err := c.Send(ctx, message("eml_4", "ana@example.org")); err != nil {
		t.Error(err)
	}
	s.WaitFor(3)
}

// Domains are sent as the DNS spells them. Other letters before the @ need a server that accepts
// them; other mails do not ask for that.
func TestInternationalAddresses(t *testing.T) {
	t.Parallel()
	modern, old := mailtest.Start(t, mailtest.WithoutTLS), mailtest.Start(t, mailtest.WithoutTLS, mailtest.WithoutUTF8)
	for _, c := range []struct {
		server   *mailtest.Server
		to, want string // empty: it cannot be sent
		utf8     bool
	}{
		{modern, "ana@example.org", "ana@example.org", false},
		{modern, "ana@bücher.example", "ana@xn--bcher-kva.example", false},
		{modern, "jürgen@bücher.example", "jürgen@xn--bcher-kva.example", true},
		{modern, "أحمد@مثال.example", "أحمد@xn--mgbh0fb.example", true},
		{modern, "ana@exa\u00admple..ü", "", false},
		{old, "ana@bücher.example", "ana@xn--bcher-kva.example", false},
		{old, "jürgen@bücher.example", "", false},
		{old, "ben@example.org", "ben@example.org", false},
	} {
		before := len(c.server.Received())
		m := message("mal_1", c.to)
		m.ReplyTo = "ö@example.net"
		err := newClient(t, "smtp", "", c.server, "?tls=none", mailtest.Certificate{}).Send(ctx, m)
		if c.want == "" {
			if f, ok := errors.AsType[*mail.Failure](err); !ok || !f.Permanent || mail.IsOutage(err) {
				t.Errorf("%s: %v", c.to, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.to, err)
			continue
		}
		got := c.server.WaitFor(before + 1)[before]
		if p := mailtest.Parse(t, got); got.To != c.want || got.UTF8 != c.utf8 || p.Get("To") != "<"+c.want+">" || p.Get("Reply-To") != "" {
			t.Errorf("%s: sent to %s, %s, with UTF8: %v, replies to %q", c.to, got.To, p.Get("To"), got.UTF8, p.Get("Reply-To"))
		}
	}
	for text, want := range map[string]string{"Forms <forms@bücher.example>": "forms@xn--bcher-kva.example", "fö@example.com": ""} {
		if got, _ := mail.ParseSender(text); got.Address != want {
			t.Errorf("%s is %q, want %q", text, got.Address, want)
		}
	}
}
