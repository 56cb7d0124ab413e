package export

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var responseHeader = []string{"id", "time", "name", "email", "rating", "score", "again", "remarks"}

// responses are rows as most are: eight short cells, no two rows alike, so that
// compression is not flattered.
func responses(n int) [][]any {
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("very good thank you the queue was long, staff friendly; would come again maybe not room cold coffee fine")
	at := time.Date(2026, 9, 21, 14, 13, 20, 123e6, time.UTC)
	rows := make([][]any, n)
	for i := range rows {
		at = at.Add(time.Duration(random.IntN(1e12)))
		one, two := words[random.IntN(len(words))], words[random.IntN(len(words))]
		rows[i] = []any{
			fmt.Sprintf("r_%011x", random.Uint64()>>20), at, one + " " + two, fmt.Sprintf("%s.%d@example.org", two, random.IntN(1000)),
			int64(random.IntN(5) + 1), float64(random.IntN(1000)) / 8, random.IntN(2) == 0, strings.Join([]string{two, one, two}, " "),
		}
	}
	return rows
}

func BenchmarkCSV(b *testing.B)  { benchmark(b, NewCSV) }
func BenchmarkXLSX(b *testing.B) { benchmark(b, NewXLSX) }

func benchmark(b *testing.B, open func(io.Writer, []string) (Writer, error)) {
	rows := responses(4096)
	w, err := open(io.Discard, responseHeader)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if err := w.Row(rows[i%len(rows)]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
