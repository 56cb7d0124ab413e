package web

import (
	"bytes"
	"compress/gzip"
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

	"formulary/internal/fault"
)

//go:embed static
var staticFiles embed.FS

// asset is a file that never changes under its version.
type asset struct {
	content []byte
	packed  func() ([]byte, error) // with gzip, made when it is first asked for
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
			content = thin(content)
		case ".js":
			content = thinScript(content)
		}
		list[path.Base(name)] = newAsset(name, content)
	}
	// The one style sheet, without what some pages have no use for.
	for name, layers := range map[string][]string{
		"public.css": {"workspace", "charts"},
		"desk.css":   {"form", "charts"},
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
		content: content, packed: sync.OnceValues(func() ([]byte, error) { return pack(content) }),
		kind: mime.TypeByExtension(path.Ext(name)), version: hex.EncodeToString(sum[:6]),
	}
}

func pack(content []byte) ([]byte, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(content); err != nil {
		return nil, err
	}
	err := zip.Close()
	return packed.Bytes(), err
}

func (web *Web) serveStatic(v *visit) error {
	a, ok := web.static[v.r.PathValue("file")]
	if !ok {
		return fault.New(fault.NoPath, "There is no file at this address.")
	}
	return a.serve(v)
}

func (web *Web) favicon(v *visit) error { return web.static["favicon.svg"].serve(v) }

func (a asset) serve(v *visit) error {
	h := v.w.Header()
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if v.r.URL.Query().Get("v") != a.version {
		h.Set("Cache-Control", "no-cache")
	}
	h.Set("Content-Type", a.kind)
	h.Set("Vary", "Accept-Encoding")
	h.Set("ETag", `"`+a.version+`"`)
	if v.r.Header.Get("If-None-Match") == `"`+a.version+`"` {
		v.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	content := a.content
	if strings.Contains(v.r.Header.Get("Accept-Encoding"), "gzip") {
		var err error
		if content, err = a.packed(); err != nil {
			return err
		}
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(content)))
	v.w.WriteHeader(http.StatusOK)
	v.w.Write(content) // the reader may have gone
	return nil
}
