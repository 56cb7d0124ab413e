package compress

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAccepted(t *testing.T) {
	for line, want := range map[string]bool{
		"": false, "gzip": true, "GZip": true, "x-gzip": true, "gzip, deflate, br, zstd": true, "br": false, "br;q=1.0, gzip;q=0.8, *;q=0.1": true,
		"gzip;q=0": false, "gzip; q=0.000": false, "gzip ; q = 0.5": true, "*": true, "*;q=0": false, "identity": false, "identity;q=0": false, "identity;q=0, gzip": true,
		"identity;q=0.5, *;q=0.3": false, "identity, gzip;q=0.5": false, "identity;q=0.5, gzip;q=0.5": true, "*, gzip;q=0": false,
		"gzip;q=x": false, "gzip;q=2": false, "gzip;q=-1": false, "gzip;q=NaN": false, "gzip;level=9": false, "xgzip": false, "gzipped, not-gzip": false, ",,;,": false,
	} {
		h := http.Header{}
		if line != "" {
			h.Set("Accept-Encoding", line)
		}
		if Accepted(h) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
	if !Accepted(http.Header{"Accept-Encoding": {"br", "gzip"}}) {
		t.Error("the second line is not read")
	}
}

// answer serves a request by a handler whose answers may be compressed.
func answer(handler http.HandlerFunc, method string, header ...string) *http.Response {
	r := httptest.NewRequest(method, "/", nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	if w := For(rec, r); w != nil {
		handler(w, r)
		w.Close()
	} else {
		handler(rec, r)
	}
	return rec.Result()
}

func unzip(t testing.TB, from io.Reader) string {
	t.Helper()
	zip, err := gzip.NewReader(from)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWriter(t *testing.T) {
	long := strings.Repeat("all work and no play ", 100)
	short := long[:least-1]
	send := func(body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			io.WriteString(w, body)
		}
	}
	inPieces := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		for piece := range strings.SplitSeq(long, "no") {
			io.WriteString(w, piece)
			io.WriteString(w, "no")
		}
	}
	whole := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			if z, ok := w.(*Writer); ok {
				z.Whole(http.StatusOK, []byte(body))
			} else {
				io.WriteString(w, body)
			}
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
		}
	}
	accept := []string{"Accept-Encoding", "gzip"}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		method  string
		header  []string
		body    string
		status  int
		zipped  bool
	}{
		"asked for":           {send(long), "GET", accept, long, 200, true},
		"not asked for":       {send(long), "GET", nil, long, 200, false},
		"refused":             {send(long), "GET", []string{"Accept-Encoding", "gzip;q=0, *"}, long, 200, false},
		"short":               {send(short), "GET", accept, short, 200, false},
		"just long enough":    {send(short + "!"), "GET", accept, short + "!", 200, true},
		"in pieces":           {inPieces, "GET", accept, long + "no", 200, true},
		"whole":               {whole(long), "GET", accept, long, 200, true},
		"whole and short":     {whole(short), "GET", accept, short, 200, false},
		"empty":               {send(""), "GET", accept, "", 200, false},
		"HEAD":                {status(200), "HEAD", accept, "", 200, false},
		"range":               {send(long), "GET", append([]string{"Range", "bytes=0-9"}, accept...), long, 200, false},
		"partial":             {send(long, "Content-Range", "bytes 0-9/10"), "GET", accept, long, 200, false},
		"not modified":        {status(304), "GET", accept, "", 304, false},
		"no content":          {status(204), "GET", accept, "", 204, false},
		"encoded already":     {send(long, "Content-Encoding", "br"), "GET", accept, long, 200, false},
		"strong ETag":         {send(long, "ETag", `"5"`), "GET", accept, long, 200, false},
		"weak ETag":           {send(long, "ETag", `W/"5"`), "GET", accept, long, 200, true},
		"a picture":           {send(long, "Content-Type", "image/png"), "GET", accept, long, 200, false},
		"a drawing":           {send(long, "Content-Type", "image/svg+xml"), "GET", accept, long, 200, true},
		"a zip file":          {send(long, "Content-Type", "application/zip"), "GET", accept, long, 200, false},
		"events":              {send(long, "Content-Type", "text/event-stream"), "GET", accept, long, 200, false},
		"of unknown type":     {send(long, "Content-Type", ""), "GET", accept, long, 200, false},
		"its length was told": {send(long, "Content-Length", strconv.Itoa(len(long))), "GET", accept, long, 200, true},
	} {
		res := answer(c.handler, c.method, c.header...)
		if got := res.Header.Get("Content-Encoding") == "gzip"; got != c.zipped || res.StatusCode != c.status || res.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: %d %v", name, res.StatusCode, res.Header)
			continue
		}
		var body string
		if c.zipped {
			if length := res.Header.Get("Content-Length"); length == strconv.Itoa(len(c.body)) {
				t.Errorf("%s: the length is that of the plain body", name)
			}
			body = unzip(t, res.Body)
		} else {
			text, _ := io.ReadAll(res.Body)
			body = string(text)
		}
		if body != c.body {
			t.Errorf("%s: %q", name, body)
		}
	}
}

