package export

import (
	"math"
	"strconv"
	"time"
)

// appendFloat writes the shortest decimal that reads back as v. As in
// JavaScript, only what is very large or very small has an exponent.
func appendFloat(b []byte, v float64) []byte {
	size := math.Abs(v)
	switch {
	case size < 1e15 && v == math.Trunc(v):
		return strconv.AppendInt(b, int64(v), 10)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return b
	case size < 1e-6 || size >= 1e21:
		return strconv.AppendFloat(b, v, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}

// appendTime writes a time as RFC 3339 has it, in UTC, to the millisecond. By
// hand, because a layout costs as much as all other cells of a row.
func appendTime(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if !isFinite(year) {
		return b
	}
	hour, minute, second := t.Clock()
	b = appendPair(b, year/100)
	b = appendPair(b, year%100)
	b = append(b, '-')
	b = appendPair(b, int(month))
	b = append(b, '-')
	b = appendPair(b, day)
	b = append(b, 'T')
	b = appendPair(b, hour)
	b = append(b, ':')
	b = appendPair(b, minute)
	b = append(b, ':')
	b = appendPair(b, second)
	milli := t.Nanosecond() / 1e6
	b = append(b, '.', '0'+byte(milli/100))
	b = appendPair(b, milli%100)
	return append(b, 'Z')
}

// appendPair writes a number as two digits.
func appendPair(b []byte, n int) []byte { return append(b, '0'+byte(n/10), '0'+byte(n%10)) }

// isFinite says whether four digits write a year.
func isFinite(year int) bool { return year >= 0 && year <= 9999 }
