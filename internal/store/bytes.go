package store

import "strconv"

// FormatBytes formats a number of bytes for display, such as 10 GB.
func FormatBytes(n int64) string {
	const units = "kMGT"
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	value, unit := float64(n), -1
	for value >= 1000 && unit < len(units)-1 {
		value, unit = value/1000, unit+1
	}
	digits := 1
	if value >= 100 || value == float64(int64(value)) {
		digits = 0
	}
	return strconv.FormatFloat(value, 'f', digits, 64) + " " + units[unit:unit+1] + "B"
}
