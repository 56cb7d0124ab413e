package cli_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode/utf8"
)

// hostileTexts are inputs of attackers and broken clients.
var hostileTexts = []string{
	"", " ", "\t", "\x00", "a\x00b", "\x01\x02\x1b[31m\x7f", "\r\nSet-Cookie: a=b", "\n\n", "\u0085\u2028\u2029",
	"\xff\xfe", "\xc0\xaf", "\xed\xa0\x80", "abc\xf0\x9f", "\xf4\x90\x80\x80", "\ufeff", "\ufffd", "\uffff",
	"0", "-1", "1", "+1", "01", "1.5", "1e3", "1e400", "-1e400", "NaN", "Infinity", "-Infinity", "0x10", "1_000", "٣", "½",
	"2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551616", "1e-400", "00000000000000000001",
	"true", "false", "null", "undefined", "[]", "{}", "[object Object]", "on",
	"' OR '1'='1", "'; DROP TABLE forms; --", "\" OR 1=1 --", "%' --", "%", "_", `\`, `\'`, "$1", "?", "1) UNION SELECT * FROM people --", "\\u0000", "pg_sleep(9)",
	"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "javascript:alert(1)", "data:text/html,x", "]]>", "<!--", "</script>", "<svg/onload=x>", "&#0;", "&amp;lt;",
	"{{.}}", "{{note}}", "{{ }}", "{{{{", "}}", "${7*7}", "#{7}", "<%= 7 %>", "{{template \"x\"}}", "%s%s%n%d", "{0}",
	"../../../../etc/passwd", `..\..\windows`, "/etc/passwd\x00.png", "file:///etc/passwd", "//evil.example", "/\\evil.example", "http://169.254.169.254/", "https://user:pw@evil.example/x#y", "http://[::1", "https://",
	"\u202eabc", "\u200b", "a\u0301\u0301\u0301\u0301\u0301\u0301", "ﷺ", "👩‍👩‍👧‍👦", "İ", "ß", "ﬀ", "\U0010ffff", "Ａ", "\u2066\u2069", "Z̷̢a̸l̷g̸o̴",
	"(a+)+$", "[", "(", "*", "a{1,100000}", "(?P<x>", `\1`,
	"1/0", "1 / 0", "((((((((((", "2^9999", "1 +", "nick + age", "age * 1e308 * 1e308", "-", "if(", "\"", "age age", "round(age, 400)",
	"0000-00-00", "0001-01-01", "9999-12-31", "10000-01-01", "-0001-01-01", "2026-02-30", "2024-02-29", "24:00", "23:59:60", "99:99", "1969-12-31T23:59:59Z",
	"0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00+23:59", "2026-01-01T00:00", "2026-01-01T00:00:60Z", "292277026596-12-04T15:30:08Z",
	"a@b", "@", "a@b@c.de", "\"a b\"@example.com", "a@[127.0.0.1]", strings.Repeat("a", 70) + "@example.com", "en", "xx", "en_US", "pt-BR-x-" + strings.Repeat("a", 9), "*",
	"frm_", "frm_00000000000000000000000000", "frm_7zzzzzzzzzzzzzzzzzzzzzzzzz", "frm_zzzzzzzzzzzzzzzzzzzzzzzzzz", "FRM_01JZZZZZZZZZZZZZZZZZZZZZZZ", "rsp_00000000000000000000000000", "usr_01k00000000000000000000000", "fma_", "fmr_x", "fmc_", "fms_",
	"draft", "open", "closed", "-created_at", "title", "csv", "xlsx", "jsonl", "statement", "page_break", "calculated", "matrix", "hidden", "equals", "answered", "end",
	"Bearer", "Basic Og==", "Basic ====", "W/\"1\"", "\"1\"", "\"", "*", "\"1\", \"2\"", "gzip", "a,b, ,c", ";", "=", "text/html;q=1e9", "multipart/form-data", "x=%zz", "bytes=0-0",
	"forms:read", "forms:read,forms:read", "forms:read forms:write,admin", ",", "allow", "deny", "back", "next", "S256", "plain", "code", "token",
}

// longText returns a long text. It is rarely used because sending it costs most.
func (g *generator) longText() string {
	unit := pick(g, []string{"a", "ä", "\x00", "'", "(", "<b>", "{{", "%41", "a ", "1", "\u0301", "-", "/", "a,", "😀"})
	size := pick(g, []int{300, 1001, 4097, 20_001, 64 << 10})
	if g.Float64() < 0.02 {
		size = 2 << 20
	}
	return strings.Repeat(unit, size/len(unit)+1)
}

