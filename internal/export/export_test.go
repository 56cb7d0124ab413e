package export

import (
	"bytes"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
)

var formats = map[string]func(io.Writer, []string) (Writer, error){"csv": NewCSV, "xlsx": NewXLSX}

func TestTablesNeedColumns(t *testing.T) {
	for name, open := range formats {
		if w, err := open(io.Discard, nil); err == nil || w != nil {
			t.Errorf("%s: no columns: %v, %v", name, w, err)
		}
	}
}

// TestRefusedRows: a rejected row leaves no trace in the file.
func TestRefusedRows(t *testing.T) {
	for name, open := range formats {
		table := func(refused ...[]any) string {
			var out bytes.Buffer
			w, err := open(&out, []string{"a", "b"})
			if err != nil {
				t.Fatal(name, err)
			}
			for _, cells := range refused {
				if err := w.Row(cells); err == nil {
					t.Errorf("%s takes %v", name, cells)
				}
			}
			if err := errors.Join(w.Row([]any{"x", int64(1)}), w.Close()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return out.String()
		}
		want := table()
		if got := table([]any{}, []any{"x"}, []any{"x", "y", "z"}, []any{"x", 1}, []any{"x", []byte("y")}, []any{"x", new(string)}); got != want {
			t.Errorf("%s: refused rows show in the file", name)
		}
	}
}

func TestClosed(t *testing.T) {
	for name, open := range formats {
		var out bytes.Buffer
		w, err := open(&out, []string{"a"})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		size := out.Len()
		if w.Row([]any{"x"}) == nil || w.Close() == nil || out.Len() != size {
			t.Errorf("%s: a closed file was written to", name)
		}
	}
}

// limitedWriter fails after left bytes.
type limitedWriter struct{ left int }

var errDiskFull = errors.New("the disk is full")

func (b *limitedWriter) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errDiskFull
	}
	return len(p), nil
}

// TestFailures: Row and Close report a write error wherever it happens, and keep
// reporting it.
func TestFailures(t *testing.T) {
	rows := responses(4096)
	for name, open := range formats {
		for _, capacity := range []int{0, 100, 70_000, 150_000} {
			w, err := open(&limitedWriter{capacity}, responseHeader)
			for i := 0; err == nil && i < len(rows); i++ {
				err = w.Row(rows[i])
			}
			if w == nil {
				t.Fatalf("%s fails before the first write: %v", name, err)
			}
			if err != nil && !errors.Is(w.Row(rows[0]), errDiskFull) {
				t.Errorf("%s, capacity %d: Row succeeded after %v", name, capacity, err)
			}
			if err := w.Close(); !errors.Is(err, errDiskFull) {
				t.Errorf("%s, capacity %d: Close returned %v", name, capacity, err)
			}
		}
	}
}

// writeSizes records the size of each write.
type writeSizes struct{ sizes []int }

func (w *writeSizes) Write(p []byte) (int, error) {
	w.sizes = append(w.sizes, len(p))
	return len(p), nil
}

// TestWritesAreLarge: rows are written while they arrive, in blocks of at least flushAt
// bytes.
func TestWritesAreLarge(t *testing.T) {
	for name, open := range formats {
		var out writeSizes
		w, err := open(&out, responseHeader)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			for _, cells := range responses(1024) {
				if err := w.Row(cells); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if len(out.sizes) < 3 {
			t.Fatalf("%s: everything was written at the end: %v", name, out.sizes)
		}
		for _, size := range out.sizes[:len(out.sizes)-1] {
			if size < flushAt || size > 2*flushAt {
				t.Errorf("%s: %d bytes at once", name, size)
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0"}, {math.Copysign(0, -1), "0"}, {1, "1"}, {-1, "-1"}, {0.1, "0.1"}, {-2.5, "-2.5"}, {1e6, "1000000"},
		{0.000001, "0.000001"}, {1234567.875, "1234567.875"}, {1e15, "1000000000000000"}, {-999999999999999, "-999999999999999"},
		{1 << 53, "9007199254740992"}, {1e20, "100000000000000000000"}, {1e21, "1e+21"}, {1.5e-7, "1.5e-07"},
		{math.MaxFloat64, "1.7976931348623157e+308"}, {math.SmallestNonzeroFloat64, "5e-324"},
		{math.NaN(), ""}, {math.Inf(1), ""}, {math.Inf(-1), ""},
	} {
		if got := string(appendFloat(nil, c.v)); got != c.want {
			t.Errorf("%v is %q, not %q", c.v, got, c.want)
		}
	}
}

func TestTimes(t *testing.T) {
	zone := time.FixedZone("", 5*3600+1800)
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Date(2026, 1, 2, 3, 4, 5, 6_999_999, time.UTC), "2026-01-02T03:04:05.006Z"},
		{time.Date(2026, 1, 1, 1, 0, 0, 0, zone), "2025-12-31T19:30:00.000Z"},
		{time.Date(1969, 12, 31, 23, 59, 59, 999e6, time.UTC), "1969-12-31T23:59:59.999Z"},
		{time.Time{}, "0001-01-01T00:00:00.000Z"},
		{time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC), "9999-12-31T23:59:59.999Z"},
		{time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -3600)), ""},
		{time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), ""},
	} {
		if got := string(appendTime(nil, c.at)); got != c.want {
			t.Errorf("%v is %q, not %q", c.at, got, c.want)
		}
	}
}

func TestFormulaLike(t *testing.T) {
	for _, text := range []string{
		"=1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "=", "＝1", "＋1", "－1", "＠x",
		" =1", "\n=1", "\r\n=1", "  \t x", `"=1"`, "'=1", `"'" =1`, "\u00a0=1", "\u3000＝1", "\ufeff=1", "\u200b=1", "\x00=1", "\u0085=1", "“=1”",
	} {
		if !looksLikeFormula(text) {
			t.Errorf("%q is not recognized as a formula", text)
		}
	}
	for _, text := range []string{
		"", "x", "1-1", "a=1", "x\t=1", "'", `"`, "'tis", `"so"`, " x", "\n", "5 = 5", "é=1", "日本＝", "_=1", "\u2212", "(=1)", "ada@example.org", strings.Repeat(" ", 1000),
	} {
		if looksLikeFormula(text) {
			t.Errorf("%q is taken for a formula", text)
		}
	}
}

// TestMemory: live memory does not grow with the number of rows.
func TestMemory(t *testing.T) {
	rows := responses(1024)
	for name, open := range formats {
		heapAlloc := func() uint64 {
			runtime.GC()
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			return stats.HeapAlloc
		}
		w, err := open(io.Discard, responseHeader[:2])
		if err != nil {
			t.Fatal(err)
		}
		write := func(n int) {
			for i := range n {
				if err := w.Row(rows[i%len(rows)][:2]); err != nil {
					t.Fatal(err)
				}
			}
		}
		write(1000)
		before := heapAlloc()
		write(300_000)
		if after := heapAlloc(); after > before+2<<20 {
			t.Errorf("%s: heap grew by %d bytes after 300,000 rows", name, after-before)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRowsDoNotAllocate: writing a row allocates nothing.
func TestRowsDoNotAllocate(t *testing.T) {
	row := []any{"plain", `it "is", so`, "=1", "naïve，＝", "a & b_c", 1.25, int64(-7), true, nil, time.Unix(1_790_000_000, 0)}
	for name, open := range formats {
		w, err := open(io.Discard, make([]string, len(row)))
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(5000, func() { w.Row(row) }); n > 0 {
			t.Errorf("%s: %v allocations a row", name, n)
		}
	}
}
