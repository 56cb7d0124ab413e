package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteSize is a number of bytes in a setting, such as 500MB or 10GB.
type byteSize int64

// UnmarshalText reads a whole number of bytes, kB, MB, GB or TB, or of KiB, MiB or GiB.
func (b *byteSize) UnmarshalText(text []byte) error {
	number, unit := strings.ToUpper(strings.ReplaceAll(string(text), " ", "")), int64(1)
	for i, suffix := range []string{"KB", "MB", "GB", "TB"} {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = rest, int64(math.Pow10(3*(i+1)))
		}
	}
	for i, suffix := range []string{"KIB", "MIB", "GIB"} {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = rest, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return fmt.Errorf("%q is not a size; use a number of bytes or one such as 500MB or 10GB", text)
	}
	*b = byteSize(n * unit)
	return nil
}
