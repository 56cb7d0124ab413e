package api

import (
	"math"
	"net/url"
	"strconv"
	"strings"
)

// pagination selects a page of a list.
type pagination struct {
	page, perPage int64
}

// offset returns the number of members before the page. If it would overflow, the page
// is past every end.
func (p pagination) offset() int64 {
	if p.page-1 > math.MaxInt64/p.perPage {
		return math.MaxInt64
	}
	return (p.page - 1) * p.perPage
}

// pages returns the number of pages of a list with total members.
func (p pagination) pages(total int64) int64 {
	pages := total / p.perPage
	if total%p.perPage != 0 {
		pages++
	}
	return pages
}

// link returns the Link header (RFC 8288): first, prev, next and last, as far as these
// pages exist.
func (p pagination) link(base string, query url.Values, total int64) string {
	last := p.pages(total)
	if last == 0 {
		return ""
	}
	var b strings.Builder
	prefix := ""
	if len(query) > 0 {
		prefix = query.Encode() + "&"
	}
	add := func(rel string, page int64) {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteByte('<')
		b.WriteString(base)
		b.WriteByte('?')
		b.WriteString(prefix)
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
