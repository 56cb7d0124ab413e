package web_test

import (
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// receipt saves the receipt and returns the page after it.
func (m *mailer) receipt(fields url.Values) clitest.Page {
	m.t.Helper()
	p := m.b.Post("/forms/"+m.form+"/connect/receipt", fields)
	if p.StatusCode == 303 {
		return m.b.Get(strings.Split(p.Header.Get("Location"), "#")[0])
	}
	return p
}

var goodReceipt = url.Values{
	"active": {"1"}, "field": {"email"}, "subject": {"Thanks, {{name}}"}, "text": {"We **start** soon.\r\n\r\nBring {{name}} & <i>tea</i>."}, "answers": {"1"},
}

// A receipt that is saved on the page arrives as its preview has shown.
func TestReceipt(t *testing.T) {
	eachWithMail(t, func(t *testing.T, m *mailer) {
		preview := "/forms/" + m.form + "/connect/receipt/preview"
		// An example stands for the response that is missing.
		p := m.b.Post(preview, goodReceipt)
		status(t, "preview", p, 200)
		has(t, p, "Thanks, Ada", "<strong>start</strong>", "Bring Ada &amp;", "!<i>", "ada@example.com", `<base target="_blank">`)
		policy := p.Header.Get("Content-Security-Policy")
		for _, part := range []string{"sandbox allow-popups allow-popups-to-escape-sandbox;", "default-src 'none'", "form-action 'none'", "frame-ancestors 'self'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("policy %s lacks %s", policy, part)
			}
		}
		if strings.Contains(policy, "script") || p.Header.Get("X-Frame-Options") != "SAMEORIGIN" {
			t.Errorf("policy %s, frame options %s", policy, p.Header.Get("X-Frame-Options"))
		}
		has(t, m.b.Get(preview), "Your response to", "!Thanks, Ada")

		p = m.receipt(goodReceipt)
		has(t, p, "Receipt saved.", `name="active" value="1" checked`, `name="answers" value="1" checked`, `value="Thanks, {{name}}"`, "We **start** soon.\n\nBring",
			`sandbox="allow-popups allow-popups-to-escape-sandbox"`)
		m.submit("mara@example.com")
		got := m.mailTo("mara@example.com", 1)
		has(t, clitest.Page{Text: got}, "Subject: Thanks, Mara", "Reply-To: <"+ada+">", "<strong>start</strong>")
		// The newest response is in the previews.
		has(t, m.b.Get(preview), "Thanks, Mara", "mara@example.com")
		has(t, m.b.Get(m.path+"/preview?when=daily"), "1 new response", "mara@example.com", "once a day")
		has(t, m.b.Get(m.path+"/preview?when=x"), "New response", "!once a day")
		has(t, m.b.Get(m.path+"/preview"), "New response", "mara@example.com", "Order &lt;b&gt;now", "!<b>now")

		for name, fields := range map[string]url.Values{
			"field":      {"active": {"1"}, "field": {"name"}},
			"no field":   {"active": {"1"}},
			"key":        {"field": {"email"}, "subject": {"{{nobody}}"}},
			"long text":  {"field": {"email"}, "text": {strings.Repeat("x", 10_001)}},
			"long title": {"field": {"email"}, "subject": {strings.Repeat("x", 201)}},
		} {
			p := m.receipt(fields)
			problem(t, name, p)
			has(t, m.b.Get(m.path), "Thanks, {{name}}")
		}
		p = m.receipt(url.Values{"field": {"email"}, "subject": {`"><script>`}, "text": {"</textarea><script>"}})
		has(t, p, "!<script>alert", "&lt;/textarea&gt;", `value="&#34;&gt;&lt;script&gt;"`)
		has(t, m.b.Post(preview, url.Values{"text": {strings.Repeat("ä", 10_000) + "beyond"}}), "äää", "!beyond")
		hostile := m.b.Post(preview, url.Values{"subject": {"</div><script>x</script>"}, "text": {"<script>x</script>[a](javascript:x) ![i](https://evil.example/i.png)"}})
		has(t, hostile, "!<script>", "!javascript:", "!evil.example/i.png")
	})
}

// A form without a question for an address says what to do.
func TestReceiptWithoutQuestion(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		token, id := publishAsAda(t, s, `{"title":"Poll","fields":[{"key":"name","kind":"short_text","label":"Name"}]}`)
		b := s.Browser()
		b.SignIn(ada)
		path := "/forms/" + id + "/connect/notify"
		has(t, b.Get(path), "This form doesn’t ask for an email address.", "!Send a receipt", "Mail is off: there is no mail server.", `href="/mails"`)
		status(t, "anyway", b.Post("/forms/"+id+"/connect/receipt", url.Values{"active": {"1"}, "field": {"email"}}), 422)
		s.Call("PATCH", "/api/v1/forms/"+id, token, mailForm)
		has(t, b.Get(path), "Send a receipt", `<option value="email">Email</option>`)
	})
}
