package media_test

import (
	"mime"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"formulary/internal/media"
)

func TestCleanName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"cv.pdf":                          "cv.pdf",
		"Zeugnis für Ärzte.pdf":           "Zeugnis für Ärzte.pdf",
		"A\u0308rzte.pdf":                 "Ärzte.pdf", // macOS decomposes
		"../../etc/passwd":                "passwd",
		`C:\Users\me\cv.pdf`:              "cv.pdf",
		"folder/":                         "folder",
		"a\x00b\r\nc\x7f.pdf":             "ab  c.pdf",
		"invoice\u202efdp.exe":            "invoicefdp.exe",
		"\u2066a\u2069\u200f\u061c.b":     "a.b",
		"می\u200cخواهم.pdf":               "می\u200cخواهم.pdf",
		"\u200b\ufeff":                    "file",
		"\u200d":                          "file",
		"":                                "file",
		".":                               "file",
		"..":                              "file",
		"/":                               "file",
		" . ":                             "file",
		"cv.pdf. .":                       "cv.pdf",
		"a\xffb.txt":                      "a_b.txt",
		strings.Repeat("x", 300) + ".pdf": strings.Repeat("x", 251) + ".pdf",
		strings.Repeat("é", 200) + ".pdf": strings.Repeat("é", 125) + ".pdf",
		"x." + strings.Repeat("é", 200):   "x." + strings.Repeat("é", 126),
	} {
		if got := media.CleanName(name); got != want {
			t.Errorf("%q is cleaned to %q, not %q", name, got, want)
		}
	}
}

func TestCleanNameAlways(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.StringOfN(rapid.Rune(), 90, 300, -1)).Draw(t, "name")
		got := media.CleanName(name)
		isUnsafe := func(r rune) bool {
			return r == '/' || r == '\\' || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
		}
		if got == "" || len(got) > 255 || !utf8.ValidString(got) || strings.ContainsFunc(got, isUnsafe) {
			t.Fatalf("%q is cleaned to %q", name, got)
		}
		if again := media.CleanName(got); again != got {
			t.Fatalf("the clean name %q is cleaned to %q", got, again)
		}
		kind, params, err := mime.ParseMediaType(media.ContentDisposition(got))
		if err != nil || kind != "attachment" || params["filename"] != media.FileName(got) {
			t.Fatalf("%q is sent as %s: %q, %v", got, media.ContentDisposition(got), params, err)
		}
	})
}

func TestContentDisposition(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"cv.pdf":      `attachment; filename="cv.pdf"; filename*=UTF-8''cv.pdf`,
		"Ä \"1\".pdf": `attachment; filename="_ _1_.pdf"; filename*=UTF-8''%C3%84%20_1_.pdf`,
		`50%a;b.pdf`:  `attachment; filename="50_a;b.pdf"; filename*=UTF-8''50%25a%3Bb.pdf`,
		"a\r\nX: y":   `attachment; filename="a  X_ y"; filename*=UTF-8''a%20%20X_%20y`,
	} {
		if got := media.ContentDisposition(name); got != want {
			t.Errorf("%q: %s, not %s", name, got, want)
		}
	}
}

func TestFileName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"cv.pdf":              "cv.pdf",
		"CON":                 "_CON",
		"nul.tar.gz":          "_nul.tar.gz",
		"Aux .txt":            "_Aux .txt",
		"com1":                "_com1",
		"LPT².txt":            "_LPT².txt",
		"com.txt":             "com.txt",
		"com12":               "com12",
		"console":             "console",
		`a<b>:c"d|e?f*g.txt`:  "a_b__c_d_e_f_g.txt",
		"note: final.pdf":     "note_ final.pdf",
		"../" + "NUL":         "_NUL",
		"con." + long(251):    "_con." + long(250),
		"Zeugnis für Ä.pdf":   "Zeugnis für Ä.pdf",
		"a\u0301b:\u202e.txt": "áb_.txt",
	} {
		if got := media.FileName(name); got != want {
			t.Errorf("%q is saved as %q, not %q", name, got, want)
		}
	}
}

func long(n int) string { return strings.Repeat("x", n) }
