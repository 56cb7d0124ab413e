package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"iter"
	"mime"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"formulary/internal/compress"
	"formulary/internal/fault"
	"formulary/internal/theme"
)

//go:embed static
var staticFiles embed.FS

// asset is a static file. The version is part of its address, so browsers can keep it
// for good.
type asset struct {
	content   []byte
	gzip      *compress.Content
	mediaType string
	version   string
}

// oldName matches the names that kind-names.css defines.
var oldName = regexp.MustCompile(`var\(--(bg|surface|text|muted|border|border-strong|on-accent|accent-bg|danger|danger-bg|radius)\)`)

// loadStatic reads the files once: they are part of the program.
var loadStatic = sync.OnceValues(func() (map[string]asset, error) {
	list := map[string]asset{}
	files, err := fs.Glob(staticFiles, "static/*")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
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
	const names = "kind-names.css"
	for name, file := range list {
		if name != names && strings.HasPrefix(name, "kind-") && oldName.Match(file.content) {
			list[name] = newAsset(name, slices.Concat(list[names].content, file.content))
		}
	}
	// Style sheets without the layers that some pages do not need.
	list["builder-base.css"] = newAsset("builder-base.css", withoutLayers(list["formulary.css"].content, "tables", "form", "pages", "charts"))
	scripts, err := builderScripts()
	if err != nil {
		return nil, err
	}
	for name, content := range scripts {
		list[name] = newAsset(name, content)
	}
	for _, mood := range theme.Moods() {
		for name, from := range map[string]string{formStyleSheet(mood): "form.css", pictureStyleSheet(mood): "form-pictures.css", backgroundStyleSheet(mood): "form-background.css"} {
			list[name] = newAsset(name, newFormStyle(list[from].content, mood))
			list[canvasName(name)] = newAsset(canvasName(name), newCanvasStyle(mood, list[from].content))
		}
	}
	return list, nil
})

func newAsset(name string, content []byte) asset {
	sum := sha256.Sum256(content)
	return asset{
		content: content, gzip: compress.NewContent(content),
		mediaType: mime.TypeByExtension(path.Ext(name)), version: hex.EncodeToString(sum[:6]),
	}
}

// AssetsOf returns the style sheet and the script with the name, those that exist.
func (s *Site) AssetsOf(name string) []string {
	var list []string
	for _, extension := range []string{".css", ".js"} {
		if _, ok := s.static[name+extension]; ok {
			list = append(list, name+extension)
		}
	}
	return list
}

// Scripts returns the scripts whose names start with one of the prefixes, minified.
func (s *Site) Scripts(prefixes ...string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for name, file := range s.static {
			matches := slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
			if matches && path.Ext(name) == ".js" && !yield(file.content) {
				return
			}
		}
	}
}

// ServeStatic sends the file that the path names.
func (s *Site) ServeStatic(req *Request) error { return s.ServeFile(req, req.PathValue("file")) }

// Favicon sends the icon of the site.
func (s *Site) Favicon(req *Request) error { return s.ServeFile(req, "favicon.svg") }

// ServeFile sends a static file, compressed for clients that accept that. The compressed
// file has an ETag of its own, because its bytes differ.
func (s *Site) ServeFile(req *Request, name string) error {
	a, ok := s.static[name]
	if !ok {
		return fault.New(fault.UnknownPath, "File not found.")
	}
	header := req.W.Header()
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	if req.URL.Query().Get("v") != a.version {
		header.Set("Cache-Control", "no-cache")
	}
	header.Set("Content-Type", a.mediaType)
	compress.Vary(header)
	content, tag := a.content, `"`+a.version+`"`
	if compress.Accepted(req.Header) {
		if packed := a.gzip.Gzip(); packed != nil {
			content, tag = packed, `"`+a.version+`-gzip"`
			header["Content-Encoding"] = gzipEncoding
		}
	}
	header.Set("ETag", tag)
	if Matches(req.Header["If-None-Match"], tag) {
		delete(header, "Content-Encoding")
		req.W.WriteHeader(http.StatusNotModified)
		return nil
	}
	header.Set("Content-Length", strconv.Itoa(len(content)))
	req.W.WriteHeader(http.StatusOK)
	req.W.Write(content) // the client may have disconnected
	return nil
}

var gzipEncoding = []string{"gzip"}

// Matches reports whether If-None-Match names a tag (RFC 9110, section 13.1.2).
func Matches(lines []string, tag string) bool {
	for _, line := range lines {
		for known := range strings.SplitSeq(line, ",") {
			if known = strings.TrimSpace(known); known == "*" || strings.TrimPrefix(known, "W/") == tag {
				return true
			}
		}
	}
	return false
}
