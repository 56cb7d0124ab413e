package workspace

import (
	"cmp"
	"html/template"
	"maps"
	"math"
	"net/url"
	"slices"
	"time"

	"formulary/internal/chart"
	"formulary/internal/form"
)

// period is a number of days.
type period struct {
	since time.Time // first day; zero: from the first response
	days  int       // 0: not limited at both ends
}

// before returns the period of the same length before.
func (t period) before() (since, until time.Time) { return t.since.AddDate(0, 0, -t.days), t.since }

// periodLink leads to the summary of a period.
type periodLink struct {
	Text, Address string
	Current       bool
}

// comparePeriods is the comparison with the period before.
type comparePeriods struct {
	Text   string // the period before
	Add    string // address of the comparison, or empty
	Remove string // address without it, or empty
}

// On reports whether two periods are compared.
func (c *comparePeriods) On() bool { return c != nil && c.Remove != "" }

const defaultPeriod = "30" // days that are compared if no period was chosen

// readPeriod reads which days are summarized, and whether they are compared.
func (p *summaryPage) readPeriod(now time.Time) {
	year, month, today := now.In(p.zone).Date()
	until := time.Date(year, month, today+1, 0, 0, 0, 0, p.zone)
	if limit := p.query.filter.Until; !limit.IsZero() && limit.Before(until) {
		until = limit
	}
	if since := p.query.filter.Since; !since.IsZero() {
		p.period.since = since
		// Days with a change of the clock have 23 or 25 hours.
		if days := int(math.Round(until.Sub(since).Hours() / 24)); days > 0 && days <= maxDays {
			p.period.days = days
		}
	}
	with := func(change func(url.Values)) string { return p.query.with(p.Form.ID, change) }
	noTime := func(query url.Values) {
		for _, name := range []string{"days", "since", "until"} {
			query.Del(name)
		}
	}
	p.Periods = []periodLink{{p.T("All time"), with(func(query url.Values) { noTime(query); query.Del("compare") }), p.query.filter.Since.IsZero() && p.query.filter.Until.IsZero()}}
	for _, choice := range dayChoices()[1:] {
		p.Periods = append(p.Periods, periodLink{p.T(choice.Text), with(func(query url.Values) { noTime(query); query.Set("days", choice.Days) }), p.Kept.Get("days") == choice.Days})
	}
	switch {
	case p.period.days == 1:
		p.Compare = &comparePeriods{Text: p.T("the day before")}
	case p.period.days > 1:
		p.Compare = &comparePeriods{Text: p.T("the %d days before", p.period.days)}
	case p.query.filter.Since.IsZero() && p.query.filter.Until.IsZero():
		p.Compare = &comparePeriods{Text: p.T("the %d days before", 30), Add: with(func(query url.Values) { query.Set("days", defaultPeriod); query.Set("compare", "1") })}
		p.Kept.Del("compare")
		return
	default:
		p.Kept.Del("compare")
		return
	}
	if p.Kept.Get("compare") != "" {
		p.Compare.Remove = with(func(query url.Values) { query.Del("compare") })
	} else {
		p.Compare.Add = with(func(query url.Values) { query.Set("compare", "1") })
	}
}

// overTime is the number of responses by day.
type overTime struct {
	Chart template.HTML
	Rows  []dayCount // for the table
}

type dayCount struct {
	Date   string // for programs
	Day    string
	Count  int64
	Before int64 // on the same day of the earlier period
}

const maxChartDays = 20_000

