package web

import (
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"formulary/internal/chart"
	"formulary/internal/form"
)

// summaryPage is what all responses amount to, drawn and as tables.
type summaryPage struct {
	formPage
	Responses int64
	Days      []dayCount
	Time      template.HTML
	Questions []questionSummary
	country   func(f *form.Field, code string) string
}

type dayCount struct {
	Date string // for programs
	Day  string
	N    int64
}

// questionSummary is a chart of the answers to one question, and its data.
type questionSummary struct {
	Label    string
	Kind     string
	Answered int64
	Average  *float64
	Sum      *float64
	Unit     string
	NPS      *float64
	Chart    template.HTML
	Parts    []partSummary // in its place, of what asks the same of several things
	Rows     []countRow
	Ranking  bool
	Newest   []latestAnswer
	Key      string
}

type partSummary struct {
	Label string
	Chart template.HTML
}

type countRow struct {
	Row, Label string
	Link       string // to who answered so; empty: there is no telling
	Count      int64
	Share      float64
	Place      float64
}

func (web *Handler) showSummary(v *pageRequest) error {
	f, err := web.Store.Form(v.ctx(), v.owner(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	s, err := web.Store.Summary(v.ctx(), v.owner(), f.ID)
	if err != nil {
		return err
	}
	versions, err := web.Store.Definitions(v.ctx(), v.owner(), f.ID)
	if err != nil {
		return err
	}
	p := &summaryPage{formPage: web.formPageOf(v, f, "summary"), Responses: s.Responses}
	p.viewer, p.words = web.viewerLanguage(v), web.languages.of(web.viewerLanguage(v))
	p.country = func(f *form.Field, code string) string { return web.countryName(v, f, code) }
	newest, err := web.latestAnswers(v, f.ID)
	if err != nil {
		return err
	}
	web.responsesOverTime(p, s)
	for _, field := range form.MergeQuestions(versions) {
		tally := s.Fields[field.ID]
		if tally == nil {
			tally = &form.QuestionStats{}
		}
		q := p.question(field, tally)
		q.Newest = newest[field.ID]
		p.Questions = append(p.Questions, q)
	}
	return web.render(v, http.StatusOK, "summary", p)
}

// responsesOverTime counts the days from the first response to the last, those without any
// too.
func (web *Handler) responsesOverTime(p *summaryPage, s *form.Summary) {
	days := slices.Sorted(maps.Keys(s.Days))
	if len(days) == 0 {
		return
	}
	day, err := time.Parse(time.DateOnly, days[0])
	if err != nil {
		return
	}
	const most = 20_000 // days that a chart can take
	var points []chart.Point
	for n := 0; n < most; n++ {
		text := day.Format(time.DateOnly)
		points = append(points, chart.Point{Label: p.Day(day), Value: float64(s.Days[text])})
		if s.Days[text] > 0 {
			p.Days = append(p.Days, dayCount{text, p.Date(day), s.Days[text]})
		}
		if text >= days[len(days)-1] {
			break
		}
		day = day.AddDate(0, 0, 1)
	}
	p.Time = template.HTML(chart.Columns(points, p.T("Responses by day"), p.Decimal))
}

// maxBars is how many values are drawn one below the other where columns are as good.
const maxBars = 12

func (p *summaryPage) question(f *form.Field, t *form.QuestionStats) questionSummary {
	traits := f.Traits()
	q := questionSummary{Label: f.Label, Kind: form.KindOf(f.Kind).About().Title, Answered: t.Answered, Ranking: traits.Ordered, Key: f.Key}
	if q.Label == "" {
		q.Label = f.Key
	}
	if t.Answered == 0 {
		return q
	}
	if traits.Summary.Averages() && t.Sum != nil {
		average, sum := t.Average(), t.Sum.Div(1)
		if q.Average, q.Unit = &average, f.Unit; traits.Summary == form.Average {
			q.Sum = &sum
		}
	}
	var rows []chart.Row
	var points []chart.Point
	for _, c := range form.OptionCounts(f, t) {
		row := countRow{Label: p.T(c.Label), Count: c.Count, Share: float64(c.Count) / float64(t.Answered)}
		if f.Options != nil && c.Value != form.OtherValue {
			row.Label = c.Label // as the owner wrote it
		}
		row.Label = p.country(f, row.Label)
		row.Row = c.Row // which may have been there in an earlier version only
		for _, r := range f.Rows {
			if r.Value == c.Row {
				row.Row = r.Label
			}
		}
		if q.Ranking {
			if c.Count == 0 {
				continue // nobody was asked for it yet
			}
			row.Place = t.AveragePosition(c.Value)
		}
		if c.Count > 0 && c.Value != form.OtherValue {
			row.Link = p.answeredSo(f, c)
		}
		q.Rows = append(q.Rows, row)
		rows = append(rows, chart.Row{Label: row.Label, Value: float64(row.Count), Share: row.Share})
		points = append(points, chart.Point{Label: row.Label, Value: float64(row.Count)})
	}
	switch {
	case q.Ranking:
		slices.SortStableFunc(q.Rows, func(a, b countRow) int { return int((a.Place - b.Place) * 1e6) })
	case f.IsNPS():
		nps := t.NPS()
		q.NPS = &nps
		promoters := t.Counts["9"] + t.Counts["10"]
		passives := t.Counts["7"] + t.Counts["8"]
		score := chart.Score{Value: nps, Promoters: promoters, Passives: passives, Detractors: t.Answered - promoters - passives}
		q.Chart = template.HTML(chart.NPS(score, p.T("Net Promoter Score"), p.Decimal, func(word string) string { return p.T(word) })) +
			template.HTML(chart.Histogram(points, q.Label, p.Decimal))
	case traits.Chart == form.Histogram:
		q.Chart = template.HTML(chart.Histogram(points, q.Label, p.Decimal))
	case traits.Chart == form.ColumnsIfMany && len(points) > maxBars:
		q.Chart, q.Rows = template.HTML(chart.Columns(points, q.Label, p.Decimal)), nil
	case f.Rows != nil:
		for from := 0; from < len(rows); {
			to := from + 1
			for to < len(rows) && q.Rows[to].Row == q.Rows[from].Row {
				to++
			}
			label := q.Rows[from].Row
			q.Parts = append(q.Parts, partSummary{label, template.HTML(chart.Bars(rows[from:to], label, p.Decimal))})
			from = to
		}
	case len(rows) > 0:
		q.Chart = template.HTML(chart.Bars(rows, q.Label, p.Decimal))
	}
	return q
}

// answeredSo is the table of those who gave an answer.
func (p *summaryPage) answeredSo(f *form.Field, c form.OptionCount) string {
	where := f.Key
	if c.Row != "" {
		where += "." + c.Row
	}
	return "/forms/" + p.Form.ID + "/responses?" + url.Values{"where": {where}, "is": {c.Value}}.Encode()
}
