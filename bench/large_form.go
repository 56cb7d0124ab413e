package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"time"
)

const (
	fewResponses = 1_000 // of the smallest form
	fewRounds    = 8
	feedPage     = 100
	longFeedPage = 1_000
	listPage     = 20
	submissions  = 64 // that are not alike
)

// millionFigures is what was measured on one form with very many responses.
type millionFigures struct {
	responses    int
	storing      time.Duration
	feedStart    cost // cpu at many connections, p50 at few
	feedEnd      cost
	list         cost // page 1
	deepPage     int
	deep         cost
	csv          exportFigures // the middle one by time, with the largest peak
	xlsx, jsonl  exportFigures
	afterLoad    int64 // bytes in memory after all that reads
	firstSummary time.Duration
	summary      time.Duration
}

// engineFigures is what was measured on one engine alone. What was not asked for
// is nil.
type engineFigures struct {
	name    string
	million *millionFigures
	growth  *growthFigures
}

// alone measures what databases of several sizes cost on one engine, in fewer
// rounds: there is much to measure, and what grows grows much.
func (b *bench) alone(ctx context.Context, engine, folder string) (e engineFigures, err error) {
	defer func(rounds int) { b.rounds = rounds }(b.rounds)
	b.rounds = min(b.rounds, fewRounds)
	var surveys []*survey
	defer func() {
		for _, s := range surveys {
			err = errors.Join(err, s.close())
		}
	}()
	for _, n := range b.sizes() {
		fmt.Fprintf(b.progress, "%s: storing %s responses\n", engine, whole(float64(n)))
		s, err := newSurvey(ctx, engine, folder, n)
		if err != nil {
			return e, err
		}
		surveys = append(surveys, s)
		if b.wants("growth") {
			fmt.Fprintf(b.progress, "%s: and as many forms\n", engine)
			if err := s.addForms(ctx, n); err != nil {
				return e, fmt.Errorf("store forms: %w", err)
			}
		}
	}
	e.name = surveys[0].store.Engine()
	if b.wants("million") {
		largest := surveys[len(surveys)-1]
		e.million = &millionFigures{responses: largest.responses, storing: largest.storing}
		if err := b.reading(ctx, largest, &e); err != nil {
			return e, fmt.Errorf("million: %w", err)
		}
	}
	if b.wants("growth") {
		if e.growth, err = b.grow(ctx, surveys); err != nil {
			return e, fmt.Errorf("growth: %w", err)
		}
	}
	return e, nil
}

// survey is a database with one form that has been answered.
type survey struct {
	*world
	at        place
	responses int
	storing   time.Duration
	remove    func()
}

func newSurvey(ctx context.Context, engine, folder string, responses int) (*survey, error) {
	folder, err := os.MkdirTemp(folder, "survey-")
	if err != nil {
		return nil, err
	}
	s := &survey{responses: responses}
	if s.at, s.remove, err = newPlace(ctx, engine, folder); err != nil {
		return nil, err
	}
	if s.world, err = seed(ctx, s.at, (*world).fillSurvey); err != nil {
		s.remove()
		return nil, err
	}
	start := time.Now()
	if err := s.respond(ctx, responses); err != nil {
		return nil, fmt.Errorf("store responses: %w", errors.Join(err, s.close()))
	}
	s.storing = time.Since(start)
	return s, nil
}

func (s *survey) close() error {
	err := s.store.Close()
	s.remove()
	return err
}

// path is where the API has something of the form.
func (s *survey) path(rest string) string { return "/api/v1/forms/" + s.form + rest }