// addDays adds the chart of all days of the period, or from the first response to the last,
// and the days with responses for the table.
func (p *summaryPage) addDays() {
	days := slices.Sorted(maps.Keys(p.now.Days))
	if len(days) == 0 && p.before == nil {
		return
	}
	var day time.Time
	last := ""
	if p.before != nil {
		year, month, first := p.period.since.Date()
		day = time.Date(year, month, first, 0, 0, 0, 0, time.UTC)
		last = day.AddDate(0, 0, p.period.days-1).Format(time.DateOnly)
	} else {
		var err error
		if day, err = time.Parse(time.DateOnly, days[0]); err != nil {
			return
		}
		last = days[len(days)-1]
	}
	var points, earlier []chart.Point
	for range maxChartDays {
		row := dayCount{Date: day.Format(time.DateOnly), Day: p.Date(day)}
		row.Count = p.now.Days[row.Date]
		points = append(points, chart.Point{Label: p.Day(day), Value: float64(row.Count)})
		if p.before != nil {
			other := day.AddDate(0, 0, -p.period.days)
			row.Before = p.before.Days[other.Format(time.DateOnly)]
			earlier = append(earlier, chart.Point{Label: p.Day(other), Value: float64(row.Before)})
		}
		if row.Count > 0 || row.Before > 0 {
			p.OverTime.Rows = append(p.OverTime.Rows, row)
		}
		if row.Date >= last {
			break
		}
		day = day.AddDate(0, 0, 1)
	}
	title := p.T("Responses by day")
	if p.before != nil {
		p.OverTime.Chart = template.HTML(chart.Lines(points, earlier, title, p.Decimal))
	} else {
		p.OverTime.Chart = template.HTML(chart.Columns(points, title, p.Decimal))
	}
}

// figure is a number that people look at first.
type figure struct {
	Label, Value string
	Change       string // compared with the earlier period, or empty
	Trend        string // up, down or empty
}

const maxFigures = 4

// HasPeriod reports whether the summary is of a known number of days.
func (p *summaryPage) HasPeriod() bool { return p.period.days > 0 }

// addFigures adds the numbers above the charts.
func (p *summaryPage) addFigures() {
	var daily figure
	if p.HasPeriod() {
		all := figure{Label: p.T("Responses"), Value: p.Number(p.Responses)}
		days := float64(p.period.days)
		daily = figure{Label: p.T("Responses a day"), Value: p.tenth(float64(p.Responses) / days)}
		if p.before != nil {
			all.Change, all.Trend = p.share(p.Responses, p.before.Responses)
			daily.Change, daily.Trend = p.change(float64(p.Responses)/days, float64(p.before.Responses)/days, p.tenth)
		}
		p.Figures = append(p.Figures, all)
	}
	if p.Figures = append(p.Figures, p.visitFigures()...); p.HasPeriod() && len(p.Figures) == 1 {
		p.Figures = append(p.Figures, daily)
	}
	for _, f := range p.query.fields {
		if stats := p.now.Fields[f.ID]; stats != nil && len(p.Figures) < maxFigures {
			p.addFigure(f, stats)
		}
	}
}

// addFigure adds the score or the average of a question.
func (p *summaryPage) addFigure(f *form.Field, stats *form.QuestionStats) {
	value := func(t *form.QuestionStats) float64 { return t.Average() }
	format, label := p.Decimal, cmp.Or(f.Label, f.Key)
	switch {
	case f.IsNPS():
		value = func(t *form.QuestionStats) float64 { return float64(t.NPS()) }
		label = "NPS · " + label
	case f.Traits().Summary != form.AverageAndOptions || stats.Sum == nil:
		return
	default:
		format, label = p.tenth, label+" · "+p.T("average")
	}
	out := figure{Label: label, Value: format(value(stats))}
	if p.before != nil {
		if before := p.before.Fields[f.ID]; before != nil {
			out.Change, out.Trend = p.change(value(stats), value(before), format)
		}
	}
	p.Figures = append(p.Figures, out)
}

// tenth formats a number with one decimal.
func (p *summaryPage) tenth(n float64) string { return p.Decimal(math.Round(n*10) / 10) }

// Whole formats a fraction of 1 as whole percent.
func (p *summaryPage) Whole(share float64) string { return p.Percent(math.Round(share*100) / 100) }

// change describes the difference of two numbers, as far as their format shows it.
func (p *summaryPage) change(now, before float64, format func(float64) string) (text, trend string) {
	switch difference := format(math.Abs(now - before)); {
	case difference == format(0):
		return p.T("as before"), ""
	case now > before:
		return p.T("%s more", difference), "up"
	default:
		return p.T("%s less", difference), "down"
	}
}

// share describes the difference of two counts in percent.
func (p *summaryPage) share(now, before int64) (text, trend string) {
	if before == 0 && now > 0 {
		return p.T("%s before", "0"), "up"
	}
	if now == before {
		return p.T("as before"), ""
	}
	percent := p.Whole(math.Abs(float64(now-before)) / float64(before))
	if now > before {
		return p.T("%s more", percent), "up"
	}
	return p.T("%s less", percent), "down"
}
