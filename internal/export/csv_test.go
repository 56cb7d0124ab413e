package export

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// unguard decodes a text cell as NewCSV documents.
func unguard(text string) string { return strings.TrimPrefix(text, "'") }

func csvOf(t testing.TB, header []string, rows ...[]any) string {
	t.Helper()
	var out bytes.Buffer
	w, err := NewCSV(&out, header)
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range rows {
		if err := w.Row(cells); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCSVFields(t *testing.T) {
	for _, c := range []struct {
		cell any
		want string
	}{
		{nil, ``}, {"", ``}, {"x", `x`}, {" two words ", ` two words `}, {"naïve 日本", `naïve 日本`}, {"it's", `it's`},
		{"a,b", `"a,b"`}, {"a;b", `"a;b"`}, {"a\tb", "\"a\tb\""}, {`say "x"`, `"say ""x"""`}, {`"`, `""""`}, {"a\nb", "\"a\nb\""}, {"a\r\nb", "\"a\r\nb\""},
		{"=1+1", `'=1+1`}, {"-1", `'-1`}, {"+49 30", `'+49 30`}, {"@x", `'@x`}, {"＝1", `'＝1`}, {" =1", `' =1`}, {"\tx", "\"'\tx\""},
		{`"=1"`, `"'""=1"""`}, {"=1,2", `"'=1,2"`}, {"'=1", `''=1`}, {"'tis", `''tis`}, {"'", `''`},
		{"\xff", "\ufffd"}, {"a\xc3\x28\xe2\x82,", "\"a\ufffd(\ufffd\ufffd,\""}, {"\x00=1", "'\x00=1"}, {"a\x00b", "a\x00b"},
		{-1.5, `-1.5`}, {int64(-12), `-12`}, {int64(math.MinInt64), `-9223372036854775808`}, {math.Inf(1), ``},
		{true, `true`}, {false, `false`},
		{time.UnixMilli(1_790_000_000_123), `2026-09-21T14:13:20.123Z`},
	} {
		want := "h,last\r\n" + c.want + ",x\r\n"
		if got := csvOf(t, []string{"h", "last"}, []any{c.cell, "x"}); got != want {
			t.Errorf("%#v: %q, not %q", c.cell, got, want)
		}
	}
}

func TestCSVHeaderIsGuarded(t *testing.T) {
	if got, want := csvOf(t, []string{"=1", "a,b", "'"}), "'=1,\"a,b\",''\r\n"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// TestCSVSingleColumn: an empty cell that is alone in its row is written as "", because
// many readers skip empty lines.
func TestCSVSingleColumn(t *testing.T) {
	if got, want := csvOf(t, []string{""}, []any{nil}, []any{""}, []any{math.NaN()}, []any{"x"}), "\"\"\r\n\"\"\r\n\"\"\r\n\"\"\r\nx\r\n"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// readCSV is a strict RFC 4180 reader. Unlike encoding/csv it does not change line
// breaks inside quotes.
func readCSV(text string) (rows [][]string, err error) {
	for text != "" {
		var row []string
		for {
			var field string
			if rest, isQuoted := strings.CutPrefix(text, `"`); isQuoted {
				text = rest
				for {
					part, rest, ok := strings.Cut(text, `"`)
					if !ok {
						return nil, fmt.Errorf("row %d: a quote is open", len(rows)+1)
					}
					field, text = field+part, rest
					if !strings.HasPrefix(text, `"`) {
						break
					}
					field, text = field+`"`, text[1:]
				}
			} else {
				end := strings.IndexAny(text, ",\r\n\"")
				if end < 0 {
					return nil, fmt.Errorf("row %d does not end", len(rows)+1)
				}
				field, text = text[:end], text[end:]
			}
			row = append(row, field)
			rest, more := strings.CutPrefix(text, ",")
			if text = rest; !more {
				break
			}
		}
		rest, ok := strings.CutPrefix(text, "\r\n")
		if !ok {
			return nil, fmt.Errorf("row %d goes on with %q", len(rows)+1, text[:min(len(text), 10)])
		}
		text = rest
		rows = append(rows, row)
	}
	return rows, nil
}

// fatal is the part of *testing.T and *rapid.T that the checks need.
type fatal interface{ Fatalf(string, ...any) }

// checkCSV writes a table, reads it with readCSV and encoding/csv, and compares the
// cells.
func checkCSV(t fatal, header []string, rows ...[]any) {
	var out bytes.Buffer
	w, err := NewCSV(&out, header)
	if err != nil {
		t.Fatalf("%v", err)
	}
	table := [][]any{make([]any, len(header))}
	for i, name := range header {
		table[0][i] = name
	}
	table = append(table, rows...)
	for _, cells := range rows {
		if err := w.Row(cells); err != nil {
			t.Fatalf("%v", err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatalf("%v", err)
	}
	strictRows, err := readCSV(out.String())
	if err != nil {
		t.Fatalf("not RFC 4180: %v\n%q", err, out.String())
	}
	stdRows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatalf("encoding/csv: %v", err)
	}
	if len(strictRows) != len(table) || len(stdRows) != len(table) {
		t.Fatalf("wrote %d rows, read %d (readCSV) and %d (encoding/csv)", len(table), len(strictRows), len(stdRows))
	}
	for i, cells := range table {
		if len(strictRows[i]) != len(cells) {
			t.Fatalf("row %d: %d cells became %d", i, len(cells), len(strictRows[i]))
		}
		for j, cell := range cells {
			if want := strings.ReplaceAll(strictRows[i][j], "\r\n", "\n"); stdRows[i][j] != want {
				t.Fatalf("row %d: encoding/csv reads %q, not %q", i, stdRows[i][j], want)
			}
			checkField(t, cell, strictRows[i][j])
			if _, isText := cell.(string); isText {
				checkSafe(t, stdRows[i][j])
			}
		}
	}
}

// checkField compares a decoded cell with the value that was written.
func checkField(t fatal, cell any, got string) {
	ok := false
	switch v := cell.(type) {
	case nil:
		ok = got == ""
	case string:
		ok = unguard(got) == string([]rune(v))
	case float64:
		parsed, err := strconv.ParseFloat(got, 64)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			ok = got == ""
		} else {
			ok = err == nil && parsed == v
		}
	case int64:
		ok = got == fmt.Sprint(v)
	case bool:
		ok = got == fmt.Sprint(v)
	case time.Time:
		parsed, err := time.Parse("2006-01-02T15:04:05.000Z", got)
		ok = err == nil && parsed.Equal(v.Truncate(time.Millisecond))
	}
	if !ok {
		t.Fatalf("%#v is read as %q", cell, got)
	}
}

// checkSafe fails if a spreadsheet would evaluate the cell. It does not share code with
// looksLikeFormula.
func checkSafe(t fatal, cell string) {
	bare := []rune(strings.TrimLeft(cell, " \n\v\f\u00a0\u2003\u3000\""))
	if len(bare) > 0 && slices.Contains([]rune("=+-@\t\r＝＋－＠"), bare[0]) {
		t.Fatalf("%q would be evaluated as a formula", cell)
	}
}

func TestCSVRoundTrip(t *testing.T) {
	text := rapid.OneOf(
		rapid.String(),
		rapid.StringOfN(rapid.SampledFrom([]rune("=+-@'\"\t\r\n,; ax＝＋－＠\u00a0\ufeff")), 0, 8, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
	)
	cell := rapid.OneOf(
		rapid.Just[any](nil),
		text.AsAny(),
		rapid.Float64().AsAny(),
		rapid.Int64().AsAny(),
		rapid.Bool().AsAny(),
		rapid.Map(rapid.Int64Range(-62e12, 253e12), func(ms int64) any { return time.UnixMilli(ms) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		header := rapid.SliceOfN(text, 1, 5).Draw(t, "header")
		rows := rapid.SliceOfN(rapid.SliceOfN(cell, len(header), len(header)), 0, 5).Draw(t, "rows")
		checkCSV(t, header, rows...)
	})
}

// TestCSVLong: rows survive the flushes of the buffer unchanged.
func TestCSVLong(t *testing.T) {
	var rows [][]any
	for i := range 2000 {
		rows = append(rows, []any{int64(i), strings.Repeat("x,\"", i%97)})
	}
	rows = append(rows, []any{strings.Repeat("long ", 100_000), "after"}, []any{"last", nil})
	checkCSV(t, []string{"a", "b"}, rows...)
}

func FuzzCSV(f *testing.F) {
	for _, text := range []string{"", "x", "a,b", "\"", "'", "'=1", "=1+1", " \t-1", "\r\n@x", "＝1", "\xff\xfe", "\x00+1", "a;=1", "\u200b=cmd|' /C calc'!A0"} {
		f.Add(text, text, 1.5, int64(-3))
	}
	f.Fuzz(func(t *testing.T, name, text string, number float64, integer int64) {
		checkCSV(t, []string{name, text, name}, []any{text, number, integer}, []any{nil, text, name}, []any{integer, true, text})
		checkCSV(t, []string{name}, []any{text}, []any{number})
	})
}
