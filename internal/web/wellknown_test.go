package web_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
	"formulary/internal/web"
)

func TestSecurityTxt(t *testing.T) {
	t.Parallel()
	s := clitest.Start(t, storetest.MigratedSQLite(t), "--base-url=https://forms.example.com",
		"--security-contact=mailto:security@example.com", "--security-policy=https://example.com/policy")
	// Not at the base URL, which does not resolve.
	res, err := http.Get(s.Local + web.SecurityTxt)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("security.txt: %d %v", res.StatusCode, err)
	}
	if got := res.Header.Get("Content-Type"); got != "text/plain; charset=utf-8" {
		t.Errorf("it is %s", got)
	}
	fields := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if _, twice := fields[name]; !ok || twice {
			t.Errorf("the line %q", line)
		}
		fields[name] = value
	}
	expires, err := time.Parse(time.RFC3339, fields["Expires"])
	if ahead := time.Until(expires); err != nil || ahead < 24*time.Hour || ahead > 365*24*time.Hour {
		t.Errorf("it expires %s: %v", fields["Expires"], err)
	}
	delete(fields, "Expires")
	want := map[string]string{
		"Contact": "mailto:security@example.com", "Policy": "https://example.com/policy",
		"Canonical": "https://forms.example.com/.well-known/security.txt", "Preferred-Languages": "en",
	}
	for name, value := range want {
		if fields[name] != value {
			t.Errorf("%s is %q, not %q", name, fields[name], value)
		}
	}
	if len(fields) != len(want) {
		t.Errorf("fields: %v", fields)
	}
	// RFC 9116 requires https: for Canonical.
	s = clitest.Start(t, storetest.MigratedSQLite(t), "--security-contact=https://example.com/report")
	p := s.Browser().Get(web.SecurityTxt)
	if !strings.HasPrefix(p.Text, "Contact: https://example.com/report\nExpires: ") || strings.Contains(p.Text, "Canonical") || strings.Contains(p.Text, "Policy") {
		t.Errorf("over http:\n%s", p.Text)
	}
	s = clitest.Start(t, storetest.MigratedSQLite(t))
	status(t, "not configured", s.Browser().Get(web.SecurityTxt), 404)
}

func TestSecurityContact(t *testing.T) {
	for _, good := range []web.SecurityContact{
		{}, {Contact: "mailto:security@example.com"}, {Contact: "mailto:a@example.com?subject=Formulary"},
		{Contact: "https://example.com/report?to=security#top", Policy: "https://example.com/"},
	} {
		if err := good.Check(); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
	for _, bad := range []web.SecurityContact{
		{Contact: "security@example.com"}, {Contact: "http://example.com/"}, {Contact: "mailto:"}, {Contact: "mailto:nobody"},
		{Contact: "mailto:Ada <ada@example.com>"}, {Contact: "https:///x"}, {Contact: "https://a b.example/"}, {Contact: "javascript:alert(1)"},
		{Contact: "https://example.com/\nPolicy: https://evil.example/"}, {Contact: "mailto:a@example.com\r\nX: y"}, {Contact: "https://exämple.com/"},
		{Contact: "https://user:secret@example.com/"}, {Policy: "https://example.com/"},
		{Contact: "mailto:a@example.com", Policy: "mailto:a@example.com"}, {Contact: "mailto:a@example.com", Policy: "http://example.com"},
	} {
		if err := bad.Check(); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
