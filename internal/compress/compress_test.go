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

// TestAccepted shows how Accept-Encoding is read.
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
			t.Errorf("%q: got %v, want %v", line, !want, want)
		}
	}
	if !Accepted(http.Header{"Accept-Encoding": {"br", "gzip"}}) {
		t.Error("the second Accept-Encoding header is ignored")
	}
}

// serve sends a request to a handler whose responses may be compressed. Request headers
// are given as names and values in turn.
func serve(handler http.HandlerFunc, method string, header ...string) *http.Response {
	r := httptest.NewRequest(method, "/", nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	if w := NewWriter(rec, r); w != nil {
		handler(w, r)
		w.Close()
	} else {
		handler(rec, r)
	}
	return rec.Result()
}

func gunzip(t testing.TB, from io.Reader) string {
	t.Helper()
	gz, err := gzip.NewReader(from)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(gz)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWriter shows which responses are compressed, and that the body is the same.
func TestWriter(t *testing.T) {
	long := strings.Repeat("all work and no play ", 100)
	short := long[:minSize-1]
	send := func(body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			io.WriteString(w, body)
		}
	}
	inParts := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		for part := range strings.SplitSeq(long, "no") {
			io.WriteString(w, part)
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
		gzipped bool
	}{
		"accepted":            {send(long), "GET", accept, long, 200, true},
		"not accepted":        {send(long), "GET", nil, long, 200, false},
		"refused":             {send(long), "GET", []string{"Accept-Encoding", "gzip;q=0, *"}, long, 200, false},
		"short":               {send(short), "GET", accept, short, 200, false},
		"minimum size":        {send(short + "!"), "GET", accept, short + "!", 200, true},
		"several writes":      {inParts, "GET", accept, long + "no", 200, true},
		"Whole":               {whole(long), "GET", accept, long, 200, true},
		"Whole, short":        {whole(short), "GET", accept, short, 200, false},
		"empty":               {send(""), "GET", accept, "", 200, false},
		"HEAD":                {status(200), "HEAD", accept, "", 200, false},
		"range":               {send(long), "GET", append([]string{"Range", "bytes=0-9"}, accept...), long, 200, false},
		"partial":             {send(long, "Content-Range", "bytes 0-9/10"), "GET", accept, long, 200, false},
		"not modified":        {status(304), "GET", accept, "", 304, false},
		"no content":          {status(204), "GET", accept, "", 204, false},
		"already encoded":     {send(long, "Content-Encoding", "br"), "GET", accept, long, 200, false},
		"strong ETag":         {send(long, "ETag", `"5"`), "GET", accept, long, 200, false},
		"weak ETag":           {send(long, "ETag", `W/"5"`), "GET", accept, long, 200, true},
		"PNG":                 {send(long, "Content-Type", "image/png"), "GET", accept, long, 200, false},
		"SVG":                 {send(long, "Content-Type", "image/svg+xml"), "GET", accept, long, 200, true},
		"ZIP":                 {send(long, "Content-Type", "application/zip"), "GET", accept, long, 200, false},
		"event stream":        {send(long, "Content-Type", "text/event-stream"), "GET", accept, long, 200, false},
		"no content type":     {send(long, "Content-Type", ""), "GET", accept, long, 200, false},
		"with Content-Length": {send(long, "Content-Length", strconv.Itoa(len(long))), "GET", accept, long, 200, true},
	} {
		res := serve(c.handler, c.method, c.header...)
		if res.StatusCode != c.status || res.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: status %d, headers %v", name, res.StatusCode, res.Header)
		}
		if got := res.Header.Get("Content-Encoding") == "gzip"; got != c.gzipped {
			t.Errorf("%s: compressed is %v, want %v", name, got, c.gzipped)
			continue
		}
		var body string
		if c.gzipped {
			if length := res.Header.Get("Content-Length"); length == strconv.Itoa(len(c.body)) {
				t.Errorf("%s: Content-Length is that of the uncompressed body", name)
			}
			body = gunzip(t, res.Body)
		} else {
			text, _ := io.ReadAll(res.Body)
			body = string(text)
		}
		if body != c.body {
			t.Errorf("%s: got body %q", name, body)
		}
	}
}

// TestFlush shows that flushed bytes can be read before the handler writes more, and that
// event streams are not compressed.
func TestFlush(t *testing.T) {
	for _, contentType := range []string{"text/csv", "text/event-stream"} {
		more := make(chan bool)
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			w := NewWriter(rw, r)
			w.Header().Set("Content-Type", contentType)
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
		if gzipped := res.Header.Get("Content-Encoding") == "gzip"; gzipped != (contentType == "text/csv") {
			t.Errorf("%s: %v", contentType, res.Header)
		} else if gzipped {
			if body, err = gzip.NewReader(res.Body); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			piece := make([]byte, 6)
			if _, err := io.ReadFull(body, piece); err != nil || string(piece) != "piece\n" {
				t.Fatalf("%s: %q %v", contentType, piece, err)
			}
			more <- true
		}
		if rest, err := io.ReadAll(body); err != nil || len(rest) > 0 {
			t.Errorf("%s: %q %v", contentType, rest, err)
		}
	}
}

