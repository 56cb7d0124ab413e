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
	"regexp"
	"strconv"
	"strings"

	swagger "github.com/swaggest/swgui/v5/static"

	"formulary/internal/fault"
)

//go:embed static
var staticFiles embed.FS

// asset is a file that never changes under its version.
type asset struct {
	content []byte
	packed  []byte // with gzip
	kind    string
	version string
}

// loadStatic reads our own files and those of the API page's library.
func loadStatic() (map[string]asset, error) {
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
			content = scriptMargin.ReplaceAll(content, nil)
		}
		if list[path.Base(name)], err = pack(name, content); err != nil {
			return nil, err
		}
	}
	public := list["formulary.css"].content
	for _, layer := range []string{"workspace", "guest"} {
		public = withoutLayer(public, layer)
	}
	if list["public.css"], err = pack("public.css", public); err != nil {
		return nil, err
	}
	for _, name := range []string{"swagger-ui-bundle.js", "swagger-ui.css"} {
		packed, err := swagger.FS.ReadFile(name + ".gz")
		if err != nil {
			return nil, err
		}
		list[name] = newAsset(name, nil, packed)
	}
	return list, nil
}

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

// withoutLayer leaves a layer out of a style sheet that was made thin.
func withoutLayer(css []byte, layer string) []byte {
	begin := []byte("@layer " + layer + "{")
	for {
		from := bytes.Index(css, begin)
		if from < 0 {
			return css
		}
		to, depth := from+len(begin), 1
		for ; to < len(css) && depth > 0; to++ {
			switch css[to] {
			case '{':
				depth++
			case '}':
				depth--
			}
		}
		css = append(bytes.Clone(css[:from]), css[to:]...)
	}
}

var (
	cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	cssSpace   = regexp.MustCompile(`\s+`)
	cssAround  = regexp.MustCompile(` ?([{};,]) ?`)
)

// scriptMargin is what only the authors of a script read: comments on lines of
// their own, and indentation. Ours have no texts of several lines.
var scriptMargin = regexp.MustCompile(`(?m)^\s*(//.*\n)?`)

// thin leaves out of a style sheet what only its authors read. Our own has no
// strings in which spaces matter.
func thin(css []byte) []byte {
	css = cssSpace.ReplaceAll(cssComment.ReplaceAll(css, nil), []byte(" "))
	return bytes.TrimSpace(cssAround.ReplaceAll(css, []byte("$1")))
}

func newAsset(name string, content, packed []byte) asset {
	sum := sha256.Sum256(packed)
	return asset{content, packed, mime.TypeByExtension(path.Ext(name)), hex.EncodeToString(sum[:6])}
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
