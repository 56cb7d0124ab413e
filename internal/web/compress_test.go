package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// zipper is a client that accepts gzip and does not decompress.
type zipper struct {
	*http.Client
	t   *testing.T
	url string
}

// zipperOf returns a zipper with the cookies of a browser.
func zipperOf(t *testing.T, s *clitest.Service, b *clitest.Browser) zipper {
	return zipper{&http.Client{
		Jar: b.Jar, Transport: &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, t, s.URL}
}

// do returns the HTTP response with its raw body.
func (z zipper) do(method, path string, body url.Values, header ...string) (*http.Response, []byte) {
	z.t.Helper()
	r, err := http.NewRequest(method, z.url+path, strings.NewReader(body.Encode()))
	if err != nil {
		z.t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip, deflate, br")
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := z.Do(r)
	if err != nil {
		z.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		z.t.Fatal(err)
	}
	return res, text
}

// unzip decompresses one gzip member, as browsers do, and checks that nothing follows.
func unzip(t *testing.T, text []byte) string {
	t.Helper()
	in := bytes.NewReader(text)
	out, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	out.Multistream(false)
	plain, err := io.ReadAll(out)
	if err != nil || in.Len() > 0 {
		t.Fatalf("%v, %d bytes are left", err, in.Len())
	}
	return string(plain)
}

// Pages with consent requests, tokens, secrets or private data are never compressed.
func TestSecretsAreNotCompressed(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		app := s.AddApp(ada, "https://app.example.com/cb")
		token := s.Token(ada, app, "forms:read,forms:write").Access
		form := publish(t, s, token, `{"title": "Order", "fields": [{"key": "name", "kind": "short_text", "label": "Name", "required": true}]}`)
		b := s.Browser()
		stranger := zipperOf(t, s, s.Browser())
		b.SignIn(ada)
		signedIn := zipperOf(t, s, b)
		link := regexp.MustCompile(`/reset\?token=\S+`).FindString(s.Command("", "user", "reset", ada))
		consent := "/authorize?" + app.AuthorizeURL("forms:read").Encode()
		check := func(z zipper, method, path string, body url.Values, status int) string {
			t.Helper()
			res, text := z.do(method, path, body)
			if res.StatusCode != status || res.Header.Get("Content-Encoding") != "" {
				t.Errorf("%s %s: %d, %q", method, path, res.StatusCode, res.Header.Get("Content-Encoding"))
			}
			return string(text)
		}
		for _, path := range []string{"/signin", "/forgot", "/signin?next=" + url.QueryEscape(consent), link, "/docs/api/callback"} {
			check(stranger, "GET", path, nil, 200)
		}
		check(stranger, "POST", "/signin", url.Values{"email": {ada}, "password": {"wrong"}}, 401)
		if page := check(signedIn, "GET", consent, nil, 200); !strings.Contains(page, `name="ticket"`) {
			t.Error("the consent page has no consent request")
		}
		for _, path := range []string{
			"/", "/?search=x", "/account", "/applications", "/applications/new", "/applications/" + app.ID, "/connections", "/tokens", "/spaces", "/docs/api", "/docs/api/listForms",
			"/forms/" + form + "/build", "/forms/" + form + "/design", "/forms/" + form + "/share", "/forms/" + form + "/responses", "/forms/" + form + "/summary", "/forms/" + form + "/preview",
			"/mails", "/forms/" + form + "/connect/notify", "/forms/" + form + "/connect/notify/preview", "/forms/" + form + "/connect/receipt/preview",
		} {
			check(signedIn, "GET", path, nil, 200)
		}
		made := check(signedIn, "POST", "/applications", url.Values{
			"nonce": {"once"}, "name": {"Mine"}, "kind": {"secret"}, "scope": {"forms:read"}, "redirect_uris": {"https://a.example/cb"},
		}, 200)
		if !strings.Contains(made, "fms_") {
			t.Error("the new application has no secret")
		}
		if made := check(signedIn, "POST", "/tokens", url.Values{"name": {"Script"}, "scope": {"forms:read"}, "current": {clitest.Password}}, 200); !strings.Contains(made, "fmp_") {
			t.Error("the new token is not shown")
		}
		space := spaceAddress.FindString(func() string {
			res, _ := signedIn.do("POST", "/spaces", url.Values{"name": {"Team"}})
			return res.Header.Get("Location")
		}())
		for _, path := range spacePages(t, s, b) {
			check(signedIn, "GET", path, nil, 200)
		}
		editors := "/forms/" + form + "/editors"
		if others := check(signedIn, "POST", editors, url.Values{"revision": {"0"}}, 200); !strings.Contains(others, `"others"`) {
			t.Errorf("the other editors: %s", others)
		}
		check(signedIn, "GET", space+"/audit/download", nil, 200)
		if made := check(signedIn, "POST", space+"/invitations", url.Values{"role": {"viewer"}, "link": {"1"}}, 200); !strings.Contains(made, "fmi_") {
			t.Error("the link is not shown")
		}
		// Pages of a form that contain answers.
		check(stranger, "GET", "/f/"+form+"?name=Ada", nil, 200)
		_, page := stranger.do("GET", "/f/"+form, nil, "Accept-Encoding", "identity")
		once := nonceOf(t, string(page))
		check(stranger, "POST", "/f/"+form, url.Values{"_key": {once}, "_page": {"0"}, "_action": {"next"}}, 200)
		check(stranger, "GET", "/nonsense", nil, 404)
	})
}

