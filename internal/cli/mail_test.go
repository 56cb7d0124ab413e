package cli_test

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"

	"formulary/internal/mail/mailtest"
)

// "mail test" sends a mail over a connection that is encrypted with a trusted certificate, or says
// why it cannot.
func TestMailTest(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("formulary")
	if err != nil {
		t.Fatal(err)
	}
	ours, other := mailtest.NewCertificate(t), mailtest.NewCertificate(t)
	s := mailtest.Start(t, mailtest.WithCertificate(ours), mailtest.WithUser("ada", "s3cret-word"))
	for _, c := range []struct {
		name, url, from, address, trusted string
		want                              string // in the output
	}{
		{"works", "smtp://ada:s3cret-word@" + s.Address, "Forms <forms@example.com>", "ana@example.org", ours.CertFile, "Sent an email from \"Forms\" <forms@example.com> to ana@example.org."},
		{"from by default", "smtp://ada:s3cret-word@" + s.Address, "", "ana@example.org", ours.CertFile, "<formulary@forms.example.com> to ana@example.org."},
		{"another certificate", "smtp://ada:s3cret-word@" + s.Address, "", "ana@example.org", other.CertFile, "certificate"},
		{"wrong password", "smtp://ada:wrong-word@" + s.Address, "", "ana@example.org", ours.CertFile, "535"},
		{"refused", "smtp://ada:s3cret-word@" + s.Address, "", "ana@rcpt-550.test", ours.CertFile, "550"},
		{"no address", "smtp://ada:s3cret-word@" + s.Address, "", "ana", ours.CertFile, `"ana" is not an email address`},
		{"no server", "", "", "ana@example.org", ours.CertFile, "set FORMULARY_SMTP_URL"},
		{"wrong URL", "http://ada:s3cret-word@" + s.Address, "", "ana@example.org", ours.CertFile, "use a URL such as smtp://"},
		{"wrong sender", "smtp://" + s.Address, "two lines", "ana@example.org", ours.CertFile, "FORMULARY_MAIL_FROM"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(s.Received())
			cmd := exec.CommandContext(context.Background(), program, "mail", "test", c.address)
			cmd.Env = []string{"FORMULARY_SMTP_URL=" + c.url, "FORMULARY_MAIL_FROM=" + c.from, "FORMULARY_BASE_URL=https://forms.example.com", "SSL_CERT_FILE=" + c.trusted, "SSL_CERT_DIR=/nowhere"}
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			err := cmd.Run()
			if sent := strings.Contains(c.want, "to ana@example.org."); sent != (err == nil) || !strings.Contains(out.String(), c.want) {
				t.Errorf("%v: %s", err, out.String())
			} else if sent {
				s.WaitFor(before + 1)
			}
			if strings.Contains(out.String(), "-word") {
				t.Errorf("the password is in the output: %s", out.String())
			}
		})
	}
}
