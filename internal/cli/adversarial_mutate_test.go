package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// next returns a valid request with one part replaced, in one case of five two.
func (g *generator) next() (*request, error) {
	seed := pick(g, g.fixture.seeds)
	for seed.rare && g.Float64() > 0.1 {
		seed = pick(g, g.fixture.seeds)
	}
	if len(g.incomplete) > 0 && g.IntN(10) == 0 {
		seed = pick(g, g.incomplete)
	}
	r := seed.copy()
	for i := range r.form {
		if r.form[i].name == "_key" {
			r.form[i].value = pick(g, g.fixture.nonces)
		}
	}
	if len(r.pool) > 0 {
		r.path[r.params[len(r.params)-1]] = pick(g, r.pool)
	}
	if g.IntN(2) == 0 { // leave out most of the optional parameters
		r.query = slices.DeleteFunc(r.query, func(param) bool { return g.Float64() < 0.6 })
	}
	r.header = slices.DeleteFunc(r.header, func(h param) bool { return h.name != "Content-Type" && g.Float64() < 0.6 })
	if key := r.get("Idempotency-Key"); key != "" && g.IntN(2) == 0 {
		r.set("Idempotency-Key", fmt.Sprint(g.Uint32())) // a new operation
	}
	r.as = g.fixture.chooseCaller(g, seed)
	if name, value := r.as.credential(); name != "" {
		r.set(name, value)
	}
	r.set("X-Forwarded-For", g.randomIP())
	times := 1
	if g.Float64() < 0.2 {
		times = 2
	}
	for range times {
		if err := g.mutate(r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (g *generator) mutate(r *request) error {
	switch n := g.IntN(100); {
	case n < 2:
		return nil // unchanged
	case n < 7:
		g.mutateMethod(r)
	case n < 15:
		g.mutateHeader(r)
	case n < 17:
		g.mutateProtocol(r)
	case n < 30 && len(r.path) > 1:
		g.mutatePath(r)
	case n < 60 && r.body != "":
		g.mutateBody(r)
	case n < 40 || r.form == nil && r.json == nil:
		g.mutateQuery(r)
	case n < 44:
		g.mutateBody(r)
	case r.form != nil:
		r.form = g.mutatePairs(r, r.form)
	default:
		return g.mutateJSON(r)
	}
	return nil
}

func (g *generator) mutateMethod(r *request) {
	r.skipAccessCheck = true
	r.method = pick(g, []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "QUERY", "get", "X", strings.Repeat("A", 5000), "G\x00T", "GÉT", "\xff", "PRI"})
	if r.method == "DELETE" { // do not delete what later requests need
		last := &r.path[len(r.path)-1]
		switch *last {
		case g.fixture.liveForm, g.fixture.editForm:
			*last = pick(g, g.fixture.spareForms)
		case g.fixture.responses[0]:
			*last = pick(g, g.fixture.responses[1:])
		}
	}
	if r.method == "CONNECT" || r.method == "PRI" || strings.ContainsFunc(r.method, func(c rune) bool { return c < 'A' || c > 'z' }) {
		r.malformed = true
	}
}

// headers are those that the service or net/http may read.
var headers = []string{
	"Authorization", "Content-Type", "Accept", "Accept-Language", "Accept-Encoding", "Cookie", "Origin", "Referer", "Sec-Fetch-Site", "Sec-Fetch-Mode", "If-Match", "If-None-Match", "If-Modified-Since",
	"Idempotency-Key", "Range", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded", "User-Agent", "X-Request-Id", "Access-Control-Request-Method", "Access-Control-Request-Headers",
	"X-HTTP-Method-Override", "Content-Encoding", "Prefer", "Cache-Control", "Date", "Via", "X-Requested-With",
}

func (g *generator) mutateHeader(r *request) {
	name := pick(g, headers)
	value := g.text()
	g.covered["header "+name] = true
	switch {
	case name == "Authorization" && g.IntN(2) == 0:
		value = pick(g, []string{"Bearer ", "bearer  ", "Bearer a b ", "Basic ", "Digest ", "Bearer\t"}) + value
	case name == "Cookie" && g.IntN(2) == 0:
		if own, cookie := r.as.credential(); own == "Cookie" {
			name, value = own, cookie[:len(cookie)-g.IntN(len(cookie))]+value
		}
	case name == "Content-Type" && g.IntN(2) == 0:
		value = pick(g, []string{"application/json", "application/json; charset=utf-16", "application/jsonx", "APPLICATION/JSON", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "multipart/form-data", "application/xml", "application/json;;", "a/b/c"})
	}
	r.skipAccessCheck = r.skipAccessCheck || name == "Authorization" || name == "Cookie" || name == "Content-Type" || name == "Origin" || name == "Sec-Fetch-Site"
	if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		r.malformed, r.skipAccessCheck = true, true
	}
	if g.IntN(4) == 0 {
		r.header = append(r.header, param{name: name, value: value}) // a duplicate
	} else {
		r.set(name, value)
	}
}

// mutateProtocol breaks the rules of HTTP itself.
func (g *generator) mutateProtocol(r *request) {
	r.malformed, r.skipAccessCheck = true, true
	switch g.IntN(5) {
	case 0:
		r.set("X-A", "b\r\n"+pick(g, []string{"X-B: c", "Content-Length: 0", "Transfer-Encoding: chunked", " folded", ": empty", "no colon", "A B: c", "Host: evil.example", "\r\nGET / HTTP/1.1"}))
		r.truncated = true
	case 1:
		r.set("Host", pick(g, []string{"evil.example", "", "a b", "\x00", "[::1", "a@b", "127.0.0.1:99999", strings.Repeat("a.", 3000), "é"}))
	case 2:
		r.set("Content-Length", pick(g, []string{"-1", "1", "999999", "9223372036854775807", "9223372036854775808", "1, 1", "1,2", "0x1", "", " ", "a"}))
		r.truncated = true
	case 3:
		r.set(pick(g, []string{"Transfer-Encoding", "Expect", "Connection", "Upgrade", "Trailer", "TE"}), pick(g, []string{"chunked", "gzip, chunked", "identity", "100-continue", "200-ok", "close", "upgrade", "h2c", "websocket", "keep-alive, Host", "", "x"}))
		r.truncated = true
	case 4:
		r.header = append(r.header, param{name: pick(g, []string{"", "A B", "A\x00", "É", strings.Repeat("A", 9000), "Content-Length", "Host"}), value: g.text()})
		r.truncated = true
	}
}

func (g *generator) mutatePath(r *request) {
	r.skipAccessCheck = true
	segment := 1 + g.IntN(len(r.path)-1)
	if len(r.params) > 0 && g.IntN(4) > 0 {
		segment = pick(g, r.params)
	}
	switch g.IntN(5) {
	case 0:
		g.coverParam(r, segment)
		r.path[segment] = pick(g, oddSegments)
	case 1:
		g.coverParam(r, segment)
		r.path[segment] += pick(g, oddSegments)
	case 2:
		r.path = slices.Insert(r.path, segment, pick(g, []string{"", "..", ".", "a"}))
	default:
		g.coverParam(r, segment)
		r.path[segment] = url.PathEscape(g.text())
	}
}

// chooseTarget returns one of n parts of a request, half of the time one that was not
// mutated so far.
func (g *generator) chooseTarget(r *request, n int, name func(int) string) int {
	var uncovered []int
	for i := range n {
		if !g.covered[r.name+" "+name(i)] {
			uncovered = append(uncovered, i)
		}
	}
	if len(uncovered) > 0 && g.IntN(2) == 0 {
		return pick(g, uncovered)
	}
	return g.IntN(n)
}

// cover records that a part of a request was mutated.
func (g *generator) cover(r *request, target string) { g.covered[r.name+" "+target] = true }

func (g *generator) coverParam(r *request, segment int) {
	if i := slices.Index(r.params, segment); i >= 0 {
		g.cover(r, fmt.Sprint("path ", i))
	}
}

// targets lists all parts of requests that should be mutated.
func (w *fixture) targets() ([]string, error) {
	var list []string
	for _, name := range headers {
		list = append(list, "header "+name)
	}
	for _, r := range w.seeds {
		for i := range r.params {
			list = append(list, fmt.Sprint(r.name, " path ", i))
		}
		for _, p := range slices.Concat(r.query, r.form) {
			list = append(list, r.name+" "+p.name)
		}
		if r.json == nil {
			continue
		}
		text, err := json.Marshal(r.json)
		if err != nil {
			return nil, err
		}
		var body any
		if err := json.Unmarshal(text, &body); err != nil {
			return nil, err
		}
		var parts []part
		collect("", body, func(any) {}, &parts)
		for _, p := range parts[1:] {
			list = append(list, r.name+" "+p.path)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

func (g *generator) mutateQuery(r *request) {
	if g.IntN(3) == 0 {
		name := pick(g, g.names)
		if g.IntN(4) == 0 {
			name = fmt.Sprintf("%s[%s]", name, g.text())
		}
		r.query = append(r.query, param{name: name, value: g.text()})
		return
	}
	seed := slices.IndexFunc(g.fixture.seeds, func(s *request) bool { return s.name == r.name })
	if seed >= 0 && len(r.query) == 0 && len(g.fixture.seeds[seed].query) > 0 {
		r.query = []param{pick(g, g.fixture.seeds[seed].query)}
	}
	r.query = g.mutatePairs(r, r.query)
}

// mutatePairs replaces, repeats, drops or adds a parameter of a query or a form.
func (g *generator) mutatePairs(r *request, pairs []param) []param {
	if len(pairs) == 0 {
		return []param{{name: pick(g, g.names), value: g.text()}}
	}
	index := g.chooseTarget(r, len(pairs), func(i int) string { return pairs[i].name })
	name := pairs[index].name
	switch g.IntN(10) {
	case 0:
		g.cover(r, name)
		return append(pairs, param{name: name, value: g.text()})
	case 1:
		return slices.Delete(pairs, index, index+1)
	case 2:
		return append(pairs, param{name: pick(g, g.names), value: g.text()})
	case 3:
		return append(pairs, param{name: g.text(), value: g.text()})
	case 4:
		return append(pairs, param{name: name + pick(g, []string{"[]", "[x]", ".", ".other", ".x.y", "\x00"}), value: g.text()})
	case 5:
		g.cover(r, name)
		pairs[index] = param{name: name, value: pick(g, []string{"=", "", "=="}) + strings.NewReplacer("\r", "", "\n", "", " ", "+").Replace(pick(g, oddSegments)), raw: true}
	default:
		g.cover(r, name)
		pairs[index].value = g.text()
	}
	return pairs
}

// mutateBody replaces the whole body.
func (g *generator) mutateBody(r *request) {
	r.skipAccessCheck = true
	switch g.IntN(8) {
	case 0:
		r.body = g.text()
	case 1:
		r.body = g.hostileJSON()
	case 2:
		r.body = strings.Repeat(pick(g, []string{" ", "[", "a=b&", `{"a":`, "\x00"}), pick(g, []int{1000, 100_000}))
	case 3:
		r.set("Content-Type", "multipart/form-data; boundary=x")
		var b strings.Builder
		for _, p := range append(r.form, param{name: "a\"b", value: g.text()}) {
			fmt.Fprintf(&b, "--x\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n", p.name, p.value)
		}
		r.body = b.String() + pick(g, []string{"--x--\r\n", "--x", "", "--x\r\n"})
	case 4:
		r.form, r.json, r.body = nil, nil, ""
	case 5:
		r.set("Content-Type", "application/json")
		r.body = `{"answers": ` + g.hostileJSON() + "}"
	case 6:
		r.set("Content-Type", "application/x-www-form-urlencoded")
		r.body = strings.Repeat(url.QueryEscape(g.text())+"=%", 1+g.IntN(40))
	case 7:
		r.set("Content-Encoding", pick(g, []string{"gzip", "br", "deflate"}))
	}
}

// placeholder marks the part of a JSON body that is replaced by text.
const placeholder = "@here@"

// mutateJSON replaces, adds, repeats or drops one part of the body.
func (g *generator) mutateJSON(r *request) error {
	text, err := json.Marshal(r.json)
	if err != nil {
		return err
	}
	var body any
	if err := json.Unmarshal(text, &body); err != nil {
		return err
	}
	var parts []part
	collect("", body, func(any) {}, &parts)
	p := parts[g.chooseTarget(r, len(parts), func(i int) string { return parts[i].path })]
	target := fmt.Sprintf("%q", placeholder)
	replacement := ""
	object, isObject := p.value.(map[string]any)
	switch n := g.IntN(10); {
	case n < 2 && isObject:
		object[pick(g, g.names)] = placeholder
		replacement = g.hostileJSON()
	case n == 2 && isObject && len(object) > 0:
		name := pick(g, slices.Sorted(maps.Keys(object)))
		object[placeholder] = 0
		target, replacement = fmt.Sprintf("%q:0", placeholder), g.quote(name)+":"+g.hostileJSON()
	case n == 3 && isObject:
		object[placeholder] = 0
		target, replacement = fmt.Sprintf("%q:0", placeholder), g.quote(g.text())+":"+g.hostileJSON()
	case n == 4 && isObject && len(object) > 0:
		delete(object, pick(g, slices.Sorted(maps.Keys(object))))
	default:
		if len(parts) == 1 || p.top {
			p = parts[len(parts)-1]
		}
		g.cover(r, p.path)
		p.set(placeholder)
		replacement = g.valueLike(p.value)
	}
	if text, err = json.Marshal(body); err != nil {
		return err
	}
	r.json, r.body = nil, strings.Replace(string(text), target, replacement, 1)
	if g.IntN(40) == 0 {
		r.body = pick(g, []string{"\ufeff", "\x00", "", " "}) + r.body[:g.IntN(len(r.body))]
	}
	return nil
}

// part is a value in a JSON body.
type part struct {
	path  string // member names, each after a dot; all elements of a list share one path
	value any
	top   bool
	set   func(any)
}

func collect(path string, value any, set func(any), into *[]part) {
	*into = append(*into, part{path, value, len(*into) == 0, set})
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			collect(path+"."+name, v[name], func(other any) { v[name] = other }, into)
		}
	case []any:
		for i := range v {
			collect(path+"[]", v[i], func(other any) { v[i] = other }, into)
		}
	}
}
