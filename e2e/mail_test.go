package e2e

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"formulary/internal/cli/clitest"
	"formulary/internal/form"
	"formulary/internal/mail/mailtest"
)

// startWithMail runs a service that sends mails to a real SMTP server.
func startWithMail(t *testing.T) (*clitest.Service, *mailtest.Server) {
	t.Helper()
	server := mailtest.Start(t, mailtest.WithoutTLS)
	return start(t, "--smtp-url=smtp://"+server.Address+"?tls=none", "--mail-from=forms@example.org"), server
}

// waitForMail waits for a mail with a subject that contains a text.
func waitForMail(t *testing.T, server *mailtest.Server, subject string) (found mailtest.Message) {
	t.Helper()
	server.Wait(func(list []mailtest.Received) bool {
		for _, r := range list {
			if found = mailtest.Parse(t, r); strings.Contains(found.Subject, subject) {
				return true
			}
		}
		return false
	})
	return found
}

// linkIn returns the path and query of a link in the HTML of a mail.
func linkIn(t *testing.T, m mailtest.Message, path string) string {
	t.Helper()
	link := regexp.MustCompile(`href="[^"]*?(` + path + `\?[^"]+)"`).FindStringSubmatch(m.HTML)
	if link == nil {
		t.Fatalf("%q has no link to %s:\n%s", m.Subject, path, m.HTML)
	}
	return link[1]
}

// From a forgotten password through the mail to a session, and in with the new password.
func TestForgottenPassword(t *testing.T) {
	t.Parallel()
	s, server := startWithMail(t)
	b := openTab(t, s.URL)
	b.open("/signin")
	b.wantStatus(b.press(link("Forgot your password?")), 200)
	b.fill(`[name="email"]`, ada)
	b.wantStatus(b.press(button("Send link")), 200)
	b.wantText("Check your inbox", ada)
	reset := linkIn(t, waitForMail(t, server, "Reset your password"), "/reset")
	b.wantStatus(b.open(reset), 200)
	const password = "violet anchor hums 8"
	b.fill(`[name="password"]`, password)
	b.wantStatus(b.press(button("Set password")), 200)
	b.wantPath("/")
	waitForMail(t, server, "Your password was changed")

	other := openTab(t, s.URL)
	other.wantStatus(other.open(reset), 400)
	other.wantText("Link expired")
	other.open("/signin")
	other.fill(`[name="email"]`, ada)
	other.fill(`[name="password"]`, clitest.Password)
	other.press(button("Sign in"))
	other.wantText("The email address or password is incorrect.")
	other.fill(`[name="password"]`, password)
	other.wantStatus(other.press(button("Sign in")), 200)
	other.wantPath("/")
}

// The link in a notification asks before it unsubscribes. Mail programs do it with one request,
// which they find in the headers.
func TestUnsubscribe(t *testing.T) {
	t.Parallel()
	s, server := startWithMail(t)
	d := openOwnerDB(t, s)
	path := d.publish(form.FormInput{Header: form.Header{Title: "Order", Language: "en"}, Definition: parseDefinition(t, orderForm)})
	settings := strings.Replace(path, "/f/", "/forms/", 1) + "/connect/notify"
	owner := signedInTab(t, s, ada)
	owner.open(settings)
	owner.do(chromedp.Click(`input[value="each"]`))
	owner.wantStatus(owner.press(`main form button.primary`), 200)
	owner.wantText(ada + " Confirmed")
	s.Call("POST", path, "", `{"answers": {"name": "Mara", "email": "mara@lindqvist.example", "drink": "tea"}}`)
	notification := waitForMail(t, server, "New response")
	b := openTab(t, s.URL)
	b.wantStatus(b.open(linkIn(t, notification, "/notifications/unsubscribe")), 200)
	b.wantText("Unsubscribe?", "Order")
	owner.open(settings)
	owner.wantText(ada + " Confirmed")
	b.wantStatus(b.press(button("Unsubscribe")), 200)
	b.wantText("You are unsubscribed")
	owner.open(settings)
	owner.wantText(ada + " Unsubscribed")
	b.wantStatus(b.press(button("Subscribe again")), 200)
	owner.open(settings)
	owner.wantText(ada + " Confirmed")

	address := strings.Trim(notification.Get("List-Unsubscribe"), "<>")
	field, value, _ := strings.Cut(notification.Get("List-Unsubscribe-Post"), "=")
	answer, err := http.PostForm(address, url.Values{field: {value}})
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 200 {
		t.Errorf("one click: %d", answer.StatusCode)
	}
	owner.open(settings)
	owner.wantText(ada + " Unsubscribed")
}
