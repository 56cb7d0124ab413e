package web

import (
	"bytes"
	"net/http"

	"formulary/internal/store"
)

// beginning is the first page of a form as most people see it, drawn once. What
// differs between two of them, the nonce, goes between the halves.
type beginning struct {
	policy     []string // as a header has it
	head, tail []byte
}

// maxBegun is how many bytes of such pages are kept.
const maxBegun = 16 << 20

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
	b.head, b.tail, _ = bytes.Cut(page, []byte(web.nonceHere))
	return b, nil
}

// begin shows the first page.
func (web *Web) begin(v *visit, f store.PublicForm, b beginning) error {
	frameable(v, f.Offer)
	v.w.Header()["Cache-Control"] = forHistory
	web.send(v, http.StatusOK, b.policy, b.head, web.nonce(f.ID), b.tail)
	return nil
}