func nonceOf(t *testing.T, page string) string {
	t.Helper()
	m := regexp.MustCompile(`name="_key" value="([^"]+)"`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no nonce in\n%s", page)
	}
	return m[1]
}

// Pages that are the same for all visitors are compressed.
func TestCompressedPages(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		token := s.Token(ada, s.AddApp(ada, "https://app.example.com/cb"), "forms:read,forms:write").Access
		form := publish(t, s, token, `{"title": "Order", "fields": [{"key": "name", "kind": "short_text", "label": "Name", "required": true}]}`)
		z := zipperOf(t, s, s.Browser())
		for _, path := range []string{"/docs/api", "/docs/api/listForms", "/f/" + form, "/f/" + form + "?embed=1", "/static/formulary.css", "/embed.js"} {
			res, packed := z.do("GET", path, nil)
			plain, text := z.do("GET", path, nil, "Accept-Encoding", "gzip;q=0, identity")
			if res.StatusCode != 200 || res.Header.Get("Content-Encoding") != "gzip" || plain.Header.Get("Content-Encoding") != "" {
				t.Errorf("%s: %v and %v", path, res.Header, plain.Header)
				continue
			}
			if res.Header.Get("Vary") != "Accept-Encoding" || plain.Header.Get("Vary") != "Accept-Encoding" || len(packed) >= len(text) {
				t.Errorf("%s: %v; %d bytes of %d", path, res.Header, len(packed), len(text))
			}
			same, want := unzip(t, packed), string(text)
			if strings.HasPrefix(path, "/f/") {
				one, other := nonceOf(t, same), nonceOf(t, want)
				if one == other || !bytes.Contains(packed, []byte(one)) {
					t.Errorf("%s: the nonces %q and %q are the same, or compressed", path, one, other)
				}
				same = strings.Replace(same, one, other, 1)
			}
			if same != want {
				t.Errorf("%s differs when it is compressed", path)
			}
			head, body := z.do("HEAD", path, nil)
			if head.StatusCode != 200 || len(body) > 0 {
				t.Errorf("HEAD %s: %d", path, head.StatusCode)
			}
		}
	})
}

// A compressed file has another ETag than the file itself.
func TestFileTags(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		z := zipperOf(t, s, s.Browser())
		const path = "/static/formulary.css"
		zipped, _ := z.do("GET", path, nil)
		plain, _ := z.do("GET", path, nil, "Accept-Encoding", "identity")
		zippedTag, plainTag := zipped.Header.Get("ETag"), plain.Header.Get("ETag")
		if zippedTag == plainTag || zippedTag == "" || plainTag == "" {
			t.Fatalf("tags %s and %s", zippedTag, plainTag)
		}
		for _, c := range []struct {
			encoding, tags string
			want           int
		}{
			{"gzip", zippedTag, 304}, {"gzip", `"x", W/` + zippedTag, 304}, {"gzip", "*", 304}, {"gzip", plainTag, 200}, {"gzip", `"x"`, 200},
			{"identity", plainTag, 304}, {"identity", zippedTag, 200}, {"gzip;q=0", plainTag, 304},
		} {
			res, _ := z.do("GET", path, nil, "Accept-Encoding", c.encoding, "If-None-Match", c.tags)
			encoding := ""
			if c.want == 200 && c.encoding == "gzip" {
				encoding = "gzip"
			}
			equal(t, c.tags+" for "+c.encoding, map[string]any{
				"status": res.StatusCode, "Vary": res.Header.Get("Vary"), "Content-Encoding": res.Header.Get("Content-Encoding"),
			}, map[string]any{"status": c.want, "Vary": "Accept-Encoding", "Content-Encoding": encoding})
		}
	})
}
