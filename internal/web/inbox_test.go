package web_test

import (
	"context"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/mail/mailtest"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

func TestMain(m *testing.M) { mailtest.Main(m) }

// people is a service that sends mails to a real SMTP server.
type people struct {
	*clitest.Service
	t      *testing.T
	server *mailtest.Server
	db     *store.Store
	marks  int // mails sent to see that the ones before have arrived
	asked  int // requests for a link
}

// eachWithPeople runs a test on every engine, with an administrator and Ada.
func eachWithPeople(t *testing.T, test func(t *testing.T, s *people), flags ...string) {
	t.Helper()
	t.Parallel()
	storetest.EachReused(t, func(t *testing.T, storage storetest.Storage) {
		server := mailtest.Start(t, mailtest.WithoutTLS)
		flags := append([]string{"--smtp-url=smtp://" + server.Address + "?tls=none", "--mail-from=forms@example.org", "--trusted-proxies=127.0.0.1"}, flags...)
		s := &people{Service: clitest.Start(t, storage, flags...), t: t, server: server}
		s.db = storetest.Open(t, storage)
		s.AddUser("operator@example.com")
		s.AddUser(ada)
		test(t, s)
	})
}

// message is a mail that has arrived.
type message struct{ mailtest.Message }

// sent returns the mails to an address that have been sent, those with a subject if one is
// given. It waits until the queue is empty.
func (s *people) sent(address, subject string) (list []message) {
	s.t.Helper()
	if !clitest.WaitFor(func() bool {
		owners, err := s.db.MailAccounts(context.Background())
		return err == nil && len(owners) == 0
	}) {
		s.t.Fatal("mails are still waiting")
	}
	// A mail after them, in case the server has not reported them yet.
	s.marks++
	s.Command("", "mail", "test", "mark@example.net", "--smtp-url=smtp://"+s.server.Address+"?tls=none", "--mail-from=forms@example.org")
	for _, r := range s.server.Wait(func(list []mailtest.Received) bool { return countTo(list, "mark@example.net") == s.marks }) {
		if r.To != address {
			continue
		}
		if m := (message{mailtest.Parse(s.t, r)}); subject == "" || m.Subject == subject {
			list = append(list, m)
		}
	}
	return list
}

func countTo(list []mailtest.Received, address string) (n int) {
	for _, r := range list {
		if r.To == address {
			n++
		}
	}
	return n
}

// one returns the only mail to an address with a subject.
func (s *people) one(address, subject string) message {
	s.t.Helper()
	list := s.sent(address, subject)
	if len(list) != 1 {
		s.t.Fatalf("%d mails %q to %s", len(list), subject, address)
	}
	return list[0]
}

var mailedLink = regexp.MustCompile(`/(?:reset|confirm|invitation)\?token=fm[il]_[A-Za-z0-9_-]+`)

// link returns the link in a mail, which its text and its HTML have.
func (m message) link(t *testing.T) string {
	t.Helper()
	link := mailedLink.FindString(m.Text)
	if link == "" || !strings.Contains(m.HTML, link) {
		t.Fatalf("no link in %q", m.Text)
	}
	return link
}

func (m message) must(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(m.Text, text) {
			t.Errorf("%q lacks %q:\n%s", m.Subject, text, m.Text)
		}
	}
}

// follow posts the form of a link.
func (s *people) follow(b *clitest.Browser, link string, fields ...string) clitest.Page {
	s.t.Helper()
	path, token, _ := strings.Cut(link, "?token=")
	values := url.Values{"token": {token}}
	for i := 0; i < len(fields); i += 2 {
		values.Set(fields[i], fields[i+1])
	}
	return b.Post(path, values)
}
