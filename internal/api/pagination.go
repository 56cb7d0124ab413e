package api

import (
	"math"
	"net/url"
	"strconv"
	"strings"
)

// pagination is which page of a list is wanted.
type pagination struct {
	page, perPage int64
}

// offset is how many members come before the page; a page too far to count is
// past every end.
func (p pagination) offset() int64 {
	if p.page-1 > math.MaxInt64/p.perPage {
		return math.MaxInt64
	}
	return (p.page - 1) * p.perPage
}

// pages is how many pages a list of so many members has.
func (p pagination) pages(total int64) int64 {
	pages := total / p.perPage
	if total%p.perPage != 0 {
		pages++
	}
	return pages
}

// link is the Link header (RFC 8288): first, prev, next and last, as far as
// there are such pages.
func (p pagination) link(base string, query url.Values, total int64) string {
	last := p.pages(total)
	if last == 0 {
		return ""
	}
	var b strings.Builder
	kept := ""
	if len(query) > 0 {
		kept = query.Encode() + "&"
	}
	add := func(rel string, page int64) {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteByte('<')
		b.WriteString(base)
		b.WriteByte('?')
		b.WriteString(kept)
		b.WriteString("page=")
		b.WriteString(strconv.FormatInt(page, 10))
		b.WriteString("&per_page=")
		b.WriteString(strconv.FormatInt(p.perPage, 10))
		b.WriteString(`>; rel="`)
		b.WriteString(rel)
		b.WriteByte('"')
	}
	add("first", 1)
	if p.page > 1 {
		add("prev", min(p.page-1, last))
	}
	if p.page < last {
		add("next", p.page+1)
	}
	add("last", last)
	return b.String()
}
