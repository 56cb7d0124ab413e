package workspace

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"

	"formulary/internal/mail"
	"formulary/internal/web/page"
)

// mailPolicy lets a mail have its own styles and nothing else. Its links open in new windows,
// which are not part of the sandbox. The page with the frame names the same sandbox; this one
// is for those who open the address directly.
const mailPolicy = "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// mailHead shows the subject above a mail, as mail programs do.
var mailHead = template.Must(template.New("").Parse(
	`<div style="padding: 12px 20px; font: 600 15px/1.4 system-ui, sans-serif; color: light-dark(#22201c, #ece8df); background: light-dark(#fffefb, #201e1b); ` +
		`border-bottom: 1px solid light-dark(#ddd7ca, #3a3732); overflow-wrap: anywhere" dir="auto">{{.}}</div>`))

// sendPreview sends a mail with its subject as the content of a frame.
func sendPreview(req *page.Request, m mail.Message) error {
	var head bytes.Buffer
	if err := mailHead.Execute(&head, m.Subject); err != nil {
		return err
	}
	if at := strings.Index(m.HTML, "<body"); at >= 0 {
		at += strings.IndexByte(m.HTML[at:], '>') + 1
		m.HTML = m.HTML[:at] + head.String() + m.HTML[at:]
	}
	return sendMail(req, m)
}

// sendMail sends a mail as the content of a frame.
func sendMail(req *page.Request, m mail.Message) error {
	html := strings.Replace(m.HTML, "<head>", `<head><base target="_blank">`, 1)
	req.W.Header().Set("X-Frame-Options", "SAMEORIGIN")
	req.SendHTML(http.StatusOK, []string{mailPolicy}, []byte(html))
	return nil
}
