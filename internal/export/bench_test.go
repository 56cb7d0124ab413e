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

// responses returns n typical rows: eight short cells each, all different so that they
// do not compress unrealistically well.
func responses(n int) [][]any {
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("very good thank you the queue was long, staff friendly; would come again maybe not room cold coffee fine")
	submittedAt := time.Date(2026, 9, 21, 14, 13, 20, 123e6, time.UTC)
	rows := make([][]any, n)
	for i := range rows {
		submittedAt = submittedAt.Add(time.Duration(random.IntN(1e12)))
		word1, word2 := words[random.IntN(len(words))], words[random.IntN(len(words))]
		rows[i] = []any{
			fmt.Sprintf("r_%011x", random.Uint64()>>20), submittedAt, word1 + " " + word2, fmt.Sprintf("%s.%d@example.org", word2, random.IntN(1000)),
			int64(random.IntN(5) + 1), float64(random.IntN(1000)) / 8, random.IntN(2) == 0, strings.Join([]string{word2, word1, word2}, " "),
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