// What was flushed can be read before there is more, and an event stream is left alone.
func TestFlush(t *testing.T) {
	for _, kind := range []string{"text/csv", "text/event-stream"} {
		more := make(chan bool)
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			w := For(rw, r)
			w.Header().Set("Content-Type", kind)
			for range 3 {
				io.WriteString(w, "piece\n")
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Error(err)
				}
				<-more
			}
			w.Close()
		}))
		defer server.Close()
		r, err := http.NewRequest("GET", server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", "gzip")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var body io.Reader = res.Body
		if zipped := res.Header.Get("Content-Encoding") == "gzip"; zipped != (kind == "text/csv") {
			t.Errorf("%s: %v", kind, res.Header)
		} else if zipped {
			if body, err = gzip.NewReader(res.Body); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			piece := make([]byte, 6)
			if _, err := io.ReadFull(body, piece); err != nil || string(piece) != "piece\n" {
				t.Fatalf("%s: %q %v", kind, piece, err)
			}
			more <- true
		}
		if rest, err := io.ReadAll(body); err != nil || len(rest) > 0 {
			t.Errorf("%s: %q %v", kind, rest, err)
		}
	}
}

// An answer that broke off does not look complete.
func TestBrokenOff(t *testing.T) {
	rec := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := For(rec, r)
	w.Header().Set("Content-Type", "text/csv")
	io.WriteString(w, strings.Repeat("row\n", 10_000))
	w.FlushError()
	zip, err := gzip.NewReader(rec.Body)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(zip); err != io.ErrUnexpectedEOF {
		t.Errorf("read to its end: %v", err)
	}
	// Before anything was sent, an error can still be told.
	rec = httptest.NewRecorder()
	w = For(rec, r)
	w.Header().Set("Content-Type", "application/json")
	if w.Close(); rec.Body.Len() > 0 || rec.Flushed || rec.Header().Get("Content-Encoding") != "" {
		t.Error("nothing was written, and something was sent")
	}
}

func TestKeep(t *testing.T) {
	plain := []byte(strings.Repeat("all work and no play ", 100))
	c := Keep(plain)
	packed := c.Packed()
	if unzip(t, bytes.NewReader(packed)) != string(plain) || &c.Packed()[0] != &packed[0] || int64(len(plain)+len(packed)) > c.Cost() {
		t.Error("it is not kept")
	}
	if Keep(plain[:least-1]).Packed() != nil {
		t.Error("what is short is packed")
	}
	random := make([]byte, 4096)
	for i, x := 0, uint32(1); i < len(random); i++ {
		x = x*1664525 + 1013904223
		random[i] = byte(x >> 24)
	}
	if Keep(random).Packed() != nil || Split.Packed(KeepSplit(random, nil), nil) != nil {
		t.Error("what does not shrink is packed")
	}
}

// A page in parts is what it is whole, and neither its length nor anything around the
// secret depends on the secret.
func TestSplit(t *testing.T) {
	word := rapid.SampledFrom([]string{"<p class=question>", "</p>\n", "label", "größe", "_once", " "})
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) []byte {
			return []byte(strings.Join(rapid.SliceOfN(word, 0, 2000).Draw(t, name), ""))
		}
		s := KeepSplit(text("head"), text("tail"))
		secrets := rapid.SliceOfN(rapid.Byte(), 40, 40)
		one, other := secrets.Draw(t, "one"), secrets.Draw(t, "other")
		a, b := s.Packed(one), s.Packed(other)
		if a == nil {
			return // not worth it
		}
		if got := unzipAll(t, bytes.Join(a, nil)); got != string(s.Head)+string(one)+string(s.Tail) {
			t.Fatalf("%q", got)
		}
		if !bytes.Equal(a[0], b[0]) || !bytes.Equal(a[2], b[2]) || len(a[1]) != len(b[1]) || len(a[3]) != len(b[3]) {
			t.Fatal("the secret shows in what is around it")
		}
	})
}

func unzipAll(t *rapid.T, text []byte) string {
	in := bytes.NewReader(text)
	zip, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	zip.Multistream(false) // browsers read one member
	out, err := io.ReadAll(zip)
	if err != nil || in.Len() > 0 {
		t.Fatalf("%v, %d bytes are left", err, in.Len())
	}
	return string(out)
}

// A client that does not ask pays nothing.
func TestPlainCostsNothing(t *testing.T) {
	rec := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/", nil)
	if n := testing.AllocsPerRun(100, func() {
		delete(rec.Header(), "Vary")
		if For(rec, r) != nil {
			t.Error("compressed")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkNotAsked(b *testing.B) {
	rec, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
	h := rec.Header()
	for b.Loop() {
		delete(h, "Vary")
		For(rec, r)
	}
}

func BenchmarkWhole(b *testing.B) {
	body := []byte(`{"data":[` + strings.Repeat(`{"id":"frm_01k9z8m7q3e4r5t6y7v8w9x0a1","title":"Order","description":"What would you like?","language":"en"},`, 40) + `{}]}`)
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	for b.Loop() {
		rec := httptest.NewRecorder()
		rec.Header().Set("Content-Type", "application/json")
		For(rec, r).Whole(200, body)
	}
}
