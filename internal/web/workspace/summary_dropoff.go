package workspace

import (
	"cmp"
	"html/template"
	"math"
	"time"

	"formulary/internal/chart"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// dropOff shows how far visits of the form got.
type dropOff struct {
	store.DropOff
	Rows   []dropOffRow
	Chart  template.HTML
	before *store.DropOff // of the earlier period, or nil
}

type dropOffRow struct {
	Label   string
	Reached int64
	Share   float64
	Left    int64
	Last    bool // the response was stored
}

// completion is the share of visits that ended with a response.
func completion(d store.DropOff) float64 {
	if d.Opened == 0 {
		return 0
	}
	return min(1, float64(d.Finished)/float64(d.Opened))
}

// addDropOff reads the visits of the period. Visits have no answers and marks, so with other
// filters there is nothing to show.
func (pages *Pages) addDropOff(req *page.Request, p *summaryPage) error {
	filter := p.query.filter
	since, until := filter.Since, filter.Until
	filter.Since, filter.Until = time.Time{}, time.Time{}
	if p.wrong != nil || !filter.Empty() {
		return nil
	}
	read := func(since, until time.Time) (store.DropOff, error) {
		return pages.Store.DropOff(req.Context(), req.Owner(), p.Form.ID, inZone(since, p.zone), inZone(until, p.zone))
	}
	visits, err := read(since, until)
	if err != nil {
		return err
	}
	d := &dropOff{DropOff: visits}
	if p.Compare.On() {
		before, err := read(p.period.before())
		if err != nil {
			return err
		}
		d.before = &before
	}
	p.addScreens(d)
	p.DropOff = d
	return nil
}

// inZone moves a time to a time zone, whose date decides on the day.
func inZone(t time.Time, zone *time.Location) time.Time {
	if t.IsZero() {
		return t
	}
	return t.In(zone)
}

// addScreens adds the screens and the end, unless there is nothing about them.
func (p *summaryPage) addScreens(d *dropOff) {
	opened := d.Opened - d.OtherScreens
	if opened == 0 {
		return
	}
	finished := opened
	for i, screen := range d.Screens {
		row := dropOffRow{Reached: screen.Reached, Share: screen.Share, Left: screen.Left}
		switch {
		case len(d.Screens) == 1:
			row.Label = p.T("Opened|visits")
		case screen.Welcome:
			row.Label = p.T("Welcome page")
		case screen.Field != nil:
			row.Label = cmp.Or(screen.Field.Label, p.T("Page %d", i+1))
		default:
			row.Label = p.T("Page %d", i+1)
		}
		finished -= screen.Left
		d.Rows = append(d.Rows, row)
	}
	finished = max(0, finished)
	d.Rows = append(d.Rows, dropOffRow{Label: p.T("Submitted|visits"), Reached: finished, Share: float64(finished) / float64(opened), Last: true})
	bars := make([]chart.Row, len(d.Rows))
	for i, row := range d.Rows {
		bars[i] = chart.Row{Label: row.Label, Value: float64(row.Reached), Share: math.Round(row.Share*100) / 100}
	}
	d.Chart = template.HTML(chart.Bars(bars, p.T("Drop-off"), p.Decimal))
}

// visitFigures are the numbers about visits above the charts.
func (p *summaryPage) visitFigures() []figure {
	d := p.DropOff
	if d == nil || d.Opened == 0 {
		return nil
	}
	rate := figure{Label: p.T("Completion rate"), Value: p.Whole(completion(d.DropOff))}
	list := []figure{rate}
	if d.Median > 0 {
		list = append(list, figure{Label: p.T("Median time"), Value: p.duration(d.Median)})
	}
	if d.before == nil || d.before.Opened == 0 {
		return list
	}
	switch points := math.Round(100*completion(d.DropOff)) - math.Round(100*completion(*d.before)); {
	case points > 0:
		list[0].Change, list[0].Trend = p.T("%s points more", p.Decimal(points)), "up"
	case points < 0:
		list[0].Change, list[0].Trend = p.T("%s points less", p.Decimal(-points)), "down"
	default:
		list[0].Change = p.T("as before")
	}
	if d.Median > 0 && d.before.Median > 0 {
		// Whether more time is good depends on the form.
		list[1].Change, _ = p.change(d.Median.Seconds(), d.before.Median.Seconds(), func(seconds float64) string {
			return p.duration(time.Duration(seconds) * time.Second)
		})
	}
	return list
}

// duration formats how long something took.
func (p *summaryPage) duration(d time.Duration) string {
	seconds := int(d.Seconds())
	switch {
	case seconds < 60:
		return p.T("%d s", seconds)
	case seconds < 3600:
		return p.T("%d min %d s", seconds/60, seconds%60)
	}
	return p.T("%d h %d min", seconds/3600, seconds%3600/60)
}
