package export

import (
	"math"
	"strconv"
	"time"
)

// appendFloat writes the shortest decimal that parses back to v. As in JavaScript, only
// numbers below 1e-6 or from 1e21 on have an exponent.
func appendFloat(b []byte, v float64) []byte {
	abs := math.Abs(v)
	switch {
	case abs < 1e15 && v == math.Trunc(v):
		return strconv.AppendInt(b, int64(v), 10)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return b
	case abs < 1e-6 || abs >= 1e21:
		return strconv.AppendFloat(b, v, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}

// appendTime writes t as RFC 3339 in UTC with milliseconds. It is hand-written because
// time.Format costs as much as all other cells of a row.
func appendTime(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if !hasFourDigits(year) {
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

// appendPair writes n, which is below 100, as two digits.
func appendPair(b []byte, n int) []byte { return append(b, '0'+byte(n/10), '0'+byte(n%10)) }

// hasFourDigits reports whether RFC 3339 can represent the year.
func hasFourDigits(year int) bool { return year >= 0 && year <= 9999 }
