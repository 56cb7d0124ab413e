package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestSurveyAnswers(t *testing.T) {
	d := surveyQuestions()
	if err := d.Normalize(); err != nil {
		t.Fatal(err)
	}
	answered := map[string]int{}
	bytes := 0
	const respondents = 1000
	for n := range respondents {
		given := surveyAnswers(n)
		e, err := d.Validate(given)
		if err != nil {
			t.Fatalf("respondent %d: %v", n, err)
		}
		text, err := d.Encode(e.Answers)
		if err != nil {
			t.Fatalf("respondent %d: %v", n, err)
		}
		// The benchmark counts the lines of exports.
		if strings.Contains(string(text), `\n`) {
			t.Errorf("respondent %d: an answer of several lines", n)
		}
		if !reflect.DeepEqual(given, surveyAnswers(n)) {
			t.Errorf("answers of respondent %d differ between runs", n)
		}
		bytes += len(text)
		for key := range e.Answers {
			answered[key]++
		}
	}
	for _, f := range d.Fields {
		if answered[f.Key] < respondents/2 {
			t.Errorf("%s has %d answers of %d", f.Key, answered[f.Key], respondents)
		}
	}
	if mean := bytes / respondents; mean < 150 || mean > 500 {
		t.Errorf("answers have %d bytes on average", mean)
	}
}

// fakeProcess is a process that has only an address.
func fakeProcess(t *testing.T, handler http.HandlerFunc) *process {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &process{addr: strings.TrimPrefix(server.URL, "http://")}
}

func TestWalk(t *testing.T) {
	const stored = 2345
	var sizes []int
	p := fakeProcess(t, func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.FormValue("after"))
		limit, _ := strconv.Atoi(r.FormValue("limit"))
		n := min(limit, stored-from)
		sizes = append(sizes, n)
		data := make([]map[string]any, n)
		for i := range data {
			data[i] = map[string]any{"id": from + i}
		}
		json.NewEncoder(w).Encode(map[string]any{"data": data, "next": fmt.Sprint(from + n)})
	})
	s := &survey{dataset: &dataset{form: "frm_1"}}
	cursors, err := s.walkFeed(t.Context(), p.addr, "token", stored-feedPage)
	if err != nil || !slices.Equal(cursors, []string{"", "1000", "2000", "2245"}) || !slices.Equal(sizes, []int{1000, 1000, 245}) {
		t.Errorf("cursors %q after pages of %v: %v", cursors, sizes, err)
	}
	if _, err := s.walkFeed(t.Context(), p.addr, "token", stored+1); err == nil {
		t.Error("a feed that ends too early passes")
	}
}

func TestDownload(t *testing.T) {
	p := fakeProcess(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer token":
			http.Error(w, "who are you?", http.StatusUnauthorized)
		case r.URL.Path == "/torn":
			w.Write([]byte("a\n"))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		default:
			w.Write([]byte("a\nb\nc\n"))
		}
	})
	for _, c := range []struct {
		path, token string
		lines       int64
		ok          bool
	}{
		{"/whole", "token", 3, true},
		{"/whole", "token", 0, true},
		{"/whole", "token", 4, false},
		{"/torn", "token", 0, false},
		{"/whole", "another", 0, false},
	} {
		if err := download(t.Context(), p, c.path, c.token, c.lines); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestMedianExport(t *testing.T) {
	rounds := []exportFigures{{took: 9, cpu: 1, peak: 5}, {took: 2, cpu: 2, peak: 7}, {took: 4, cpu: 3, peak: 6}}
	if got, want := medianExport(rounds), (exportFigures{took: 4, cpu: 3, peak: 7, rounds: span{4e-9, 2e-9, 9e-9}}); got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
}

func TestMillionRows(t *testing.T) {
	const ms = time.Millisecond
	good := millionFigures{
		responses: 1_000_000, storing: 25 * time.Second,
		feedStart: cost{cpu: 700e-6, p50: ms}, feedEnd: cost{cpu: 770e-6, p50: ms}, list: cost{cpu: 150e-6}, deepPage: 25_000, deep: cost{cpu: 200e-6},
		csv: exportFigures{took: 2 * time.Second, cpu: 9 * time.Second, peak: 60e6}, xlsx: exportFigures{took: 16 * time.Second}, jsonl: exportFigures{took: 4 * time.Second},
		firstSummary: 70 * ms, summary: 5 * ms,
	}
	bad := good
	bad.feedEnd = cost{cpu: 1.1e-3, p50: 2 * ms}
	bad.list.cpu = 2e-3
	bad.csv = exportFigures{took: 11 * time.Second, cpu: 9 * time.Second, peak: 100e6}
	bad.summary = 50 * ms
	for _, c := range []struct {
		figures *millionFigures
		want    string
	}{{&good, "yes"}, {&bad, "NO"}, {nil, ""}} {
		var rows targetRows
		rows.addMillion(engineFigures{name: "SQLite", million: c.figures})
		checked := 0
		for _, row := range rows {
			if row[2] == "" {
				continue
			}
			if checked++; row[3] != c.want {
				t.Errorf("%q, want %s", row, c.want)
			}
		}
		if c.figures != nil && checked != 6 {
			t.Errorf("%d targets in %q", checked, rows)
		}
	}
	var rows targetRows
	rows.addMillion(engineFigures{name: "SQLite", million: &good})
	for _, want := range []string{
		"SQLite, 1,000,000 responses: storing them|40,000 rows/s, 25.0 s||",
		"SQLite, 1,000,000 responses: CPU of the feed's last page to its first|770.0 µs / 700.0 µs = 1.10|≤ 1.2|yes",
		"SQLite, 1,000,000 responses: export as CSV|500,000 rows/s, 9.0 µs CPU a row|≥ 300,000 rows/s|yes",
	} {
		if !slices.ContainsFunc(rows, func(row []string) bool { return strings.Join(row, "|") == want }) {
			t.Errorf("no %s in %q", want, rows)
		}
	}
}

func TestFlagsAreChecked(t *testing.T) {
	for _, arg := range []string{"-engine=oracle", "-only=nothing", "-responses=1999", "-responses=many", "-rounds=0", "-time=1ms", "more"} {
		if err := command(context.Background(), []string{"-engine=sqlite", arg}); err == nil {
			t.Errorf("%s passes", arg)
		}
	}
}
