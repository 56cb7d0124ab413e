package main

import (
	"context"
	"fmt"
	"slices"
)

// growthFigures is the cost of requests in databases of several sizes: each has that
// many forms of one user, and as many responses to one form of another.
type growthFigures struct {
	sizes []int
	lines []growthLine
}

// growthLine is one kind of request, with its cost for each size.
type growthLine struct {
	title string
	why   string // why the cost may grow
	costs []cost
}

// ratio returns the cost in the largest database divided by that in the smallest.
func (l growthLine) ratio() float64 { return l.costs[len(l.costs)-1].cpu / l.costs[0].cpu }

// sizes returns powers of ten up to -responses.
func (b *bench) sizes() []int {
	var sizes []int
	for n := fewResponses; n < b.responses && b.wants("growth"); n *= 10 {
		sizes = append(sizes, n)
	}
	return append(sizes, b.responses)
}

// sampledPages is how many pages of a long list are requested in turn.
const sampledPages = 256

// evenlySpaced returns up to sampledPages numbers from 0 to n-1 at equal distances.
func evenlySpaced(n int) []int {
	list := make([]int, min(n, sampledPages))
	for i := range list {
		list[i] = i * n / len(list)
	}
	return list
}

// growthRequest is a kind of request. forms and responses are the access tokens of the
// two users.
type growthRequest struct {
	title, why string
	requests   func(ctx context.Context, s *survey, service *process, forms, responses string) ([][]byte, error)
}

// growthRequests lists reads first, because writes change the size of the database.
var growthRequests = []growthRequest{
	{"List forms, page 1", "", func(_ context.Context, _ *survey, _ *process, forms, _ string) ([][]byte, error) {
		return [][]byte{get("/api/v1/forms?per_page=20", forms)}, nil
	}},
	{"List forms, any page", "pages deep in a long list are located first, by reading a few rows of counts; all pages of a small list are cached",
		func(_ context.Context, s *survey, _ *process, forms, _ string) ([][]byte, error) {
			return anyPage("/api/v1/forms", s.responses, forms), nil
		}},
	{"Show a form", "", func(_ context.Context, s *survey, _ *process, _, _ string) ([][]byte, error) {
		return [][]byte{get(s.public(), "")}, nil
	}},
	{"List responses, any page", "pages deep in a long list are located first, by reading a few rows of counts", func(_ context.Context, s *survey, _ *process, _, responses string) ([][]byte, error) {
		return anyPage(s.path("/responses"), s.responses, responses), nil
	}},
	{"Feed, any page", "", func(ctx context.Context, s *survey, service *process, _, responses string) ([][]byte, error) {
		cursors, err := s.walkFeed(ctx, service.addr, responses, s.responses-feedPage)
		if err != nil {
			return nil, err
		}
		var requests [][]byte
		for _, i := range evenlySpaced(len(cursors)) {
			requests = append(requests, s.feedRequest(cursors[i], feedPage, responses))
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

// anyPage returns requests for pages all over a list.
func anyPage(path string, length int, token string) [][]byte {
	var requests [][]byte
	for _, page := range evenlySpaced(length / listPage) {
		requests = append(requests, get(fmt.Sprintf("%s?per_page=%d&page=%d", path, listPage, page+1), token))
	}
	return requests
}

// measureGrowth measures every kind of request in all databases, in turn.
func (b *bench) measureGrowth(ctx context.Context, surveys []*survey) (*growthFigures, error) {
	g := &growthFigures{sizes: b.sizes()}
	services := make([]*process, len(surveys))
	tokens := make([][2]string, len(surveys))
	for i, s := range surveys {
		var err error
		if services[i], _, err = startFormulary(ctx, b.binary, s.location, ""); err != nil {
			return nil, err
		}
		defer services[i].stop()
		forms, err := s.exchange(ctx, services[i].addr, s.largeOwner, 1)
		if err != nil {
			return nil, err
		}
		responses, err := s.exchange(ctx, services[i].addr, s.smallOwner, 1)
		if err != nil {
			return nil, err
		}
		tokens[i] = [2]string{forms[0].Access, responses[0].Access}
	}
	for _, kind := range growthRequests {
		fmt.Fprintf(b.progress, "  %s, in databases of %d sizes\n", kind.title, len(surveys))
		var requestSets []requestSet
		for i, s := range surveys {
			requests, err := kind.requests(ctx, s, services[i], tokens[i][0], tokens[i][1])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", kind.title, err)
			}
			requestSets = append(requestSets, requestSet{services[i], requests})
		}
		costs, err := b.measureInterleaved(ctx, throughput, requestSets...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.title, err)
		}
		g.lines = append(g.lines, growthLine{kind.title, kind.why, slices.Clone(costs)})
	}
	return g, nil
}
