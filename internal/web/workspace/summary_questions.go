package workspace

import (
	"cmp"
	"html/template"
	"net/url"
	"slices"
	"sort"
	"strings"

	"formulary/internal/chart"
	"formulary/internal/form"
	"formulary/internal/store"
)

// questionSummary is a chart of the answers to one question, and its data.
type questionSummary struct {
	Label    string
	Kind     string
	Answered int64
	Average  *float64
	Sum      *float64
	Unit     string
	NPS      *int64
	Chart    template.HTML
	Parts    []partSummary // instead of Chart, one for each row of a matrix
	Rows     []countRow
	Ranking  bool
	Key      string
	Files    int64
	Size     string // of the files

	Compared       bool
	Open           bool   // the table is shown
	AnsweredBefore string // "12 before", or empty
	AverageBefore  string
	NPSBefore      string

	Texts  []textAnswer
	Search bool   // the texts can be searched
	Find   string // what was searched for
	More   string // address of all responses with it, if there are more than shown
}

type partSummary struct {
	Label string
	Chart template.HTML
}

type countRow struct {
	value           form.OptionCount
	Row, Label      string
	Link            string // to the responses with this answer, or empty
	Count, Before   int64
	Share           float64
	ShareBefore     float64
	AveragePosition float64
}

// maxBars is the largest number of values that are drawn as bars if columns would do.
const maxBars = 12

// summarize describes the answers to a question. before are those of the earlier period,
// or nil.
func (p *summaryPage) summarize(f *form.Field, stats, before *form.QuestionStats) questionSummary {
	traits := f.Traits()
	q := questionSummary{
		Label: cmp.Or(f.Label, f.Key), Kind: form.KindOf(f.Kind).Info().Title, Answered: stats.Answered, Ranking: traits.Ordered, Key: f.Key,
	}
	if before != nil {
		q.AnsweredBefore = p.T("%s before", p.Number(before.Answered))
	}
	if stats.Answered == 0 {
		return q
	}
	if traits.Summary.Averages() && stats.Sum != nil {
		average, sum := stats.Average(), stats.Sum.Div(1)
		if q.Average, q.Unit = &average, f.Unit; traits.Summary == form.Average {
			q.Sum = &sum
		}
		if before != nil && before.Sum != nil {
			q.AverageBefore = p.T("%s before", p.Decimal(before.Average()))
		}
	}
	if f.IsNPS() {
		nps := stats.NPS()
		if q.NPS = &nps; before != nil && before.Answered > 0 {
			q.NPSBefore = p.T("%s before", p.Number(before.NPS()))
		}
	}
	if traits.Files {
		q.Files, q.Size = stats.Files, strings.Replace(store.FormatBytes(stats.Bytes), ".", p.T("."), 1)
	}
	q.Rows = p.countRows(f, stats)
	if q.Compared = before != nil; q.Compared {
		addBefore(q.Rows, before)
	}
	p.addChart(&q, f, stats)
	q.Open = q.Compared && traits.Chart == form.Bars && len(q.Rows) <= maxBars
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
		row := countRow{value: c, Label: p.T(c.Label), Count: c.Count, Share: float64(c.Count) / float64(stats.Answered)}
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
			row.Link = p.linkToResponses(answerCondition(f, c.Row, c.Value))
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
		sort.SliceStable(q.Rows, func(i, j int) bool { return q.Rows[i].AveragePosition < q.Rows[j].AveragePosition })
	case f.IsNPS():
		promoters := stats.Counts["9"] + stats.Counts["10"]
		passives := stats.Counts["7"] + stats.Counts["8"]
		score := chart.Score{Value: float64(*q.NPS), Promoters: promoters, Passives: passives, Detractors: stats.Answered - promoters - passives}
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

// addBefore adds how often each option was chosen in the earlier period.
func addBefore(rows []countRow, before *form.QuestionStats) {
	for i := range rows {
		name := rows[i].value.Value
		if rows[i].value.Row != "" {
			name = rows[i].value.Row + "\t" + name
		}
		rows[i].Before = before.Counts[name]
		if before.Answered > 0 {
			rows[i].ShareBefore = float64(rows[i].Before) / float64(before.Answered)
		}
	}
}

// answerCondition is the condition that an answer has a value.
func answerCondition(f *form.Field, row, value string) store.Comparison {
	c := store.Comparison{Field: f.Key, Op: form.Equals, Value: value}
	if row != "" {
		c.Field += "." + row
	}
	return c
}

// linkToResponses is the address of the responses that are summarized and fit more
// conditions.
func (p *summaryPage) linkToResponses(conditions ...store.Comparison) string {
	query := url.Values{}
	for _, name := range keptParameters {
		query[name] = slices.Clone(p.query.kept[name])
	}
	for _, c := range conditions {
		if text := formatCondition(c); !slices.Contains(query["where"], text) {
			query.Add("where", text)
		}
	}
	return responsesAddress(p.Form.ID, query)
}
