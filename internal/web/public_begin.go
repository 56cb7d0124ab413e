package web

import (
	"bytes"
	"net/http"

	"formulary/internal/compress"
	"formulary/internal/store"
)

// beginning is the first page of a form as most people see it, drawn once. What
// differs between two of them, the nonce, goes between the halves. The nonce is new in
// every answer and not compressed with anything, so that compression tells nothing
// about it.
type beginning struct {
	policy []string // as a header has it
	page   compress.Split
}

// size is how many bytes it occupies at most.
func (b beginning) size() int64 {
	size := b.page.Cost() + 512
	for _, text := range b.policy {
		size += int64(len(text))
	}
	return size
}

// maxBegun is how many bytes of such pages are kept.
const maxBegun = 8 << 20

// beginningOf is under what the first page of a form is kept.
func beginningOf(f store.PublicForm, query string) string {
	if query == "" {
		return f.ID
	}
	return f.ID + "?" + query
}

// drawBeginning draws the first page for somebody who brings nothing along.
func (web *Web) drawBeginning(v *visit, a *asking) (b beginning, err error) {
	a.in.Set(onceControl, web.nonceHere)
	p, err := web.formPage(v, a, 0)
	if err != nil {
		return b, err
	}
	page, err := web.draw("public", p)
	if err != nil {
		return b, err
	}
	b.policy = []string{policy(p.frame())}
	head, tail, _ := bytes.Cut(page, []byte(web.nonceHere))
	b.page = compress.KeepSplit(bytes.Clone(head), bytes.Clone(tail)) // without the room that the buffer had left
	return b, nil
}

// begin shows the first page.
func (web *Web) begin(v *visit, f store.PublicForm, b beginning) error {
	frameable(v, f.Offer)
	v.w.Header()["Cache-Control"] = forHistory
	compress.Vary(v.w.Header())
	nonce := web.nonce(v.ctx(), f.ID)
	if v.r.Method == http.MethodGet && len(v.r.Header["Range"]) == 0 && compress.Accepted(v.r.Header) {
		if parts := b.page.Packed(nonce); parts != nil {
			v.w.Header()["Content-Encoding"] = zipped
			web.send(v, http.StatusOK, b.policy, parts...)
			return nil
		}
	}
	web.send(v, http.StatusOK, b.policy, b.page.Head, nonce, b.page.Tail)
	return nil
}
