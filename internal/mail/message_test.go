package mail

import (
	"bytes"
	"html/template"
	"io"
	netmail "net/mail"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"formulary/internal/locale"
)

// Whatever respondents and owners write, a mail has one recipient and no headers of theirs.
func TestHeaderInjection(t *testing.T) {
	nasty := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("\r\n\t :<>,;\"\\=?ABcc@äא\u2028\u202e\x00"))))
	rapid.Check(t, func(t *rapid.T) {
		m := Message{
			ID: "eml_1", To: "ana@example.org", Date: time.Unix(1780243800, 0), Thread: "frm_1", Unsubscribe: "https://forms.example.com/u?k=1",
			Subject: nasty.Draw(t, "subject"), Text: nasty.Draw(t, "text"), HTML: nasty.Draw(t, "html"),
		}
		if rapid.Bool().Draw(t, "odd address") {
			m.To = nasty.Draw(t, "to")
		}
		out, err := m.encode(netmail.Address{Name: "Forms", Address: "forms@example.com"})
		if err != nil {
			return // the address was refused
		}
		var content bytes.Buffer
		if _, err := out.WriteTo(&content); err != nil {
			t.Fatal(err)
		}
		parsed, err := netmail.ReadMessage(&content)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, parsed.Body); err != nil {
			t.Fatal(err)
		}
		for name, values := range parsed.Header {
			switch name {
			case "From", "To", "Subject", "Date", "Message-Id", "References", "In-Reply-To", "Auto-Submitted", "List-Unsubscribe", "List-Unsubscribe-Post", "Mime-Version", "Content-Type", "Content-Transfer-Encoding":
			default:
				t.Fatalf("the mail has a header %s: %q", name, values)
			}
			if len(values) != 1 {
				t.Fatalf("%s occurs %d times", name, len(values))
			}
		}
		to, err := parsed.Header.AddressList("To")
		if want, _ := parseAddress(m.To); err != nil || len(to) != 1 || to[0].Address != want.Address {
			t.Fatalf("to %v, want %q (%v)", to, m.To, err)
		}
		from, err := parsed.Header.AddressList("From")
		if err != nil || len(from) != 1 || from[0].Address != "forms@example.com" {
			t.Fatalf("from %v (%v)", from, err)
		}
		recipients, err := out.GetRecipients()
		if err != nil || len(recipients) != 1 {
			t.Fatalf("sent to %q (%v)", recipients, err)
		}
	})
}

// samples has a mail of each kind.
var samples = []Kind{
	Test{BaseURL: "https://forms.example.com"},
	Notification{FormTitle: "Order", Respondent: "Ada", Email: "ada+x@example.org", Zone: time.UTC, Answers: []Answer{{"Name", "Ada"}, {"Text", "two\nlines"}}, More: true, ResponseURL: "https://forms.example.com/r", URLs: FormURLs{"https://forms.example.com/rs", "https://forms.example.com/s", "https://forms.example.com/u"}},
	Digest{FormTitle: "Order", Count: 3, Daily: true, Newest: []Group{{Title: "31 May", URL: "https://forms.example.com/r", Answers: []Answer{{"Name", "Ada"}}}}},
	Receipt{FormTitle: "Order", Subject: "Thanks", HTML: template.HTML("<p>Hello</p>"), Text: "Hello", Answers: []Answer{{"Name", "Ada"}}},
	ConfirmRecipient{FormTitle: "Order", Owner: "Ada", URL: "https://forms.example.com/c"},
	WebhookDisabled{FormTitle: "Order", URL: "https://example.net/", Reason: "It is gone.", PageURL: "https://forms.example.com/w"},
	Retention{Form: "Order", ID: "frm_1", Days: 30, Date: time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC), BaseURL: "https://forms.example.com"},
	StorageFull{Used: "9 GB", Limit: "10 GB", BaseURL: "https://forms.example.com"},
	PasswordReset{Email: "ana@example.org", Link: "https://forms.example.com/reset?k=1", Hours: 2},
	ConfirmEmail{Email: "ana@example.org", Change: true, Link: "https://forms.example.com/confirm?k=1", Hours: 24},
	Invitation{From: "Ada", Space: "Team", Link: "https://forms.example.com/invitation?token=1", Days: 7},
	Invitation{From: "Ada", Form: "Order", Link: "https://forms.example.com/invitation?token=1", Days: 7},
	NewSignIn{sampleEvent},
	PasswordChanged{sampleEvent},
	EmailChanged{sampleEvent, "ana@example.net"},
	NewToken{Event: sampleEvent, Token: "Nightly export", Scopes: []string{"Read your forms"}, Expires: sampleEvent.At},
	NewGrant{Event: sampleEvent, App: "Calendar", Registrant: "Ben", Domain: "example.net", Scopes: []string{"Read your forms"}},
}

var sampleEvent = Event{BaseURL: "https://forms.example.com", Email: "ana@example.org", Browser: "Firefox", System: "Linux", Address: "192.0.2.1"}

// Mail programs show the subject above a mail, so a receipt has it once.
func TestReceiptSubject(t *testing.T) {
	c := Receipt{FormTitle: "Order", Subject: "See you on 12 June"}.Compose(Texts{})
	if c.Subject != "See you on 12 June" || c.Heading != "Order" || strings.Contains(c.text(), c.Subject) {
		t.Errorf("%q, %q:\n%s", c.Subject, c.Heading, c.text())
	}
}

// Every kind of mail can be written in every language, loads nothing, and is in the list of
// samples.
func TestKinds(t *testing.T) {
	languages, err := locale.Load()
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(languages)
	if err != nil {
		t.Fatal(err)
	}
	sampled := map[string]bool{}
	for _, kind := range samples {
		sampled[kind.Name()] = true
		for _, language := range append(languages.Tags(), "en-GB", "xx") {
			m, err := w.Write(kind, language)
			if err != nil {
				t.Fatal(err)
			}
			direction := `dir="ltr"`
			if language == "ar" {
				direction = `dir="rtl"`
			}
			for what, ok := range map[string]bool{
				"subject": m.Subject != "" && !strings.Contains(m.Subject, "%"), "text": len(m.Text) > 20 && !strings.Contains(m.Text, "%!"),
				"HTML": strings.Contains(m.HTML, direction) && !strings.Contains(m.HTML, "%!"), "size": len(m.HTML) < 10_000,
				"nothing is loaded": !strings.Contains(m.HTML, "src=") && !strings.Contains(m.HTML, "<link") && !strings.Contains(m.HTML, "url("),
			} {
				if !ok {
					t.Errorf("%s in %s: %s:\n%s\n%s\n%s", kind.Name(), language, what, m.Subject, m.Text, m.HTML)
				}
			}
		}
	}
	for name, create := range kinds {
		if !sampled[name] {
			t.Errorf("%s is not in the samples", name)
		}
		if kind := create(); kind.Name() != name || reflect.TypeOf(kind).Kind() != reflect.Pointer {
			t.Errorf("%s creates %T", name, kind)
		}
	}
}
