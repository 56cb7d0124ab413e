package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	swagger "github.com/swaggest/swgui/v5/static"

	"formulary/internal/fault"
)

//go:embed static
var staticFiles embed.FS

// asset is a file that never changes under its version. Those of the explorer's
// library are large and seldom asked for: they are read when they are.
type asset struct {
	content []byte
	packed  []byte // with gzip
	library string // name of the packed file in the library; empty: one of ours
	kind    string
	version string
}

// loadStatic reads our own files and those of the explorer's library. They are part
// of the program, so once is enough.
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
		if list[path.Base(name)], err = pack(name, content); err != nil {
			return nil, err
		}
	}
	// The one style sheet, without what some pages have no use for.
	for name, layers := range map[string][]string{
		"public.css": {"workspace", "charts", "guest"},
		"desk.css":   {"form", "charts", "guest"},
	} {
		css := list["formulary.css"].content
		for _, layer := range layers {
			css = withoutLayer(css, layer)
		}
		if list[name], err = pack(name, css); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"swagger-ui-bundle.js", "swagger-ui.css"} {
		packed, err := swagger.FS.ReadFile(name + ".gz")
		if err != nil {
			return nil, err
		}
		a := newAsset(name, nil, packed)
		a.packed, a.library = nil, name+".gz"
		list[name] = a
	}
	return list, nil
})

func pack(name string, content []byte) (asset, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(content); err != nil {
		return asset{}, err
	}
	if err := zip.Close(); err != nil {
		return asset{}, err
	}
	return newAsset(name, content, packed.Bytes()), nil
}

func newAsset(name string, content, packed []byte) asset {
	sum := sha256.Sum256(packed)
	return asset{content: content, packed: packed, kind: mime.TypeByExtension(path.Ext(name)), version: hex.EncodeToString(sum[:6])}
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
	if a.library != "" {
		var err error
		if a.packed, err = swagger.FS.ReadFile(a.library); err != nil {
			return err
		}
	}
	content := a.content
	if strings.Contains(v.r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		content = a.packed
	} else if content == nil {
		zip, err := gzip.NewReader(bytes.NewReader(a.packed))
		if err != nil {
			return err
		}
		if content, err = io.ReadAll(zip); err != nil {
			return err
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(content)))
	v.w.WriteHeader(http.StatusOK)
	v.w.Write(content) // the reader may have gone
	return nil
}
