package form

import (
	"math"
	"slices"
	"time"
)

// ScreenID identifies a screen in all versions that have it: by its question if it shows one
// question, and otherwise by the page break that starts it. It is empty for the first page
// and for a screen without questions.
func (d *Definition) ScreenID(screen Page) string {
	if d.Design.Layout != OneAtATime {
		if screen.Break == nil {
			return ""
		}
		return screen.Break.ID
	}
	for _, f := range screen.Fields {
		if f.IsVisible() {
			return f.ID
		}
	}
	return ""
}

// FirstScreenID is the ID of the screen that respondents see first. It is quick, because
// every view of a form needs it.
func (d *Definition) FirstScreenID(description string) string {
	if d.Design.Layout != OneAtATime || description != "" {
		return ""
	}
	return d.ScreenID(Page{Fields: d.Fields})
}

// HasScreensOf reports whether both definitions have the same screens in the same order.
func (d *Definition) HasScreensOf(other *Definition) bool {
	return d == other || d.Design.Layout == other.Design.Layout &&
		slices.EqualFunc(d.Screens(), other.Screens(), func(a, b Page) bool { return d.ScreenID(a) == other.ScreenID(b) })
}

// FillTimes counts how long respondents took, in buckets: bucket n has the times from
// fillTimeGrowth^n seconds up to fillTimeGrowth^(n+1).
type FillTimes map[int]int64

const (
	fillTimeGrowth  = 1.1
	maxFillTime     = 7 * 24 * time.Hour
	fillTimeBuckets = 140 // 1.1^140 seconds are more than a week
)

// FillTimeBucket is the bucket of a time.
func FillTimeBucket(took time.Duration) int {
	seconds := min(took, maxFillTime).Seconds()
	if seconds < 1 {
		return 0
	}
	return int(math.Log(seconds) / math.Log(fillTimeGrowth))
}

// Median is the time that half of the respondents needed at most, or 0 if there are none. The
// error is less than 10 %, because only buckets are known.
func (t FillTimes) Median() time.Duration {
	var all int64
	for _, n := range t {
		all += n
	}
	if all == 0 {
		return 0
	}
	half, before := float64(all)/2, 0.0
	for bucket := range fillTimeBuckets {
		n := float64(t[bucket])
		if n > 0 && before+n >= half {
			seconds := math.Pow(fillTimeGrowth, float64(bucket)+(half-before)/n)
			return time.Duration(math.Round(seconds)) * time.Second
		}
		before += n
	}
	return maxFillTime
}
