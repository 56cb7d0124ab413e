package web

import (
	"bytes"
	"net/http"

	"formulary/internal/compress"
	"formulary/internal/store"
)

// firstPage is the first page of a form as most people see it, drawn once. What
// differs between two of them, the nonce, goes between the halves. The nonce is new in
// every answer and not compressed with anything, so that compression tells nothing
// about it.
type firstPage struct {
	policy []string // as a header has it
	page   compress.Split
}

// size is how many bytes it occupies at most.
func (b firstPage) size() int64 {
	size := b.page.Cost() + 512
	for _, text := range b.policy {
		size += int64(len(text))
	}
	return size
}

// maxFirstPages is how many bytes of such pages are kept.
const maxFirstPages = 8 << 20

// firstPageKey is under what the first page of a form is kept.
func firstPageKey(f store.PublicForm, query string) string {
	if query == "" {
		return f.ID
	}
	return f.ID + "?" + query
}

// renderFirstPage draws the first page for somebody who brings nothing along.
func (web *Handler) renderFirstPage(v *pageRequest, a *fillSession) (b firstPage, err error) {
	a.in.Set(keyControl, web.nonceHere)
	p, err := web.formPage(v, a, 0)
	if err != nil {
		return b, err
	}
	page, err := web.renderTemplate("public", p)
	if err != nil {
		return b, err
	}
	b.policy = []string{policy(p.frame())}
	head, tail, _ := bytes.Cut(page, []byte(web.nonceHere))
	b.page = compress.NewSplit(bytes.Clone(head), bytes.Clone(tail)) // without the room that the buffer had left
	return b, nil
}

// serveFirstPage shows the first page.
func (web *Handler) serveFirstPage(v *pageRequest, f store.PublicForm, b firstPage) error {
	frameable(v, f.Offer)
	v.w.Header()["Cache-Control"] = privateNoCacheHeader
	compress.Vary(v.w.Header())
	nonce := web.nonce(v.ctx(), f.ID)
	if v.r.Method == http.MethodGet && len(v.r.Header["Range"]) == 0 && compress.Accepted(v.r.Header) {
		if parts := b.page.Gzip(nonce); parts != nil {
			v.w.Header()["Content-Encoding"] = zipped
			web.send(v, http.StatusOK, b.policy, parts...)
			return nil
		}
	}
	web.send(v, http.StatusOK, b.policy, b.page.Head, nonce, b.page.Tail)
	return nil
}
