package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"formulary/internal/compress"
	"formulary/internal/fault"
)

//go:embed static
var staticFiles embed.FS

// asset is a file that never changes under its version.
type asset struct {
	content []byte
	kept    *compress.Content
	kind    string
	version string
}

// loadStatic reads the files. They are part of the program, so once is enough.
var loadStatic = sync.OnceValues(func() (map[string]asset, error) {
	list := map[string]asset{}
	names, err := fs.Glob(staticFiles, "static/*")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		content, err := staticFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		switch path.Ext(name) {
		case ".css":
			content = minifyCSS(content)
		case ".js":
			content = minifyJS(content)
		}
		list[path.Base(name)] = newAsset(name, content)
	}
	// The one style sheet, without what some pages have no use for.
	for name, layers := range map[string][]string{
		"public.css":       {"workspace", "pages", "charts"},
		"builder-base.css": {"tables", "form", "pages", "charts"},
	} {
		css := list["formulary.css"].content
		for _, layer := range layers {
			css = withoutLayer(css, layer)
		}
		list[name] = newAsset(name, css)
	}
	return list, nil
})

func newAsset(name string, content []byte) asset {
	sum := sha256.Sum256(content)
	return asset{
		content: content, kept: compress.NewContent(content),
		kind: mime.TypeByExtension(path.Ext(name)), version: hex.EncodeToString(sum[:6]),
	}
}

func (web *Handler) serveStatic(v *pageRequest) error {
	a, ok := web.static[v.r.PathValue("file")]
	if !ok {
		return fault.New(fault.UnknownPath, "File not found.")
	}
	return a.serve(v)
}

func (web *Handler) favicon(v *pageRequest) error { return web.static["favicon.svg"].serve(v) }

// serve sends a file, compressed for those who accept that. Both forms have an ETag of
// their own, as they are different bytes.
func (a asset) serve(v *pageRequest) error {
	h := v.w.Header()
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if v.r.URL.Query().Get("v") != a.version {
		h.Set("Cache-Control", "no-cache")
	}
	h.Set("Content-Type", a.kind)
	compress.Vary(h)
	content, tag := a.content, `"`+a.version+`"`
	if compress.Accepted(v.r.Header) {
		if packed := a.kept.Gzip(); packed != nil {
			content, tag = packed, `"`+a.version+`-gzip"`
			h["Content-Encoding"] = zipped
		}
	}
	h.Set("ETag", tag)
	if matches(v.r.Header["If-None-Match"], tag) {
		delete(h, "Content-Encoding")
		v.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Length", strconv.Itoa(len(content)))
	v.w.WriteHeader(http.StatusOK)
	v.w.Write(content) // the reader may have gone
	return nil
}

var zipped = []string{"gzip"}

// matches says whether If-None-Match names a tag (RFC 9110, section 13.1.2).
func matches(lines []string, tag string) bool {
	for _, line := range lines {
		for known := range strings.SplitSeq(line, ",") {
			if known = strings.TrimSpace(known); known == "*" || strings.TrimPrefix(known, "W/") == tag {
				return true
			}
		}
	}
	return false
}