// TestInterruptedResponse shows that a response without Close does not look complete, and
// that Close sends nothing if nothing was written.
func TestInterruptedResponse(t *testing.T) {
	rec := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := NewWriter(rec, r)
	w.Header().Set("Content-Type", "text/csv")
	io.WriteString(w, strings.Repeat("row\n", 10_000))
	w.FlushError()
	gz, err := gzip.NewReader(rec.Body)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(gz); err != io.ErrUnexpectedEOF {
		t.Errorf("reading the interrupted response: got error %v, want unexpected EOF", err)
	}
	// Nothing was sent, so the handler can still send an error.
	rec = httptest.NewRecorder()
	w = NewWriter(rec, r)
	w.Header().Set("Content-Type", "application/json")
	if w.Close(); rec.Body.Len() > 0 || rec.Flushed || rec.Header().Get("Content-Encoding") != "" {
		t.Error("Close sent something although nothing was written")
	}
}

// TestContent shows that cached bodies are compressed once, and only if that saves bytes.
func TestContent(t *testing.T) {
	plain := []byte(strings.Repeat("all work and no play ", 100))
	c := NewContent(plain)
	packed := c.Gzip()
	if gunzip(t, bytes.NewReader(packed)) != string(plain) {
		t.Error("the compressed content differs from the plain content")
	}
	if &c.Gzip()[0] != &packed[0] {
		t.Error("the second call compressed again")
	}
	if size := int64(len(plain) + len(packed)); size > c.Cost() {
		t.Errorf("the content takes %d bytes, more than its cost of %d", size, c.Cost())
	}
	if NewContent(plain[:minSize-1]).Gzip() != nil {
		t.Error("content below minSize was compressed")
	}
	random := make([]byte, 4096)
	for i, x := 0, uint32(1); i < len(random); i++ {
		x = x*1664525 + 1013904223
		random[i] = byte(x >> 24)
	}
	if NewContent(random).Gzip() != nil || Split.Gzip(NewSplit(random, nil), nil) != nil {
		t.Error("content that does not shrink was compressed")
	}
}

// TestSplit shows that the parts decompress to the whole page, and that neither the length
// nor the bytes around the secret depend on the secret.
func TestSplit(t *testing.T) {
	word := rapid.SampledFrom([]string{"<p class=question>", "</p>\n", "label", "größe", "_key", " "})
	rapid.Check(t, func(t *rapid.T) {
		// rapid prefers short slices, so they are repeated: only pages of minSize or more
		// are compressed.
		text := func(name string) []byte {
			part := strings.Join(rapid.SliceOfN(word, 1, 200).Draw(t, name), "")
			return []byte(strings.Repeat(part, rapid.IntRange(minSize, 2*minSize).Draw(t, name+" repeated")/len(part)+1))
		}
		s := NewSplit(text("head"), text("tail"))
		secrets := rapid.SliceOfN(rapid.Byte(), 40, 40)
		secretA, secretB := secrets.Draw(t, "secretA"), secrets.Draw(t, "secretB")
		a, b := s.Gzip(secretA), s.Gzip(secretB)
		if a == nil {
			t.Fatal("the page was not compressed")
		}
		if got := gunzipSingle(t, bytes.Join(a, nil)); got != string(s.Head)+string(secretA)+string(s.Tail) {
			t.Fatalf("decompressed to %q", got)
		}
		if !bytes.Equal(a[0], b[0]) || !bytes.Equal(a[2], b[2]) {
			t.Fatal("the bytes around the secret depend on the secret")
		}
		if len(a[1]) != len(b[1]) || len(a[3]) != len(b[3]) {
			t.Fatal("the length depends on the secret")
		}
	})
}

// gunzipSingle decompresses text, which must be one gzip member: browsers read only one.
func gunzipSingle(t *rapid.T, text []byte) string {
	in := bytes.NewReader(text)
	gz, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	gz.Multistream(false)
	out, err := io.ReadAll(gz)
	if err != nil || in.Len() > 0 {
		t.Fatalf("error %v, %d bytes after the first member", err, in.Len())
	}
	return string(out)
}

// TestIdentityDoesNotAllocate shows that a request without Accept-Encoding costs no
// allocation.
func TestIdentityDoesNotAllocate(t *testing.T) {
	rec := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/", nil)
	if n := testing.AllocsPerRun(100, func() {
		delete(rec.Header(), "Vary")
		if NewWriter(rec, r) != nil {
			t.Error("compressed")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkIdentity(b *testing.B) {
	rec, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
	h := rec.Header()
	for b.Loop() {
		delete(h, "Vary")
		NewWriter(rec, r)
	}
}

func BenchmarkWhole(b *testing.B) {
	body := []byte(`{"data":[` + strings.Repeat(`{"id":"frm_01k9z8m7q3e4r5t6y7v8w9x0a1","title":"Order","description":"What would you like?","language":"en"},`, 40) + `{}]}`)
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	for b.Loop() {
		rec := httptest.NewRecorder()
		rec.Header().Set("Content-Type", "application/json")
		NewWriter(rec, r).Whole(200, body)
	}
}
