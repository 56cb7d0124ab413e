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

All servers (Formulary on SQLite and PostgreSQL, a bare %[1]snet/http%[1]s server and two peers) ran as separate processes on one
machine, which also generated the load: %[2]d cores, %[3]s, %[4]s/%[5]s. They were measured in turns, in %[6]d rounds of %[7]s
after a warm-up. Figures are medians, followed by the minimum and maximum of the rounds. If other processes used more than
%[17]s of the machine in a round, which cannot be prevented on a virtual machine, another round was measured, up to %[18]d times as
many; the rounds with the least interference count. A share compares the rate in a round with that of the bare server in the
same round.

- The **bare server** sends the same headers and bytes as Formulary and does nothing else: it is the upper limit. Both let
  Go use one processor more than the machine has.
- **Formulary** has its default configuration, except that rate limits are off: every request is logged, and tokens and
  responses are on disk before they are acknowledged.
- **PocketBase** v0.36.8 lists 20 of the same number of forms with a bearer token and a rule that shows owners their own
  forms, newest first, with an index for that order. It creates records with the same five answers. It has its default
  configuration, so acknowledged records are not yet on disk (%[1]ssynchronous=NORMAL%[1]s).
- **go-oauth2** v4.5.4 keeps its tokens in memory. It issues tokens by client credentials where Formulary exchanges a code,
  and checks them where Formulary introspects.

Rates and CPU are measured with %[8]d connections, p50 and p99 with %[9]d, except for submissions, which state their own. CPU is
the user and system time of the server process and of its PostgreSQL. Start (median of %[10]d) and memory at rest are measured
with the data that the load has left. A megabyte is a million bytes.

Scaling: each database has the given number of forms of one user, and the same number of responses to one form of another
user. "Any page" requests %[14]d pages spread over the list, in turns. Growth beyond %[15]g times is explained below its table.
Here and with one large form there are at most %[16]d rounds.

The form with %[11]s responses has eight questions and responses spread over a year. Pages of the feed have %[12]d
responses, pages of lists %[13]d. The CSV export was read to its end and discarded once per round: the time is the median, and
the memory is the peak of the server process during the exports, after it had only computed summaries. The other files were
read once. The first summary includes responses that were not counted before; the other summaries were requested on one
connection.

Webhooks: %[19]d webhooks of one form send to a receiver in the process that generates the load, so it shares the machine too.
It counts different deliveries and verifies nothing. Submissions to that form and to one without webhooks take turns, and
everything is delivered before the next turn. For the figures of a webhook that is behind, responses were stored while the
service did not run. The rate is that between the first delivery and the last, and the memory is the peak of the service
since its start. Receivers that hang never answer: %[20]d users have a form with %[21]d webhooks each, half of which hang, and
responses to all forms are submitted at a fixed rate for %[22]s.

Email: the owner of a form is notified of each response. An SMTP server in the process that generates the load counts different
emails. Submissions to that form and to one without notifications take turns, and everything has arrived before the next turn.

%[1]smake bench%[1]s repeats the measurement and writes this page; %[1]smake bench BENCH=-only=submit%[1]s measures one workload.
`, "`", runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, r.bench.rounds, r.bench.length,
		throughput, latency, starts, formatInt(float64(r.bench.responses)), feedPage, listPage, sampledPages, maxGrowth, fewRounds, percent(maxOtherUse), moreRounds, formWebhooks,
		hangingForms, hangingWebhooks, hangingTime) + r.render(markdownStyle)
}
