// Package compress compresses HTTP responses with gzip for clients that accept it.
//
// Routes opt in; nothing is compressed by default. The reason is the BREACH attack: the
// length of a compressed response reveals whether two parts of it are equal. If a
// response contains a secret and text that an attacker can choose, the attacker can guess
// the secret byte by byte. So responses with consent requests, tokens, codes, sign-in
// links or client secrets are never compressed.
package compress

import (
	"net/http"
	"strconv"
	"strings"
)

// Accepted reports whether the client accepts gzip (RFC 9110, section 12.5.3) and does
// not prefer an uncompressed response.
func Accepted(h http.Header) bool {
	lines := h["Accept-Encoding"]
	if len(lines) == 0 {
		return false
	}
	gzipQ, identityQ, wildcardQ := -1.0, -1.0, -1.0
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ",") {
			coding, parameters, _ := strings.Cut(part, ";")
			coding = strings.TrimSpace(coding)
			switch q := parseQuality(parameters); {
			case strings.EqualFold(coding, "gzip") || strings.EqualFold(coding, "x-gzip"):
				gzipQ = q
			case strings.EqualFold(coding, "identity"):
				identityQ = q
			case coding == "*":
				wildcardQ = q
			}
		}
	}
	if gzipQ < 0 {
		gzipQ = wildcardQ
	}
	return gzipQ > 0 && gzipQ >= identityQ
}

// parseQuality parses the weight of a coding, such as q=0.5. It returns 1 without a
// weight, and 0, which excludes the coding, for an invalid one.
func parseQuality(parameters string) float64 {
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

// varyHeader is the value of the Vary header, allocated once.
var varyHeader = []string{"Accept-Encoding"}

// Vary tells caches that the response depends on Accept-Encoding.
func Vary(h http.Header) {
	if len(h["Vary"]) == 0 {
		h["Vary"] = varyHeader
	} else {
		h.Add("Vary", varyHeader[0])
	}
}

// isCompressible reports whether a content type is worth compressing. Event streams are
// not: events are short, and each must be sent at once.
func isCompressible(contentType string) bool {
	mediaType, _, _ := strings.Cut(contentType, ";")
	switch mediaType = strings.ToLower(strings.TrimSpace(mediaType)); mediaType {
	case "text/event-stream":
		return false
	case "application/json", "application/javascript", "application/x-ndjson", "application/jsonl", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "+json")
}
