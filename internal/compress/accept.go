// Package compress sends answers with gzip to clients that accept it.
//
// A route asks for it by name; nothing is compressed by default. The length of a
// compressed answer tells whether two parts of it are alike, so an answer that holds a
// secret and also something that another site can choose would give the secret away,
// byte by byte (BREACH). Answers with tickets, tokens, codes, links that sign somebody
// in, or client secrets are therefore never compressed.
package compress

import (
	"net/http"
	"strconv"
	"strings"
)

// Accepted says whether a client wants gzip (RFC 9110, section 12.5.3). One that
// ranks the plain answer higher gets that.
func Accepted(h http.Header) bool {
	lines := h["Accept-Encoding"]
	if len(lines) == 0 {
		return false
	}
	zipped, plain, any := -1.0, -1.0, -1.0
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ",") {
			coding, parameters, _ := strings.Cut(part, ";")
			coding = strings.TrimSpace(coding)
			switch q := quality(parameters); {
			case strings.EqualFold(coding, "gzip") || strings.EqualFold(coding, "x-gzip"):
				zipped = q
			case strings.EqualFold(coding, "identity"):
				plain = q
			case coding == "*":
				any = q
			}
		}
	}
	if zipped < 0 {
		zipped = any
	}
	return zipped > 0 && zipped >= plain
}

// quality reads q=0.5; one that cannot be read rules the coding out.
func quality(parameters string) float64 {
	parameters = strings.TrimSpace(parameters)
	if parameters == "" {
		return 1
	}
	name, value, _ := strings.Cut(parameters, "=")
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !strings.EqualFold(strings.TrimSpace(name), "q") || !(q >= 0 && q <= 1) {
		return 0
	}
	return q
}

// varies never changes, so it is made once.
var varies = []string{"Accept-Encoding"}

// Vary tells caches that the answer depends on what the client accepts.
func Vary(h http.Header) {
	if len(h["Vary"]) == 0 {
		h["Vary"] = varies
	} else {
		h.Add("Vary", varies[0])
	}
}

// compressible says whether a type of content is worth compressing. Streams of events
// are not: each must leave at once, and they are short.
func compressible(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	switch kind = strings.ToLower(strings.TrimSpace(kind)); kind {
	case "text/event-stream":
		return false
	case "application/json", "application/javascript", "application/x-ndjson", "application/jsonl", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json")
}
