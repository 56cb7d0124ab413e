package mail

import (
	"strings"
	"time"
	"unicode"

	netmail "net/mail"

	gomail "github.com/wneessen/go-mail"
)

// Message is a mail that can be sent.
type Message struct {
	ID          string // the same for every attempt
	To          string // one address
	ReplyTo     string // one address; empty: answers go to the sender
	Subject     string
	Text, HTML  string
	Thread      string // what mails of one thread have in common; empty: it is in none
	Unsubscribe string // URL for RFC 8058; empty: none
	Date        time.Time
}

// maxSubject is how many characters a subject can have.
const maxSubject = 200

// CleanLine makes a line of a text: without control characters, and not too long.
func CleanLine(text string, most int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }), " ")
	count := 0
	for at := range text {
		if count++; count > most {
			return strings.TrimSpace(text[:at]) + "…"
		}
	}
	return text
}

// encode builds the mail as it is sent.
func (m Message) encode(from netmail.Address) (*gomail.Msg, error) {
	to, err := parseAddress(m.To)
	if err != nil {
		return nil, err
	}
	out := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	out.FromMailAddress(&from)
	out.ToMailAddress(to)
	if m.ReplyTo != "" {
		reply, err := parseAddress(m.ReplyTo)
		if err != nil {
			return nil, err
		}
		// Few servers accept other letters before the @, and the mail matters more.
		if isASCII(reply.Address) {
			out.ReplyToMailAddress(reply)
		}
	}
	out.Subject(CleanLine(m.Subject, maxSubject))
	out.SetDateWithValue(m.Date)
	_, domain, _ := strings.Cut(from.Address, "@")
	out.SetMessageIDWithValue(m.ID + "@" + domain)
	if m.Thread != "" {
		thread := "<" + m.Thread + "@" + domain + ">"
		out.SetGenHeaderPreformatted(gomail.HeaderReferences, thread)
		out.SetGenHeaderPreformatted(gomail.HeaderInReplyTo, thread)
	}
	// Vacation notices are not sent in reply to such mails (RFC 3834).
	out.SetGenHeader("Auto-Submitted", "auto-generated")
	if m.Unsubscribe != "" {
		out.SetListUnsubscribe(m.Unsubscribe)
		out.SetListUnsubscribePost()
	}
	out.SetBodyString(gomail.TypeTextPlain, m.Text)
	if m.HTML != "" {
		out.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	return out, nil
}
