package main

import (
	"context"
	"fmt"
	"slices"
)

// growthFigures is what requests cost in databases of several sizes: each has so
// many forms of one person, and as many responses to one form of another.
type growthFigures struct {
	sizes []int
	lines []growthLine
}

// growthLine is one kind of request, with its cost for each size.
type growthLine struct {
	title string
	why   string // it may grow
	costs []cost
}

// ratio is the cost in the largest database to that in the smallest.
func (l growthLine) ratio() float64 { return l.costs[len(l.costs)-1].cpu / l.costs[0].cpu }

// sizes are powers of ten, up to what -responses says.
func (b *bench) sizes() []int {
	var sizes []int
	for n := fewResponses; n < b.responses && b.wants("growth"); n *= 10 {
		sizes = append(sizes, n)
	}
	return append(sizes, b.responses)
}

// places is how many places of a long list are asked for in turns.
const places = 256

// spread are that many numbers from 0 up to n, with even steps between them.
func spread(n int) []int {
	list := make([]int, min(n, places))
	for i := range list {
		list[i] = i * n / len(list)
	}
	return list
}

// growing is a kind of request, for a database and the tokens of its two people.
type growing struct {
	title, why string
	requests   func(ctx context.Context, s *survey, service *process, forms, responses string) ([][]byte, error)
}

// growings has reading first: writing leaves more than there was.
var growings = []growing{
	{"List forms, page 1", "", func(_ context.Context, _ *survey, _ *process, forms, _ string) ([][]byte, error) {
		return [][]byte{get("/api/v1/forms?per_page=20", forms)}, nil
	}},
	{"List forms, any page", "the first pages are read at once, while those far down a long list are found first, by a few rows of counts; all pages of a small list are in memory besides",
		func(_ context.Context, s *survey, _ *process, forms, _ string) ([][]byte, error) {
			return anyPage("/api/v1/forms", s.responses, forms), nil
		}},
	{"Show a form", "", func(_ context.Context, s *survey, _ *process, _, _ string) ([][]byte, error) {
		return [][]byte{get(s.public(), "")}, nil
	}},
	{"List responses, any page", "pages far down a long list are found first, by a few rows of counts", func(_ context.Context, s *survey, _ *process, _, responses string) ([][]byte, error) {
		return anyPage(s.path("/responses"), s.responses, responses), nil
	}},
	{"Feed, any page", "", func(ctx context.Context, s *survey, service *process, _, responses string) ([][]byte, error) {
		cursors, err := s.walk(ctx, service.addr, responses, s.responses-feedPage)
		if err != nil {
			return nil, err
		}
		var requests [][]byte
		for _, i := range spread(len(cursors)) {
			requests = append(requests, s.feed(cursors[i], feedPage, responses))
		}
		return requests, nil
	}},
	{"Create a form", "", func(_ context.Context, _ *survey, _ *process, forms, _ string) ([][]byte, error) {
		const text = `{"title": "Order", "description": "What would you like?", "language": "en"}`
		return [][]byte{withToken(postJSON("/api/v1/forms", text), forms)}, nil
	}},
	{"Submit a response", "", func(_ context.Context, s *survey, _ *process, _, _ string) ([][]byte, error) {
		return s.surveySubmissions(submissions)
	}},
}

// anyPage asks for pages all over a list.
func anyPage(path string, length int, token string) [][]byte {
	var requests [][]byte
	for _, page := range spread(length / listPage) {
		requests = append(requests, get(fmt.Sprintf("%s?per_page=%d&page=%d", path, listPage, page+1), token))
	}
	return requests
}

// grow measures every kind of request in all databases, in turns.
func (b *bench) grow(ctx context.Context, surveys []*survey) (*growthFigures, error) {
	g := &growthFigures{sizes: b.sizes()}
	services := make([]*process, len(surveys))
	tokens := make([][2]string, len(surveys))
	for i, s := range surveys {
		var err error
		if services[i], _, err = startFormulary(ctx, b.binary, s.at, ""); err != nil {
			return nil, err
		}
		defer services[i].stop()
		forms, err := s.exchange(ctx, services[i].addr, s.many, 1)
		if err != nil {
			return nil, err
		}
		responses, err := s.exchange(ctx, services[i].addr, s.some, 1)
		if err != nil {
			return nil, err
		}
		tokens[i] = [2]string{forms[0].Access, responses[0].Access}
	}
	for _, kind := range growings {
		fmt.Fprintf(b.progress, "  %s, in databases of %d sizes\n", kind.title, len(surveys))
		var errands []errand
		for i, s := range surveys {
			requests, err := kind.requests(ctx, s, services[i], tokens[i][0], tokens[i][1])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", kind.title, err)
			}
			errands = append(errands, errand{services[i], requests})
		}
		costs, err := b.inTurns(ctx, throughput, errands...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.title, err)
		}
		g.lines = append(g.lines, growthLine{kind.title, kind.why, slices.Clone(costs)})
	}
	return g, nil
}
