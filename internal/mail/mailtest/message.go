package mailtest

import (
	"io"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"strings"
	"testing"
)

// Message is a received mail, decoded.
type Message struct {
	netmail.Header
	To                  string
	Subject, Text, HTML string
}

// Parse decodes a received mail.
func Parse(t testing.TB, r Received) Message {
	t.Helper()
	m, err := netmail.ReadMessage(strings.NewReader(r.Content))
	if err != nil {
		t.Fatal(err)
	}
	p := Message{Header: m.Header, To: r.To}
	if p.Subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		t.Fatal(err)
	}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	for parts := multipart.NewReader(m.Body, params["boundary"]); ; {
		part, err := parts.NextPart() // decodes quoted-printable
		if err == io.EOF {
			return p
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(part.Header.Get("Content-Type"), "text/plain") {
			p.Text = string(body)
		} else {
			p.HTML = string(body)
		}
	}
}
