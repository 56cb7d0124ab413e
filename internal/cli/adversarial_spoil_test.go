package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// next makes a request: a valid one, with one thing replaced, sometimes two.
func (g *generator) next() (*request, error) {
	seed := pick(g, g.world.seeds)
	for seed.rare && g.Float64() > 0.1 {
		seed = pick(g, g.world.seeds)
	}
	r := seed.copy()
	for i := range r.form {
		if r.form[i].name == "_once" {
			r.form[i].value = pick(g, g.world.nonces)
		}
	}
	if len(r.pool) > 0 {
		r.path[r.params[len(r.params)-1]] = pick(g, r.pool)
	}
	if g.IntN(2) == 0 { // of the parameters that may be left out, most are
		r.query = slices.DeleteFunc(r.query, func(named) bool { return g.Float64() < 0.6 })
	}
	r.header = slices.DeleteFunc(r.header, func(h named) bool { return h.name != "Content-Type" && g.Float64() < 0.6 })
	if key := r.get("Idempotency-Key"); key != "" && g.IntN(2) == 0 {
		r.set("Idempotency-Key", fmt.Sprint(g.Uint32())) // another thing to do once
	}
	r.as = g.world.sender(g, seed)
	if name, value := r.as.credential(); name != "" {
		r.set(name, value)
	}
	r.set("X-Forwarded-For", g.address())
	times := 1
	if g.Float64() < 0.2 {
		times = 2
	}
	for range times {
		if err := g.spoil(r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (g *generator) spoil(r *request) error {
	switch n := g.IntN(100); {
	case n < 2:
		return nil // as it is
	case n < 7:
		g.spoilMethod(r)
	case n < 15:
		g.spoilHeader(r)
	case n < 17:
		g.spoilLine(r)
	case n < 30 && len(r.path) > 1:
		g.spoilPath(r)
	case n < 40 || r.form == nil && r.json == nil:
		g.spoilQuery(r)
	case n < 44:
		g.spoilBody(r)
	case r.form != nil:
		r.form = g.spoilPairs(r, r.form)
	default:
		return g.spoilJSON(r)
	}
	return nil
}

func (g *generator) spoilMethod(r *request) {
	r.moved = true
	r.method = pick(g, []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "QUERY", "get", "X", strings.Repeat("A", 5000), "G\x00T", "GÉT", "\xff", "PRI"})
	if r.method == "DELETE" { // of what is still needed, something else
		last := &r.path[len(r.path)-1]
		switch *last {
		case g.world.asked, g.world.draft:
			*last = pick(g, g.world.spares)
		case g.world.responses[0]:
			*last = pick(g, g.world.responses[1:])
		}
	}
	if r.method == "CONNECT" || r.method == "PRI" || strings.ContainsFunc(r.method, func(c rune) bool { return c < 'A' || c > 'z' }) {
		r.odd = true
	}
}

// headers are those that something on the way may read.
var headers = []string{
	"Authorization", "Content-Type", "Accept", "Accept-Language", "Accept-Encoding", "Cookie", "Origin", "Referer", "Sec-Fetch-Site", "Sec-Fetch-Mode", "If-Match", "If-None-Match", "If-Modified-Since",
	"Idempotency-Key", "Range", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded", "User-Agent", "X-Request-Id", "Access-Control-Request-Method", "Access-Control-Request-Headers",
	"X-HTTP-Method-Override", "Content-Encoding", "Prefer", "Cache-Control", "Date", "Via", "X-Requested-With",
}

func (g *generator) spoilHeader(r *request) {
	name := pick(g, headers)
	value := g.text()
	g.reached["header "+name] = true
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
	r.moved = r.moved || name == "Authorization" || name == "Cookie" || name == "Content-Type" || name == "Origin" || name == "Sec-Fetch-Site"
	if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		r.odd, r.moved = true, true
	}
	if g.IntN(4) == 0 {
		r.header = append(r.header, named{name: name, value: value}) // a second one
	} else {
		r.set(name, value)
	}
}

// spoilLine breaks the rules of HTTP itself.
func (g *generator) spoilLine(r *request) {
	r.odd, r.moved = true, true
	switch g.IntN(5) {
	case 0:
		r.set("X-A", "b\r\n"+pick(g, []string{"X-B: c", "Content-Length: 0", "Transfer-Encoding: chunked", " folded", ": empty", "no colon", "A B: c", "Host: evil.example", "\r\nGET / HTTP/1.1"}))
		r.cut = true
	case 1:
		r.set("Host", pick(g, []string{"evil.example", "", "a b", "\x00", "[::1", "a@b", "127.0.0.1:99999", strings.Repeat("a.", 3000), "é"}))
	case 2:
		r.set("Content-Length", pick(g, []string{"-1", "1", "999999", "9223372036854775807", "9223372036854775808", "1, 1", "1,2", "0x1", "", " ", "a"}))
		r.cut = true
	case 3:
		r.set(pick(g, []string{"Transfer-Encoding", "Expect", "Connection", "Upgrade", "Trailer", "TE"}), pick(g, []string{"chunked", "gzip, chunked", "identity", "100-continue", "200-ok", "close", "upgrade", "h2c", "websocket", "keep-alive, Host", "", "x"}))
		r.cut = true
	case 4:
		r.header = append(r.header, named{name: pick(g, []string{"", "A B", "A\x00", "É", strings.Repeat("A", 9000), "Content-Length", "Host"}), value: g.text()})
		r.cut = true
	}
}

func (g *generator) spoilPath(r *request) {
	r.moved = true
	at := 1 + g.IntN(len(r.path)-1)
	if len(r.params) > 0 && g.IntN(4) > 0 {
		at = pick(g, r.params)
	}
	switch g.IntN(5) {
	case 0:
		g.reachParameter(r, at)
		r.path[at] = pick(g, strange)
	case 1:
		g.reachParameter(r, at)
		r.path[at] += pick(g, strange)
	case 2:
		r.path = slices.Insert(r.path, at, pick(g, []string{"", "..", ".", "a"}))
	default:
		g.reachParameter(r, at)
		r.path[at] = url.PathEscape(g.text())
	}
}

// choose is one of so many places of a request, half of the time one that was spared
// so far.
func (g *generator) choose(r *request, n int, place func(int) string) int {
	var spared []int
	for i := range n {
		if !g.reached[r.name+" "+place(i)] {
			spared = append(spared, i)
		}
	}
	if len(spared) > 0 && g.IntN(2) == 0 {
		return pick(g, spared)
	}
	return g.IntN(n)
}

// reach notes that something hostile went into a place of a request.
func (g *generator) reach(r *request, place string) { g.reached[r.name+" "+place] = true }

func (g *generator) reachParameter(r *request, at int) {
	if i := slices.Index(r.params, at); i >= 0 {
		g.reach(r, fmt.Sprint("path ", i))
	}
}

// places are all that something hostile should go into.
func (w *world) places() ([]string, error) {
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

func (g *generator) spoilQuery(r *request) {
	if g.IntN(3) == 0 {
		name := pick(g, g.names)
		if g.IntN(4) == 0 {
			name = fmt.Sprintf("%s[%s]", name, g.text())
		}
		r.query = append(r.query, named{name: name, value: g.text()})
		return
	}
	seed := slices.IndexFunc(g.world.seeds, func(s *request) bool { return s.name == r.name })
	if seed >= 0 && len(r.query) == 0 && len(g.world.seeds[seed].query) > 0 {
		r.query = []named{pick(g, g.world.seeds[seed].query)}
	}
	r.query = g.spoilPairs(r, r.query)
}

// spoilPairs replaces, repeats, drops or adds one of a query or a form.
func (g *generator) spoilPairs(r *request, pairs []named) []named {
	if len(pairs) == 0 {
		return []named{{name: pick(g, g.names), value: g.text()}}
	}
	at := g.choose(r, len(pairs), func(i int) string { return pairs[i].name })
	name := pairs[at].name
	switch g.IntN(10) {
	case 0:
		g.reach(r, name)
		return append(pairs, named{name: name, value: g.text()})
	case 1:
		return slices.Delete(pairs, at, at+1)
	case 2:
		return append(pairs, named{name: pick(g, g.names), value: g.text()})
	case 3:
		return append(pairs, named{name: g.text(), value: g.text()})
	case 4:
		return append(pairs, named{name: name + pick(g, []string{"[]", "[x]", ".", ".other", ".x.y", "\x00"}), value: g.text()})
	case 5:
		g.reach(r, name)
		pairs[at] = named{name: name, value: pick(g, []string{"=", "", "=="}) + strings.NewReplacer("\r", "", "\n", "", " ", "+").Replace(pick(g, strange)), raw: true}
	default:
		g.reach(r, name)
		pairs[at].value = g.text()
	}
	return pairs
}

// spoilBody sends something else altogether.
func (g *generator) spoilBody(r *request) {
	r.moved = true
	switch g.IntN(8) {
	case 0:
		r.body = g.text()
	case 1:
		r.body = g.wrong()
	case 2:
		r.body = strings.Repeat(pick(g, []string{" ", "[", "a=b&", `{"a":`, "\x00"}), pick(g, []int{1000, 100_000}))
	case 3:
		r.set("Content-Type", "multipart/form-data; boundary=x")
		var b strings.Builder
		for _, p := range append(r.form, named{name: "a\"b", value: g.text()}) {
			fmt.Fprintf(&b, "--x\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n", p.name, p.value)
		}
		r.body = b.String() + pick(g, []string{"--x--\r\n", "--x", "", "--x\r\n"})
	case 4:
		r.form, r.json, r.body = nil, nil, ""
	case 5:
		r.set("Content-Type", "application/json")
		r.body = `{"answers": ` + g.wrong() + "}"
	case 6:
		r.set("Content-Type", "application/x-www-form-urlencoded")
		r.body = strings.Repeat(url.QueryEscape(g.text())+"=%", 1+g.IntN(40))
	case 7:
		r.set("Content-Encoding", pick(g, []string{"gzip", "br", "deflate"}))
	}
}

// here stands for the text that replaces a part of a JSON body.
const here = "@here@"

// spoilJSON replaces, adds, repeats or drops one part of the body.
func (g *generator) spoilJSON(r *request) error {
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
	p := parts[g.choose(r, len(parts), func(i int) string { return parts[i].path })]
	replaced := fmt.Sprintf("%q", here)
	with := ""
	object, isObject := p.value.(map[string]any)
	switch n := g.IntN(10); {
	case n < 2 && isObject:
		object[pick(g, g.names)] = here
		with = g.wrong()
	case n == 2 && isObject && len(object) > 0:
		name := pick(g, slices.Sorted(maps.Keys(object)))
		object[here] = 0
		replaced, with = fmt.Sprintf("%q:0", here), g.quoted(name)+":"+g.wrong()
	case n == 3 && isObject:
		object[here] = 0
		replaced, with = fmt.Sprintf("%q:0", here), g.quoted(g.text())+":"+g.wrong()
	case n == 4 && isObject && len(object) > 0:
		delete(object, pick(g, slices.Sorted(maps.Keys(object))))
	default:
		if len(parts) == 1 || p.top {
			p = parts[len(parts)-1]
		}
		g.reach(r, p.path)
		p.set(here)
		with = g.like(p.value)
	}
	if text, err = json.Marshal(body); err != nil {
		return err
	}
	r.json, r.body = nil, strings.Replace(string(text), replaced, with, 1)
	if g.IntN(40) == 0 {
		r.body = pick(g, []string{"\ufeff", "\x00", "", " "}) + r.body[:g.IntN(len(r.body))]
	}
	return nil
}

// part is a place in a JSON body.
type part struct {
	path  string // as names with dots before them; all entries of a list have one
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