func (g *generator) text() string {
	switch n := g.IntN(100); {
	case n < 4:
		return g.longText()
	case n < 10: // any bytes
		b := make([]byte, g.IntN(40))
		for i := range b {
			b[i] = byte(g.Uint32())
		}
		return string(b)
	case n < 18: // any characters
		var b strings.Builder
		for range g.IntN(20) {
			b.WriteRune(rune(g.IntN(utf8.MaxRune)))
		}
		return b.String()
	case n < 26:
		return pick(g, hostileTexts) + pick(g, hostileTexts)
	case n < 32:
		return strings.Repeat(pick(g, hostileTexts), 2+g.IntN(20))
	}
	return pick(g, hostileTexts)
}

var hostileNumbers = []string{
	"0", "-0", "1", "-1", "0.1", "1e400", "-1e400", "1e308", "-1.7976931348623157e308", "5e-324", "1e-400", "9007199254740993", "9223372036854775807", "9223372036854775808",
	"-9223372036854775809", "18446744073709551616", "2147483648", "-2147483649", "0.30000000000000004", "1e15", "1E+2", "123456789012345678901234567890", "01", "+1", ".5", "1.", "NaN", "Infinity", "0x1",
}

// hostileJSON returns JSON that is invalid or that no operation expects.
func (g *generator) hostileJSON() string {
	depth := pick(g, []int{3, 40, 63, 64, 65, 200, 1000, 9000, 10_000})
	nested := func(open, middle, end string) string {
		return strings.Repeat(open, depth) + middle + strings.Repeat(end, depth)
	}
	switch g.IntN(12) {
	case 0:
		return nested("[", "", "]")
	case 1:
		return nested(`{"a":`, "1", "}")
	case 2:
		return nested(`{"not":`, `{"field":"nick","op":"answered"}`, "}")
	case 3:
		return nested(`{"all":[`, `{"field":"age","op":"less","value":1e308}`, "]}")
	case 4:
		return "[" + strings.Repeat(`{"kind":"short_text","label":"a"},`, g.IntN(600)) + `{"kind":"number"}]`
	case 5:
		return "[" + strings.Repeat(`null,`, g.IntN(2000)) + `null]`
	case 6:
		return pick(g, []string{`"\ud800"`, `"\udc00\ud800"`, `"\u0000"`, `"\uDBFF\uDFFF"`, `"\x"`, `"`, `'a'`, `"a`, "\"\t\"", "\"\x00\""})
	case 7:
		return pick(g, []string{`{"a":1,"a":2}`, `{"":""}`, `{"__proto__":{}}`, `{"field":"nick"}`, `{"all":[],"any":[]}`, `{"not":null}`, `{"$ref":"#"}`, `[[]]`, `[{}]`, `[null]`, `["",""]`, `["a","a"]`})
	case 8:
		return g.quote(g.text())
	case 9:
		return pick(g, hostileNumbers)
	}
	return pick(g, []string{"null", "true", "false", "[]", "{}", "", "tru", "//", "undefined", `""`, "{", "]", ","})
}

// valueLike returns a hostile value, mostly of the same JSON type as the original, so
// that it passes the first checks.
func (g *generator) valueLike(value any) string {
	if g.Float64() < 0.35 {
		return g.hostileJSON()
	}
	switch value.(type) {
	case string:
		return g.quote(g.text())
	case float64:
		return pick(g, hostileNumbers)
	case bool:
		return pick(g, []string{"true", "false"})
	}
	return g.hostileJSON()
}

// quote returns a text as a JSON string. Invalid UTF-8 is kept.
func (g *generator) quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// oddSegments are path segments that percent-encoding would not produce.
var oddSegments = []string{
	"%", "%2", "%zz", "%00", "%0d%0aX:%20y", "%2e%2e%2f", "..", ".", "%2F", "%252e", "%c0%af", "%ff", "%u0041", ";a=b", "*", "a%20b", "+", "~", "%ed%a0%80", "a/../b", "a//b", "/", "\\", "\xff", "é", " ", "?", "#x", "[", "|", "^", "`", "{", "<", "\"", ":", "@",
}

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

// generator produces hostile requests, the same ones for the same seed.
type generator struct {
	*rand.Rand
	fixture *fixture
	names   []string // every name in the document and the pages

	covered map[string]bool // targets that were mutated
	// incomplete are the seeds that had targets which were not mutated when the round began.
	incomplete []*request
}

// randomIP returns a client address that no other request uses, so that attempts at
// secrets are not limited before they are processed.
func (g *generator) randomIP() string {
	return "2001:db8:" + strconv.FormatUint(uint64(g.Uint32()&0xffff), 16) + ":" + strconv.FormatUint(uint64(g.Uint32()&0xffff), 16) + "::1"
}
