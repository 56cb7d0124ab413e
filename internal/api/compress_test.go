package api_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// getGzip requests gzip and does not decompress the response.
func (w *fixture) getGzip(method, path, token string, form url.Values, header ...string) (*http.Response, []byte) {
	w.t.Helper()
	r, err := http.NewRequest(method, w.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := (&http.Transport{DisableCompression: true}).RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res, text
}

func TestCompression(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		for i := range 20 {
			w.create(w.ada, fmt.Sprintf("Form %d", i))
		}
		form := w.create(w.ada, "Order")
		path := "/api/v1/forms/" + form
		w.expectCode("questions", w.Call("PATCH", path, w.ada, `{"fields": [{"key": "remark", "kind": "long_text", "label": "Remark", "help": "`+strings.Repeat("What we should know. ", 60)+`"}]}`), 0)
		w.expectCode("publish", w.Call("POST", path+"/publish", w.ada, ""), 0)
		for i := range 30 {
			w.expectCode("submit", w.Call("POST", path+"/responses", w.ada, fmt.Sprintf(`{"answers": {"remark": "number %d, all work and no play makes Jack a dull boy"}}`, i)), 0)
		}
		for path, compressed := range map[string]bool{
			"/api/v1/forms?per_page=20": true, "/api/v1/forms?search=form": true, "/api/v1/openapi.json": true,
			path + "/responses?after=": true, path + "/responses": true, path + "/responses/export?format=csv": true, path + "/responses/export?format=jsonl": true,
			path + "/versions/1": true, path + "/responses/export?format=xlsx": false, "/api/v1/forms?per_page=1": false, "/api/v1/me": false,
			// Clients send strong ETags back, and those identify the uncompressed
			// bytes.
			path:                              false,
			"/api/v1/forms?page=0":            false,
			"/api/v1/nonsense":                false,
			"/api/v1/forms?per_page=20&page=": false,
		} {
			for range 2 { // the second one may come from a cache
				res, text := w.getGzip("GET", path, w.ada, nil)
				plain, want := w.getGzip("GET", path, w.ada, nil, "Accept-Encoding", "identity")
				if got := res.Header.Get("Content-Encoding") == "gzip"; got != compressed || plain.Header.Get("Content-Encoding") != "" {
					t.Errorf("%s: %d %v", path, res.StatusCode, res.Header)
					continue
				}
				for _, header := range []string{"Vary", "ETag"} {
					w.expectEqual(path+": "+header, res.Header.Get(header), plain.Header.Get(header))
				}
				if compressed && !strings.Contains(res.Header.Get("Cache-Control"), "no-store") {
					w.expectEqual(path+": Vary", res.Header.Get("Vary"), "Accept-Encoding")
				}
				if compressed {
					zip, err := gzip.NewReader(bytes.NewReader(text))
					if err != nil {
						t.Fatal(err)
					}
					if text, err = io.ReadAll(zip); err != nil || !bytes.Equal(text, want) {
						t.Errorf("%s differs when it is compressed (%v)", path, err)
					}
				}
				head, body := w.getGzip("HEAD", path, w.ada, nil)
				if head.StatusCode != plain.StatusCode || len(body) > 0 || head.Header.Get("Content-Encoding") != "" {
					t.Errorf("HEAD %s: %d %v", path, head.StatusCode, head.Header)
				}
			}
		}
	})
}

// Responses of OAuth endpoints are never compressed, however long they are.
func TestTokensAreNotCompressed(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		b := w.Browser()
		b.SignIn(ada)
		code := b.Allow(w.app.AuthorizeURL("forms:read")).Query().Get("code")
		check := func(path string, form url.Values) []byte {
			t.Helper()
			res, text := w.getGzip("POST", path, "", form)
			if res.Header.Get("Content-Encoding") != "" || res.StatusCode != 200 {
				t.Errorf("%s: %d %v", path, res.StatusCode, res.Header)
			}
			return text
		}
		var token struct {
			Access  string `json:"access_token"`
			Refresh string `json:"refresh_token"`
		}
		if err := json.Unmarshal(check("/api/oauth2/token", w.app.Exchange(code)), &token); err != nil || token.Access == "" {
			t.Fatal("no token", err)
		}
		check("/api/oauth2/refresh", w.app.Refresh(token.Refresh))
		check("/api/oauth2/introspect", w.app.Authenticate(url.Values{"token": {token.Access}}))
		check("/api/oauth2/revoke", w.app.Authenticate(url.Values{"token": {token.Access}}))
	})
}
