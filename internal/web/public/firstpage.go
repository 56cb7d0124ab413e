package public

import (
	"bytes"
	"net/http"

	"formulary/internal/compress"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// firstPage is the first page of a form as most respondents see it. It is rendered once;
// the nonce, which differs in each HTTP response, goes between the two halves. The nonce
// is not compressed together with anything, so that compression reveals nothing about it.
type firstPage struct {
	policy []string // value of the header
	page   compress.Split
}

// size is the number of bytes that the page occupies in the cache, at most.
func (f firstPage) size() int64 {
	size := f.page.Cost() + 512
	for _, text := range f.policy {
		size += int64(len(text))
	}
	return size
}

// maxFirstPages is the size of the cache in bytes.
const maxFirstPages = 8 << 20

func firstPageKey(f store.PublicForm, query string) string {
	if query == "" {
		return f.ID
	}
	return f.ID + "?" + query
}

func (pages *Pages) renderFirstPage(req *page.Request, s *fillSession) (first firstPage, err error) {
	s.values.Set(keyControl, pages.noncePlaceholder)
	p, err := pages.newFormPage(req, s, 0)
	if err != nil {
		return first, err
	}
	html, err := pages.templates.Execute("form", p)
	if err != nil {
		return first, err
	}
	first.policy = []string{page.Policy(p)}
	head, tail, _ := bytes.Cut(html, []byte(pages.noncePlaceholder))
	first.page = compress.NewSplit(bytes.Clone(head), bytes.Clone(tail)) // without the unused capacity of the buffer
	return first, nil
}

var gzipEncoding = []string{"gzip"}

func (pages *Pages) serveFirstPage(req *page.Request, f store.PublicForm, first firstPage) error {
	header := req.W.Header()
	allowFrames(req, f.Availability)
	header["Cache-Control"] = privateNoCache
	compress.Vary(header)
	nonce := pages.newNonce(req.Context(), f.ID)
	if req.Method == http.MethodGet && len(req.Header["Range"]) == 0 && compress.Accepted(req.Header) {
		if parts := first.page.Gzip(nonce); parts != nil {
			header["Content-Encoding"] = gzipEncoding
			req.SendHTML(http.StatusOK, first.policy, parts...)
			return nil
		}
	}
	req.SendHTML(http.StatusOK, first.policy, first.page.Head, nonce, first.page.Tail)
	return nil
}
