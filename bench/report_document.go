package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const (
	imageFolder = "images"
	ratesImage  = "bench-rates.svg"
)

func growthImage(engine string) string { return "bench-growth-" + strings.ToLower(engine) + ".svg" }

// save writes the report as a page, and its charts next to it.
func (r *report) save(file string) error {
	images := map[string]string{}
	if len(r.workloads) > 0 {
		images[ratesImage] = drawShares(r.workloads)
	}
	for _, e := range r.engines {
		if e.growth != nil {
			images[growthImage(e.name)] = drawGrowth(e.name, e.growth)
		}
	}
	folder := filepath.Join(filepath.Dir(file), imageFolder)
	err := os.MkdirAll(folder, 0o755)
	for name, text := range images {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	if err := errors.Join(err, os.WriteFile(file, []byte(r.document()), 0o644)); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// document returns the report as a Markdown page.
func (r *report) document() string {
	return fmt.Sprintf(`# Benchmarks

Formulary on SQLite and on PostgreSQL, a bare %[1]snet/http%[1]s server and two peers ran as processes of their own on one
machine, which also made the load: %[2]d cores, %[3]s, %[4]s/%[5]s. They were asked in turns, in %[6]d rounds of %[7]s after
a warm-up; figures are medians, with the least and the most of the rounds behind them. Where others used more than
%[17]s of the machine in a round, which a virtual one cannot keep from them, another was measured, up to %[18]d times as many;
the calmest count. A share is that of the rate in a round to the bare server's in the same round.

- The **bare server** sends the very headers and bytes that Formulary sends and does nothing else: it is the limit. Both
  let Go use one processor more than the machine has.
- **Formulary** is as it is out of the box, but for rate limits, which are off: every request is logged, and tokens and
  responses are on disk when they are answered.
- **PocketBase** v0.36.8 lists 20 of as many forms by a bearer token and a rule that lets owners see their own, newest
  first, with an index for that; and it creates records with the same five answers. It is as it is out of the box, so
  what it answers is not on disk yet (%[1]ssynchronous=NORMAL%[1]s).
- **go-oauth2** v4.5.4 has its tokens in memory. It issues one by client credentials where Formulary exchanges a code,
  and checks one where Formulary introspects.

Rates and CPU are at %[8]d connections, p50 and p99 at %[9]d, but for submissions, which say their own. CPU is the user and
system time of the server's process and of its PostgreSQL. Start (the median of %[10]d) and memory at rest are with the data
that the load has left. A megabyte is a million bytes.

Growth: each database has so many forms of one person, and as many responses to one form of another. "Any page" asks for
%[14]d pages all over the list, in turns. What is beyond %[15]g times is explained below its table. Here and with one large
form there are at most %[16]d rounds.

The form with %[11]s responses asks eight questions and was answered over a year. Pages of the feed have %[12]d
responses, those of lists %[13]d. The export as CSV was read to its end and thrown away as often as there are rounds:
the time is the median, the memory is the most that the server process ever had meanwhile; it had only summed up
before. The other files were read once. The first summary counts in what nobody has counted yet; the others
were asked for on one connection.

%[1]smake bench%[1]s measures again and writes this page; %[1]smake bench BENCH=-only=submit%[1]s measures one work.
`, "`", runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, r.bench.rounds, r.bench.length,
		throughput, latency, starts, formatInt(float64(r.bench.responses)), feedPage, listPage, sampledPages, maxGrowth, fewRounds, percent(maxOtherUse), moreRounds) + r.render(markdownStyle)
}
