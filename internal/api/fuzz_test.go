package api

import (
	"encoding/json"
	"math/big"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"formulary/internal/fault"
)

func FuzzAuthorizationHeader(f *testing.F) {
	for _, seed := range []string{"", "Bearer", "Bearer ", "Bearer x", "bearer  x ", "Basic eDp5", "\tBearer x", "Bearer x y", "Bearerx", "  ", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		token, err := bearer([]string{header})
		trimmed := strings.TrimSpace(header)
		kind, _, _ := strings.Cut(trimmed, " ")
		switch {
		case trimmed == "":
			if fault.Wrap(err).Code != fault.NoAuthorization {
				t.Fatalf("%q: %v", header, err)
			}
		case !strings.EqualFold(kind, "bearer"):
			if fault.Wrap(err).Code != fault.NotBearer {
				t.Fatalf("%q: %v", header, err)
			}
		case err != nil:
			t.Fatalf("%q: %v", header, err)
		case token != strings.TrimSpace(trimmed[len(kind):]):
			t.Fatalf("%q: token %q", header, token)
		}
	})
}

// The arithmetic of pagination is compared with big integers.
func FuzzPagination(f *testing.F) {
	f.Add(int64(1), int64(20), int64(45))
	f.Add(int64(1)<<62, int64(200), int64(0))
	f.Add(int64(9223372036854775807), int64(1), int64(9223372036854775807))
	f.Fuzz(func(t *testing.T, page, perPage, total int64) {
		if page < 1 || perPage < 1 || perPage > 200 || total < 0 {
			return
		}
		p := pagination{page, perPage}
		exact := new(big.Int).Mul(big.NewInt(page-1), big.NewInt(perPage))
		isCorrect := p.offset() >= 1<<62 // past every end
		if exact.IsInt64() {
			isCorrect = p.offset() == exact.Int64()
		}
		if !isCorrect {
			t.Fatalf("offset of page %d × %d is %d", page, perPage, p.offset())
		}
		pages := new(big.Int).Div(new(big.Int).Add(big.NewInt(total), big.NewInt(perPage-1)), big.NewInt(perPage))
		if pages.Int64() != p.pages(total) {
			t.Fatalf("%d of %d are %d pages", total, perPage, p.pages(total))
		}
		link := p.link("http://x", url.Values{}, total)
		if (link == "") != (total == 0) {
			t.Fatalf("link of %d: %q", total, link)
		}
		if strings.Contains(link, `rel="next"`) != (total > 0 && page < pages.Int64()) {
			t.Fatalf("page %d of %s: %q", page, pages, link)
		}
	})
}

// The body parser accepts only valid JSON, and reads it like the standard library.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"title": "x"}`, `{"title": "x", "title": "y"}`, `{"Title": "x"}`, "{\"title\": \"\xff\"}", `{"title": null}`, `{"title": "\ud800"}`,
		`{"title": "x"} `, `[]`, ``, strings.Repeat(`[`, 65), `{"language": "de", "description": ""}`, `{"title": "\u0000"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got FormUpdate
		err := parseBody(text, &got)
		if err != nil {
			if code := fault.Wrap(err).Code; code != fault.BadJSON && code != fault.Invalid {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if !json.Valid(text) || !utf8.Valid(text) {
			t.Fatalf("%q was accepted", text)
		}
		var want FormUpdate
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q was read as %+v", text, got)
		}
	})
}

// A form body is parsed like package url does, except that duplicate fields are errors.
func FuzzForm(f *testing.F) {
	for _, text := range []string{"", "a=1&b=2", "a=1&a=2", "a", "=", "&&a=%41+b&", "a=%zz", "a;b=1", "%61=1&a=2", "a=1;2", "a==&b=%26"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseForm(text)
		want, wrong := url.ParseQuery(text)
		twice := false
		for _, list := range want {
			twice = twice || len(list) > 1
		}
		if (err != nil) != (wrong != nil || twice) {
			t.Fatalf("%q: %v, package url returns %v", text, err, wrong)
		}
		for name, list := range want {
			if err == nil && (got[name] != list[0] || len(got) != len(want)) {
				t.Fatalf("%q: %v, package url returns %v", text, got, want)
			}
		}
	})
}
