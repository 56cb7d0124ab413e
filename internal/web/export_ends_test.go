package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// slowDownload requests a file, and returns it after the first bytes were read.
func slowDownload(t *testing.T, b *clitest.Browser, path, token string) io.Reader {
	t.Helper()
	client := &http.Client{Jar: b.Jar, Transport: &http.Transport{DisableCompression: true}}
	t.Cleanup(client.CloseIdleConnections)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if _, err := io.ReadFull(res.Body, make([]byte, 1<<10)); err != nil || res.StatusCode != 200 {
		t.Fatalf("%s: %d, %v", path, res.StatusCode, err)
	}
	return res.Body
}

// A download that is in progress ends when its reader loses access to the form.
func TestExportEndsWithAccess(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		a, b := signedIn(s, ada), signedIn(s, bob)
		const fields = 20
		var questions, answers []string
		for i := range fields {
			questions = append(questions, fmt.Sprintf(`{"key": "q%d", "kind": "long_text"}`, i))
			answers = append(answers, fmt.Sprintf(`"q%d": "%s"`, i, strings.Repeat("x", 10_000)))
		}
		app := s.AddApp(ada, "https://x.example/")
		token := s.Token(ada, app, "forms:read,forms:write").Access
		id := publish(t, s, token, `{"title": "Long", "fields": [`+strings.Join(questions, ",")+`]}`)
		for range 52 {
			if got := s.Call("POST", "/f/"+id, "", `{"answers": {`+strings.Join(answers, ",")+`}}`); got.StatusCode != 201 {
				t.Fatal(got.Text)
			}
		}
		form := "/forms/" + id
		status(t, "share", a.Post(form+"/people", url.Values{"email": {bob}, "role": {"viewer"}}), 303)
		space := regexp.MustCompile(`action="/spaces/(spc_\w+)/leave"`).FindStringSubmatch(b.Get("/spaces").Text)[1]
		theirs := s.TokenLimited(bob, app, "responses:read", url.Values{"space": {space}}).Access
		files := map[string]io.Reader{
			"page":      slowDownload(t, b, form+"/responses/export?format=csv", ""),
			"lines":     slowDownload(t, b, form+"/responses/export?format=jsonl", ""),
			"API":       slowDownload(t, b, "/api/v1/forms/"+id+"/responses/export?format=csv", theirs),
			"the owner": slowDownload(t, a, form+"/responses/export?format=csv", ""),
		}
		person := regexp.MustCompile(`/people/(usr_\w+)/remove`).FindStringSubmatch(a.Get(form + "/share").Text)[1]
		status(t, "stop", a.Post(form+"/people/"+person+"/remove", nil), 303)
		for name, file := range files {
			n, err := io.Copy(io.Discard, file)
			if whole := err == nil; whole != (name == "the owner") {
				t.Errorf("%s: %d bytes, %v", name, n, err)
			}
		}
	})
}
