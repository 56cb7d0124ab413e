package workspace

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// A page of a search starts behind a response, so a link to the page before needs to know
// where that one started. The address of a page has this trail, except for the first page.
type trail []string

// maxTrail limits the address. A list that goes back further starts from the first page.
const maxTrail = 40

func readTrail(text string) trail {
	if text = searchText(text); text == "" {
		return nil
	}
	list := trail(strings.Split(text, "."))
	return list[max(0, len(list)-maxTrail):]
}

func (t trail) String() string { return strings.Join(t, ".") }

// push adds where a page started.
func (t trail) push(start string) trail {
	list := append(t[:len(t):len(t)], start)
	return list[max(0, len(list)-maxTrail):]
}

// pop returns the trail of the page before, and where that page starts.
func (t trail) pop() (rest trail, start string) { return t[:len(t)-1], t[len(t)-1] }

// scanPart searches one part of the responses. The address of the next part says how many
// responses were shown and found so far.
func (pages *Pages) scanPart(req *page.Request, p *responsesPage, q *responseQuery) ([]form.Response, error) {
	query := req.URL.Query()
	number := func(name string, limit int64) int64 {
		n, err := strconv.ParseInt(query.Get(name), 10, 64)
		if err != nil || n < 0 || n > limit {
			return 0
		}
		return n
	}
	const many = 1 << 40
	trail := readTrail(query.Get("trail"))
	before, found, shown := number("before", many), number("found", many), number("shown", responsesPerPage)
	budget := scanBudget
	if query.Has("budget") { // smaller parts, for tests
		budget = time.Duration(number("budget", scanBudget.Milliseconds())) * time.Millisecond
	}
	part, err := pages.Store.ScanResponses(req.Context(), req.Owner(), p.Form.ID, q.filter,
		store.Scan{From: searchText(query.Get("from")), Rows: responsesPerPage - shown, Budget: budget})
	if err != nil {
		return nil, err
	}
	last := searchText(query.Get("last"))
	start := searchText(cmp.Or(query.Get("start"), query.Get("from"))) // of the page
	if n := len(part.Responses); n > 0 {
		last = part.Responses[n-1].ID
	}
	found += part.Matches
	shown += int64(len(part.Responses))
	p.Total, p.From, p.To = before+found, before+1, before+shown
	parts := func(values ...string) string {
		return q.with(p.Form.ID, func(query url.Values) {
			for i := 0; i < len(values); i += 2 {
				if values[i+1] != "" {
					query.Set(values[i], values[i+1])
				}
			}
			if budget != scanBudget {
				query.Set("budget", strconv.FormatInt(budget.Milliseconds(), 10))
			}
		})
	}
	text := func(n int64) string { return strconv.FormatInt(n, 10) }
	if part.Next != "" {
		p.Scan = &scanProgress{Percent: int(part.Done * 100), Next: parts("from", part.Next, "before", text(before), "found", text(found), "shown", text(shown), "last", last, "start", start, "trail", trail.String())}
	}
	first := q.with(p.Form.ID, func(url.Values) {})
	switch {
	case before == 0:
	case before == responsesPerPage:
		p.Prev = first
	case len(trail) == 0:
		p.First = first
	default:
		rest, previous := trail.pop()
		p.First, p.Prev = first, parts("from", previous, "before", text(before-responsesPerPage), "trail", rest.String())
	}
	if found > shown {
		next := trail
		if before > 0 {
			next = trail.push(start)
		}
		p.Next = parts("from", last, "before", text(before+shown), "trail", next.String())
	}
	return part.Responses, nil
}
