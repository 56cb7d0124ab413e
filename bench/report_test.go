package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// sampleReport returns a report with some of everything.
func sampleReport() *report {
	sqlite := formularyOn("SQLite")
	costs := func(list ...float64) []cost {
		var costs []cost
		for _, cpu := range list {
			costs = append(costs, cost{cpu: cpu, rounds: span{cpu, cpu * 0.9, cpu * 1.1}})
		}
		return costs
	}
	return &report{
		bench: &bench{rounds: 3, length: time.Second, responses: 10_000, used: machineUse{3, 100}},
		size:  33e6,
		workloads: []figures{{
			workload: workload{title: "List <forms>", target: target{sqlite: 0.8, times: 30}},
			outcomes: []outcome{
				{name: bareName, rates: []float64{100, 200, 100}, cpus: []float64{1e-5}, p50s: []float64{1e-4}, p99s: []float64{1e-3}},
				// Shares are computed round by round: 0.9, 0.5, 0.85.
				{name: sqlite, rates: []float64{90, 100, 85}, cpus: []float64{2e-5}, p50s: []float64{1e-4}, p99s: []float64{1e-2}},
				{name: pocketBase, rates: []float64{3, 4, 5}, cpus: []float64{1e-3}, p50s: []float64{1e-3}, p99s: []float64{1e-2}},
			},
		}},
		footprints: []footprint{{name: sqlite, binary: 29e6, start: span{0.05, 0.04, 0.08}, idle: span{31e6, 30e6, 32e6}}},
		engines: []engineFigures{{name: "SQLite", growth: &growthFigures{sizes: []int{1000, 10_000}, lines: []growthLine{
			{"Flat", "never said", costs(1e-5, 1.1e-5)}, {"Steep", "it is far", costs(1e-5, 3e-5)},
		}}}},
	}
}

func TestTargets(t *testing.T) {
	var got []string
	for _, row := range sampleReport().targetTable()[1:] {
		got = append(got, strings.Join(row, "|"))
	}
	want := []string{
		"Formulary, SQLite, List <forms>: share of bare|0.85 (0.50–0.90)|≥ 0.8|yes",
		"Formulary, SQLite, List <forms>: times PocketBase|25.00 (17.00–30.00)|≥ 30|NO",
		"Start to first answer|50 ms|≤ 60 ms|yes",
		"Memory at rest|31.0 (30.0–32.0) MB|≤ 30.0 MB|NO",
		"SQLite: Flat, CPU with 10,000 to 1,000|11.0 µs / 10.0 µs = 1.10|≤ 1.3|yes",
		"SQLite: Steep, CPU with 10,000 to 1,000|30.0 µs / 10.0 µs = 3.00|≤ 1.3|NO",
		"Binary|33.0 MB|≤ 32.0 MB|NO",
		"Machine used by others meanwhile|3 %|≤ 5 %|yes",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestErrorsReachNoTarget: a workload with failed requests does not reach its target,
// however fast it is.
func TestErrorsReachNoTarget(t *testing.T) {
	r := sampleReport()
	r.workloads[0].outcomes[1].errors = 1
	if row := r.targetTable()[1]; row[3] != "NO" {
		t.Errorf("%q with errors", row)
	}
}

func TestSave(t *testing.T) {
	folder := t.TempDir()
	sample := sampleReport()
	sample.webhooks = []webhookFigures{sampleWebhooks()}
	if err := sample.save(filepath.Join(folder, "benchmarks.md")); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(folder, "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"(images/bench-rates.svg)", "(images/bench-growth-sqlite.svg)", "| List <forms> | bare net/http | 100 (100–200) |", "Steep: it is far.", "| SQLite, webhooks: deliveries meanwhile | 200 (100–300) a second |"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if strings.Contains(string(page), "never said") {
		t.Error("a flat line is explained")
	}
	for _, name := range []string{ratesImage, growthImage("SQLite")} {
		file, err := os.Open(filepath.Join(folder, imageFolder, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for d := xml.NewDecoder(file); err == nil; {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
