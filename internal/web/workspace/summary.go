package workspace

import (
	"cmp"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"formulary/internal/chart"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// summaryPage shows charts and totals of all responses.
type summaryPage struct {
	formLayout
	Responses int64
	Days      []dayCount
	OverTime  template.HTML
	Questions []questionSummary
	country   func(f *form.Field, code string) string
}

type dayCount struct {
	Date  string // for programs
	Day   string
	Count int64
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
	Parts    []partSummary // instead of Chart, one for each row of a matrix
	Rows     []countRow
	Ranking  bool
	Latest   []latestAnswer
	Key      string
	Files    int64
	Size     string // of the files
}

type partSummary struct {
	Label string
	Chart template.HTML
}

type countRow struct {
	Row, Label      string
	Link            string // to the responses with this answer, or empty
	Count           int64
	Share           float64
	AveragePosition float64
}

// ShowSummary shows the summary of all versions of a form.
func (pages *Pages) ShowSummary(req *page.Request) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	s, err := pages.Store.Summary(req.Context(), req.Owner(), f.ID)
	if err != nil {
		return err
	}
	versions, err := pages.Store.Definitions(req.Context(), req.Owner(), f.ID)
	if err != nil {
		return err
	}
	p := &summaryPage{formLayout: pages.newFormLayout(f, "summary"), Responses: s.Responses}
	p.Script = "live.js"
	pages.Site.SetLanguage(req, &p.Layout)
	p.country = func(f *form.Field, code string) string { return pages.countryName(req, f, code) }
	latest, err := pages.latestAnswers(req, f.ID)
	if err != nil {
		return err
	}
	p.addDays(s)
	for _, field := range form.MergeQuestions(versions) {
		stats := s.Fields[field.ID]
		if stats == nil {
			stats = &form.QuestionStats{}
		}
		q := p.summarize(field, stats)
		q.Latest = latest[field.ID]
		p.Questions = append(p.Questions, q)
	}
	return pages.templates.Render(req, http.StatusOK, "summary", p)
}

// addDays adds the chart of all days from the first response to the last, and the days
// with responses for the table. Days are in UTC.
func (p *summaryPage) addDays(s *form.Summary) {
	days := slices.Sorted(maps.Keys(s.Days))
	if len(days) == 0 {
		return
	}
	day, err := time.Parse(time.DateOnly, days[0])
	if err != nil {
		return
	}
	const maxDays = 20_000 // in the chart
	var points []chart.Point
	for n := 0; n < maxDays; n++ {
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
	p.OverTime = template.HTML(chart.Columns(points, p.T("Responses by day"), p.Decimal))
}

// maxBars is the largest number of values that are drawn as bars if columns would do.
const maxBars = 12

func (p *summaryPage) summarize(f *form.Field, stats *form.QuestionStats) questionSummary {
	traits := f.Traits()
	q := questionSummary{
		Label: cmp.Or(f.Label, f.Key), Kind: form.KindOf(f.Kind).Info().Title, Answered: stats.Answered, Ranking: traits.Ordered, Key: f.Key,
	}
	if stats.Answered == 0 {
		return q
	}
	if traits.Summary.Averages() && stats.Sum != nil {
		average, sum := stats.Average(), stats.Sum.Div(1)
		if q.Average, q.Unit = &average, f.Unit; traits.Summary == form.Average {
			q.Sum = &sum
		}
	}
	if traits.Files {
		q.Files, q.Size = stats.Files, strings.Replace(store.FormatBytes(stats.Bytes), ".", p.T("."), 1)
	}
	q.Rows = p.countRows(f, stats)
	p.addChart(&q, f, stats)
	return q
}

// countRows returns how often each option was chosen.
func (p *summaryPage) countRows(f *form.Field, stats *form.QuestionStats) []countRow {
	ranking := f.Traits().Ordered
	var rows []countRow
	for _, c := range form.OptionCounts(f, stats) {
		if ranking && c.Count == 0 {
			continue // no respondent has seen it yet
		}
		row := countRow{Label: p.T(c.Label), Count: c.Count, Share: float64(c.Count) / float64(stats.Answered)}
		if f.Options != nil && c.Value != form.OtherValue {
			row.Label = c.Label // as the owner wrote it
		}
		row.Label = p.country(f, row.Label)
		row.Row = c.Row // which may exist in an earlier version only
		for _, r := range f.Rows {
			if r.Value == c.Row {
				row.Row = r.Label
			}
		}
		if ranking {
			row.AveragePosition = stats.AveragePosition(c.Value)
		}
		if c.Count > 0 && c.Value != form.OtherValue {
			row.Link = p.linkToResponses(f, c)
		}
		rows = append(rows, row)
	}
	return rows
}

// addChart draws the counts in the way that suits the question type.
func (p *summaryPage) addChart(q *questionSummary, f *form.Field, stats *form.QuestionStats) {
	bars, points := make([]chart.Row, len(q.Rows)), make([]chart.Point, len(q.Rows))
	for i, row := range q.Rows {
		bars[i] = chart.Row{Label: row.Label, Value: float64(row.Count), Share: row.Share}
		points[i] = chart.Point{Label: row.Label, Value: float64(row.Count)}
	}
	switch traits := f.Traits(); {
	case q.Ranking:
		slices.SortStableFunc(q.Rows, func(a, b countRow) int { return int((a.AveragePosition - b.AveragePosition) * 1e6) })
	case f.IsNPS():
		nps := stats.NPS()
		q.NPS = &nps
		promoters := stats.Counts["9"] + stats.Counts["10"]
		passives := stats.Counts["7"] + stats.Counts["8"]
		score := chart.Score{Value: nps, Promoters: promoters, Passives: passives, Detractors: stats.Answered - promoters - passives}
		q.Chart = template.HTML(chart.NPS(score, p.T("Net Promoter Score"), p.Decimal, func(text string) string { return p.T(text) })) +
			template.HTML(chart.Histogram(points, q.Label, p.Decimal))
	case traits.Chart == form.Histogram:
		q.Chart = template.HTML(chart.Histogram(points, q.Label, p.Decimal))
	case traits.Chart == form.ColumnsIfMany && len(points) > maxBars:
		q.Chart, q.Rows = template.HTML(chart.Columns(points, q.Label, p.Decimal)), nil
	case f.Rows != nil:
		for from := 0; from < len(bars); {
			label := q.Rows[from].Row
			to := from + 1
			for to < len(bars) && q.Rows[to].Row == label {
				to++
			}
			q.Parts = append(q.Parts, partSummary{label, template.HTML(chart.Bars(bars[from:to], label, p.Decimal))})
			from = to
		}
	case len(bars) > 0:
		q.Chart = template.HTML(chart.Bars(bars, q.Label, p.Decimal))
	}
}

// linkToResponses is the address of the table of responses with an answer.
func (p *summaryPage) linkToResponses(f *form.Field, c form.OptionCount) string {
	where := f.Key
	if c.Row != "" {
		where += "." + c.Row
	}
	return "/forms/" + p.Form.ID + "/responses?" + url.Values{"where": {where}, "is": {c.Value}}.Encode()
}