// reading measures all that reads the responses.
func (b *bench) reading(ctx context.Context, s *survey, e *engineFigures) error {
	service, admin, err := b.serve(ctx, s.at)
	if err != nil {
		return err
	}
	defer service.stop()
	list, err := s.exchange(ctx, service.addr, s.some, 1)
	if err != nil {
		return err
	}
	token := list[0].Access
	if err := b.summaries(ctx, s, service, token, e.million); err != nil {
		return fmt.Errorf("summary: %w", err)
	}
	// Before the load, so that its memory is not taken for that of the exports.
	if err := b.exports(ctx, s, service, token, e.million); err != nil {
		return err
	}
	if err := b.feeds(ctx, s, service, token, e.million); err != nil {
		return fmt.Errorf("feed: %w", err)
	}
	if err := b.lists(ctx, s, service, token, e.million); err != nil {
		return fmt.Errorf("list: %w", err)
	}
	if e.million.afterLoad, err = service.memory(); err != nil || admin == "" {
		return err
	}
	return b.profile(ctx, admin, e.name+"-export", func(length time.Duration) error {
		for start := time.Now(); time.Since(start) < length; {
			if err := download(ctx, service, s.path("/responses/export"), token, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// summaries comes before all else, while the first one is still the first.
func (b *bench) summaries(ctx context.Context, s *survey, service *process, token string, m *millionFigures) error {
	fmt.Fprintln(b.progress, "  Summary")
	request := get(s.path("/summary"), token)
	start := time.Now()
	a, err := ask(ctx, service.addr, request)
	if err != nil {
		return err
	}
	m.firstSummary = time.Since(start)
	var summary struct {
		Responses int `json:"responses"`
	}
	if err := json.Unmarshal(a.Body, &summary); err != nil {
		return err
	}
	if summary.Responses != s.responses {
		return fmt.Errorf("it is of %d responses, not of %d", summary.Responses, s.responses)
	}
	costs, err := b.inTurns(ctx, 1, errand{service, [][]byte{request}})
	if err != nil {
		return err
	}
	m.summary = costs[0].p50
	return nil
}

// feeds compares the first page of the feed with the last full one.
func (b *bench) feeds(ctx context.Context, s *survey, service *process, token string, m *millionFigures) error {
	fmt.Fprintln(b.progress, "  First and last page of the feed")
	cursors, err := s.walk(ctx, service.addr, token, s.responses-feedPage)
	if err != nil {
		return err
	}
	errands := []errand{{service, [][]byte{s.feed("", feedPage, token)}}, {service, [][]byte{s.feed(cursors[len(cursors)-1], feedPage, token)}}}
	busy, err := b.inTurns(ctx, throughput, errands...)
	if err != nil {
		return err
	}
	calm, err := b.inTurns(ctx, latency, errands...)
	if err != nil {
		return err
	}
	m.feedStart, m.feedEnd = cost{cpu: busy[0].cpu, p50: calm[0].p50}, cost{cpu: busy[1].cpu, p50: calm[1].p50}
	return nil
}

func (s *survey) feed(cursor string, limit int, token string) []byte {
	query := url.Values{"after": {cursor}, "limit": {fmt.Sprint(limit)}}
	return get(s.path("/responses?"+query.Encode()), token)
}

// walk reads so many responses of the feed, as an application does, and returns
// the cursors on its way: it is not for others to make them up. The first is that
// of the beginning, the last is that of the responses after those.
func (s *survey) walk(ctx context.Context, addr, token string, responses int) (cursors []string, err error) {
	cursors = []string{""}
	for responses > 0 {
		limit := min(responses, longFeedPage)
		a, err := ask(ctx, addr, s.feed(cursors[len(cursors)-1], limit, token))
		if err != nil {
			return nil, err
		}
		var page struct {
			Data []struct{} `json:"data"`
			Next string     `json:"next"`
		}
		if err := json.Unmarshal(a.Body, &page); err != nil {
			return nil, err
		}
		if len(page.Data) != limit {
			return nil, fmt.Errorf("%d responses, not %d", len(page.Data), limit)
		}
		responses -= limit
		cursors = append(cursors, page.Next)
	}
	return cursors, nil
}

// lists measures the first page of the list, and the one in its middle.
func (b *bench) lists(ctx context.Context, s *survey, service *process, token string, m *millionFigures) error {
	m.deepPage = s.responses / listPage / 2
	fmt.Fprintf(b.progress, "  Page 1 and page %s of the list\n", whole(float64(m.deepPage)))
	first := s.path(fmt.Sprintf("/responses?per_page=%d", listPage))
	costs, err := b.inTurns(ctx, throughput,
		errand{service, [][]byte{get(first, token)}},
		errand{service, [][]byte{get(fmt.Sprintf("%s&page=%d", first, m.deepPage), token)}})
	if err != nil {
		return err
	}
	m.list, m.deep = costs[0], costs[1]
	return nil
}

// exports reads every kind of file, the one that has targets several times.
func (b *bench) exports(ctx context.Context, s *survey, service *process, token string, m *millionFigures) error {
	fmt.Fprintln(b.progress, "  Exports")
	path, lines := s.path("/responses/export"), int64(s.responses)
	var rounds []exportFigures
	for range b.rounds {
		f, err := b.export(ctx, service, path, token, "csv", lines+1) // with the header
		if err != nil {
			return err
		}
		rounds = append(rounds, f)
	}
	m.csv = middle(rounds)
	var err error
	if m.xlsx, err = b.export(ctx, service, path, token, "xlsx", 0); err != nil {
		return err
	}
	m.jsonl, err = b.export(ctx, service, path, token, "jsonl", lines)
	return err
}

// middle is the round that took neither long nor short, with the largest memory
// of all.
func middle(rounds []exportFigures) exportFigures {
	sorted := slices.SortedFunc(slices.Values(rounds), func(a, b exportFigures) int { return int(a.took - b.took) })
	f := sorted[len(sorted)/2]
	f.rounds = span{f.took.Seconds(), sorted[0].took.Seconds(), sorted[len(sorted)-1].took.Seconds()}
	for _, round := range rounds {
		f.peak = max(f.peak, round.peak)
	}
	return f
}
