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
	fewResponses = 1_000 // in the smallest form
	fewRounds    = 8
	feedPage     = 100
	longFeedPage = 1_000
	listPage     = 20
	submissions  = 64 // different ones
)

// millionFigures are the measurements on one form with very many responses.
type millionFigures struct {
	responses    int
	storing      time.Duration
	feedStart    cost // cpu with many connections, p50 with few
	feedEnd      cost
	list         cost // page 1
	deepPage     int
	deep         cost
	csv          exportFigures // median by time, with the highest peak
	xlsx, jsonl  exportFigures
	afterLoad    int64 // bytes after all reads
	firstSummary time.Duration
	summary      time.Duration
}

// engineFigures are the measurements on one engine. Parts that were not selected are
// nil.
type engineFigures struct {
	name    string
	million *millionFigures
	growth  *growthFigures
}

// measureEngine measures databases of several sizes on one engine. It uses at most
// fewRounds rounds, because there is much to measure and growth shows clearly.
func (b *bench) measureEngine(ctx context.Context, engine, folder string) (e engineFigures, err error) {
	defer func(rounds int) { b.rounds = rounds }(b.rounds)
	b.rounds = min(b.rounds, fewRounds)
	var surveys []*survey
	defer func() {
		for _, s := range surveys {
			err = errors.Join(err, s.close())
		}
	}()
	for _, n := range b.sizes() {
		fmt.Fprintf(b.progress, "%s: storing %s responses\n", engine, formatInt(float64(n)))
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
		if err := b.measureReads(ctx, largest, &e); err != nil {
			return e, fmt.Errorf("million: %w", err)
		}
	}
	if b.wants("growth") {
		if e.growth, err = b.measureGrowth(ctx, surveys); err != nil {
			return e, fmt.Errorf("growth: %w", err)
		}
	}
	return e, nil
}

// survey is a database with one form and its responses.
type survey struct {
	*dataset
	location  location
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
	if s.location, s.remove, err = newLocation(ctx, engine, folder); err != nil {
		return nil, err
	}
	if s.dataset, err = seed(ctx, s.location, (*dataset).fillSurvey); err != nil {
		s.remove()
		return nil, err
	}
	start := time.Now()
	if err := s.addResponses(ctx, responses); err != nil {
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

// path returns an API path of the form.
func (s *survey) path(suffix string) string { return "/api/v1/forms/" + s.form + suffix }

// measureReads measures everything that reads responses.
func (b *bench) measureReads(ctx context.Context, s *survey, e *engineFigures) error {
	service, admin, err := b.serve(ctx, s.location)
	if err != nil {
		return err
	}
	defer service.stop()
	list, err := s.exchange(ctx, service.addr, s.smallOwner, 1)
	if err != nil {
		return err
	}
	token := list[0].Access
	if err := b.measureSummary(ctx, s, service, token, e.million); err != nil {
		return fmt.Errorf("summary: %w", err)
	}
	// Exports come before the load, whose memory would otherwise be attributed to them.
	if err := b.measureExports(ctx, s, service, token, e.million); err != nil {
		return err
	}
	if err := b.measureFeed(ctx, s, service, token, e.million); err != nil {
		return fmt.Errorf("feed: %w", err)
	}
	if err := b.measureList(ctx, s, service, token, e.million); err != nil {
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

// measureSummary must run first, because the first summary is measured separately.
func (b *bench) measureSummary(ctx context.Context, s *survey, service *process, token string, m *millionFigures) error {
	fmt.Fprintln(b.progress, "  Summary")
	request := get(s.path("/summary"), token)
	start := time.Now()
	a, err := fetch(ctx, service.addr, request)
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
	costs, err := b.measureInterleaved(ctx, 1, requestSet{service, [][]byte{request}})
	if err != nil {
		return err
	}
	m.summary = costs[0].p50
	return nil
}

// measureFeed compares the first page of the feed with the last full one.
func (b *bench) measureFeed(ctx context.Context, s *survey, service *process, token string, m *millionFigures) error {
	fmt.Fprintln(b.progress, "  First and last page of the feed")
	cursors, err := s.walkFeed(ctx, service.addr, token, s.responses-feedPage)
	if err != nil {
		return err
	}
	requestSets := []requestSet{{service, [][]byte{s.feedRequest("", feedPage, token)}}, {service, [][]byte{s.feedRequest(cursors[len(cursors)-1], feedPage, token)}}}
	manyConns, err := b.measureInterleaved(ctx, throughput, requestSets...)
	if err != nil {
		return err
	}
	fewConns, err := b.measureInterleaved(ctx, latency, requestSets...)
	if err != nil {
		return err
	}
	m.feedStart, m.feedEnd = cost{cpu: manyConns[0].cpu, p50: fewConns[0].p50}, cost{cpu: manyConns[1].cpu, p50: fewConns[1].p50}
	return nil
}

func (s *survey) feedRequest(cursor string, limit int, token string) []byte {
	query := url.Values{"after": {cursor}, "limit": {fmt.Sprint(limit)}}
	return get(s.path("/responses?"+query.Encode()), token)
}

// walkFeed reads the given number of responses from the feed, as an application does,
// and returns the cursors: the first is empty, the last points behind the responses
// read. Cursors are opaque, so the benchmark cannot compute them.
func (s *survey) walkFeed(ctx context.Context, addr, token string, responses int) (cursors []string, err error) {
	cursors = []string{""}
	for responses > 0 {
		limit := min(responses, longFeedPage)
		a, err := fetch(ctx, addr, s.feedRequest(cursors[len(cursors)-1], limit, token))
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

// measureList measures the first and a middle page of the list.
func (b *bench) measureList(ctx context.Context, s *survey, service *process, token string, m *millionFigures) error {
	m.deepPage = s.responses / listPage / 2
	fmt.Fprintf(b.progress, "  Page 1 and page %s of the list\n", formatInt(float64(m.deepPage)))
	first := s.path(fmt.Sprintf("/responses?per_page=%d", listPage))
	costs, err := b.measureInterleaved(ctx, throughput,
		requestSet{service, [][]byte{get(first, token)}},
		requestSet{service, [][]byte{get(fmt.Sprintf("%s&page=%d", first, m.deepPage), token)}})
	if err != nil {
		return err
	}
	m.list, m.deep = costs[0], costs[1]
	return nil
}

// measureExports reads every file format, the one with targets several times.
func (b *bench) measureExports(ctx context.Context, s *survey, service *process, token string, m *millionFigures) error {
	fmt.Fprintln(b.progress, "  Exports")
	path, lines := s.path("/responses/export"), int64(s.responses)
	var rounds []exportFigures
	for range b.rounds {
		f, err := b.export(ctx, service, exportRequest{path, token, "csv", lines + 1}) // with the header
		if err != nil {
			return err
		}
		rounds = append(rounds, f)
	}
	m.csv = medianExport(rounds)
	var err error
	if m.xlsx, err = b.export(ctx, service, exportRequest{path, token, "xlsx", 0}); err != nil {
		return err
	}
	m.jsonl, err = b.export(ctx, service, exportRequest{path, token, "jsonl", lines})
	return err
}

// medianExport returns the round with the median time and the highest peak of all.
func medianExport(rounds []exportFigures) exportFigures {
	sorted := slices.SortedFunc(slices.Values(rounds), func(a, b exportFigures) int { return int(a.took - b.took) })
	f := sorted[len(sorted)/2]
	f.rounds = span{f.took.Seconds(), sorted[0].took.Seconds(), sorted[len(sorted)-1].took.Seconds()}
	for _, round := range rounds {
		f.peak = max(f.peak, round.peak)
	}
	return f
}
