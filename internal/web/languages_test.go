package web_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/locale"
)

// Pages that people reach from a mail are in the languages of mails, with what goes wrong there.
func TestLanguagesOfMailedLinks(t *testing.T) {
	eachWithMail(t, func(t *testing.T, m *mailer) {
		m.notify("add", "lena@kiln.example")
		link := m.linkTo("lena@kiln.example", 1)
		all, err := locale.Load()
		if err != nil {
			t.Fatal(err)
		}
		off := strings.Replace(link, "/confirm", "/unsubscribe", 1)
		for _, c := range []struct {
			path  string
			texts []string
		}{
			{link, []string{"Get notified of responses?", "If you don’t want that, close this page."}},
			{off, []string{"Unsubscribe?", "Unsubscribe"}},
			{"/notifications/unsubscribe?k=x", []string{"This link doesn’t work anymore", "Ask the owner of the form to add your address again."}},
			{"/signin", []string{"Forgot your password?", "Sign in"}},
			{"/forgot", []string{"Reset password", "We’ll send you a link to set a new password.", "Skip to content"}},
			{"/reset?token=x", []string{"Link expired", "Get a new link"}},
			{"/confirm?token=x", []string{"This request can’t be completed", "This link has expired or was already used."}},
		} {
			for _, language := range locale.FormLanguages {
				p := getIn(t, m.Service, c.path, "pl, "+language[0]+"-x-test;q=0.9, en;q=0.5")
				has(t, p, `<html lang="`+language[0]+`" dir="`+locale.Direction(language[0])+`">`)
				for _, text := range c.texts {
					has(t, p, all.Catalog(language[0]).Translate(text))
				}
			}
		}
		has(t, getIn(t, m.Service, "/forgot", "pl"), `<html lang="en" dir="ltr">`)
		// The workspace is not: its pages stay in a language that they are translated to.
		has(t, getIn(t, m.Service, "/docs/api", "ar"), `<html lang="en" dir="ltr">`)
	})
}

// getIn requests a page with a browser that asks for a language.
func getIn(t *testing.T, s *clitest.Service, path, languages string) clitest.Page {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Language", languages)
	res, err := s.Browser().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return clitest.Page{Response: res, Text: string(body)}
}
