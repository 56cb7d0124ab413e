package export

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

func xlsxOf(t fatal, rowsMax int, header []string, rows ...[]any) []sheet {
	var out bytes.Buffer
	w, err := newXLSX(&out, header)
	if err != nil {
		t.Fatalf("%v", err)
	}
	w.rowsMax = rowsMax
	for _, cells := range rows {
		if err := w.Row(cells); err != nil {
			t.Fatalf("%v", err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatalf("%v", err)
	}
	return readXLSX(t, out.Bytes())
}

func TestXLSXCells(t *testing.T) {
	long := strings.Repeat("x", cellUnits)
	for _, c := range []struct{ cell, want any }{
		{nil, nil}, {"", nil}, {"x", "x"}, {"  two  ", "  two  "}, {"naïve 日本，😀", "naïve 日本，😀"}, {`<b>"&amp;"</b> ]]>`, `<b>"&amp;"</b> ]]>`},
		{"=1+1", "=1+1"}, {"-1", "-1"}, {"'=1", "'=1"}, {" @x", " @x"}, {"007", "007"}, {"1e5", "1e5"}, {"TRUE", "TRUE"},
		{"a\tb\nc", "a\tb\nc"}, {"a\r\nb\rc\n\rd", "a\nb\nc\n\nd"},
		{"a\x00b\x1fc\x7fd\u0085e", "abc\x7fd\u0085e"}, {"\x00\x01", nil}, {"\x00=1", "=1"}, {"a\ufffeb\uffffc\ufeffd", "abc\ufeffd"},
		{"\xff\xc3(", "\ufffd\ufffd("}, {"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"_x0041_", "_x0041_"}, {"_x0041_x0042_", "_x0041_x0042_"}, {"__x005F__xZZZZ_ _x41_", "__x005F__xZZZZ_ _x41_"}, {"_xafAF_", "_xafAF_"}, {"_x00\x0041_", "_x0041_"}, {"snake_case_", "snake_case_"},
		{long, long}, {long + "y", long}, {strings.Repeat("é", cellUnits+1), strings.Repeat("é", cellUnits)},
		{strings.Repeat("😀", cellUnits), strings.Repeat("😀", cellUnits/2)}, {"x" + strings.Repeat("😀", cellUnits), "x" + strings.Repeat("😀", cellUnits/2)},
		{-1.5, -1.5}, {0.1, 0.1}, {1e300, 1e300}, {5e-324, 5e-324}, {math.NaN(), nil}, {math.Inf(-1), nil},
		{int64(0), 0.0}, {int64(-12), -12.0}, {int64(1 << 53), float64(1 << 53)},
		{true, true}, {false, false},
		{time.UnixMilli(1_790_000_000_123), time.UnixMilli(1_790_000_000_123).UTC()},
		{time.Date(2026, 1, 1, 1, 0, 0, 1e6, time.FixedZone("", 3600)), time.Date(2026, 1, 1, 0, 0, 0, 1e6, time.UTC)},
		{time.Date(1969, 12, 31, 23, 59, 59, 999e6, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 999e6, time.UTC)},
		{time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)},
		{time.Date(1900, 3, 1, 0, 0, 0, 0, time.UTC), time.Date(1900, 3, 1, 0, 0, 0, 0, time.UTC)},
		{time.Date(1900, 2, 28, 23, 59, 59, 0, time.UTC), "1900-02-28T23:59:59.000Z"},
		{time.Time{}, "0001-01-01T00:00:00.000Z"},
		{time.Date(292e9, 1, 1, 0, 0, 0, 0, time.UTC), nil},
	} {
		got := xlsxOf(t, sheetRows, []string{"h", "last"}, []any{c.cell, "x"})[0].rows[1]
		if len(got) != 2 || got[0] != c.want || got[1] != "x" {
			t.Errorf("%.40q: %.40q, not %.40q", fmt.Sprint(c.cell), fmt.Sprint(got), fmt.Sprint(c.want))
		}
	}
}

// TestXLSXSerials checks the day numbers that are written for times.
func TestXLSXSerials(t *testing.T) {
	for want, instant := range map[string]time.Time{
		"61":               time.Date(1900, 3, 1, 0, 0, 0, 0, time.UTC),
		"25569":            time.Unix(0, 0),
		"36526.5000000000": time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC),
		"45351.0000000116": time.Date(2024, 2, 29, 0, 0, 0, 1e6, time.UTC),
		"45351.9999999885": time.Date(2024, 2, 29, 23, 59, 59, 999_999_999, time.UTC),
	} {
		if got := string(appendTimeCell(nil, "B", []byte("7"), instant.UTC())); got != `<c r="B7" s="4"><v>`+want+`</v></c>` {
			t.Errorf("%v is %s, not %s", instant, got, want)
		}
	}
}

func TestXLSXHeader(t *testing.T) {
	var out bytes.Buffer
	w, err := NewXLSX(&out, []string{"a", "=b", "", "c\x00 & d"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var styles xmlStyles
	if err := xml.Unmarshal([]byte(partStyles), &styles); err != nil {
		t.Fatal(err)
	}
	sheets := readXLSX(t, out.Bytes())
	if len(sheets) != 1 || sheets[0].name != "Responses" {
		t.Fatalf("%v", sheets)
	}
	if diff := cmp.Diff([][]any{{"a", "=b", nil, "c & d"}}, sheets[0].rows); diff != "" {
		t.Fatalf("rows (-want +got):\n%s", diff)
	}
	if pane := sheets[0].xml.View.Pane; pane.Rows != 1 || pane.State != "frozen" {
		t.Errorf("the header is not frozen: %v", pane)
	}
	for _, c := range sheets[0].xml.Rows[0].Cells {
		if styles.Fonts[styles.Cells[c.Style].Font].Bold == nil {
			t.Errorf("%s is not bold", c.Ref)
		}
	}
}

// TestXLSXSheets: rows beyond a full sheet continue on the next, which is created only
// for a row.
func TestXLSXSheets(t *testing.T) {
	for rows, want := range map[int][]int{0: {1}, 1: {2}, 4: {5}, 5: {5, 2}, 8: {5, 5}, 9: {5, 5, 2}, 50: {5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 3}} {
		var table [][]any
		for i := range rows {
			table = append(table, []any{int64(i), fmt.Sprintf("row %d", i)})
		}
		sheets := xlsxOf(t, 5, []string{"n", "text"}, table...)
		var sizes []int
		n := 0
		for i, s := range sheets {
			sizes = append(sizes, len(s.rows))
			if name := fmt.Sprintf("Responses %d", i+1); i > 0 && s.name != name {
				t.Errorf("sheet %d is %q", i+1, s.name)
			}
			if !slices.Equal(s.rows[0], []any{"n", "text"}) || s.xml.View.Pane.State != "frozen" {
				t.Errorf("the header of %s is %v", s.name, s.rows[0])
			}
			if s.xml.View.Selected != (i == 0) {
				t.Errorf("%s is selected: %v; input would go to all selected sheets", s.name, s.xml.View.Selected)
			}
			for _, cells := range s.rows[1:] {
				if !slices.Equal(cells, []any{float64(n), fmt.Sprintf("row %d", n)}) {
					t.Errorf("row %d is %v", n, cells)
				}
				n++
			}
		}
		if !slices.Equal(sizes, want) {
			t.Errorf("%d rows: sheets of %v, not %v", rows, sizes, want)
		}
	}
}

// TestXLSXRefusedRowBeginsNoSheet: a rejected row after a full sheet does not create
// the next sheet.
func TestXLSXRefusedRowBeginsNoSheet(t *testing.T) {
	var out bytes.Buffer
	w, err := newXLSX(&out, []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	w.rowsMax = 2
	if err := w.Row([]any{"x"}); err != nil {
		t.Fatal(err)
	}
	if w.Row([]any{1}) == nil {
		t.Error("an int was accepted")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if sheets := readXLSX(t, out.Bytes()); len(sheets) != 1 {
		t.Errorf("%d sheets", len(sheets))
	}
}

func TestXLSXColumns(t *testing.T) {
	for i, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 51: "AZ", 52: "BA", 701: "ZZ", 702: "AAA", sheetColumns - 1: "XFD"} {
		if got := columnLetters(i); got != want {
			t.Errorf("column %d is %s, not %s", i, got, want)
		}
	}
	if w, err := NewXLSX(io.Discard, make([]string, sheetColumns+1)); err == nil || w != nil {
		t.Error("16,385 columns were accepted")
	}
	header := make([]string, sheetColumns)
	header[sheetColumns-1] = "last"
	if got := xlsxOf(t, sheetRows, header)[0].rows[0]; len(got) != sheetColumns || got[sheetColumns-1] != "last" {
		t.Errorf("%d columns", len(got))
	}
}

// FuzzXLSX: any text produces valid XML that reads back as the text a cell can hold.
func FuzzXLSX(f *testing.F) {
	for _, text := range []string{"", "x", "<&>", "_x0041_x0042_", "_x00\x0041_", "\x00", "\r\n\r", "\xff\xfe", "\ufffe\uffff", "=1+1", "]]>", "😀", "\u2028\u0085"} {
		f.Add(text, 1.5, int64(0))
		f.Add(text, -1e-9, int64(1))
	}
	f.Fuzz(func(t *testing.T, text string, number float64, milli int64) {
		milli %= 250e12
		if milli%64 == 1 {
			text = strings.Repeat(text, 1+2*cellUnits/(len(text)+1)) // too long for a cell
		}
		want := strings.ReplaceAll(strings.ReplaceAll(string([]rune(text)), "\r\n", "\n"), "\r", "\n")
		want = strings.Map(func(r rune) rune {
			if strings.ContainsRune("\ufffe\uffff\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f", r) {
				return -1
			}
			return r
		}, want)
		if units := utf16.Encode([]rune(want)); len(units) > 32767 {
			units = units[:32767]
			if utf16.IsSurrogate(rune(units[32766])) && units[32766] < 0xdc00 {
				units = units[:32766]
			}
			want = string(utf16.Decode(units))
		}
		sheets := xlsxOf(t, 2, []string{text, "number", "at", "last"}, []any{text, number, time.UnixMilli(milli), true}, []any{nil, nil, nil, text})
		if len(sheets) != 2 {
			t.Fatalf("%d sheets", len(sheets))
		}
		checkText := func(got any) {
			if got != want && !(got == nil && want == "") {
				t.Fatalf("%q is read as %q", text, got)
			}
		}
		row := sheets[0].rows[1]
		checkText(sheets[0].rows[0][0])
		checkText(sheets[1].rows[0][0])
		checkText(row[0])
		if want != "" {
			checkText(sheets[1].rows[1][3])
		}
		var wantNumber any
		if !math.IsNaN(number) && !math.IsInf(number, 0) {
			wantNumber = number
		}
		if row[1] != wantNumber {
			t.Fatalf("%v is read as %v", number, row[1])
		}
		if at, ok := row[2].(time.Time); ok && at.UnixMilli() != milli || !ok && milli > 0 {
			t.Fatalf("%d is read as %v", milli, row[2])
		}
	})
}
