package main

import (
	"fmt"
	"time"
)

// Targets of webhooks. The rate applies to SQLite.
const (
	minHookedShare  = 0.9 // of the rate of submissions without webhooks
	minDeliveries   = 5_000
	maxMemoryGrowth = 1.3 // from a backlog to one that is several times as long
	maxDelay        = 2 * time.Second
	maxLiveMemory   = 100e6 // bytes
	maxLiveDelay    = 250 * time.Millisecond
	million         = 1_000_000
)

// addWebhooks adds the figures of webhooks on one engine.
func (r *targetRows) addWebhooks(f webhookFigures) {
	prefix := f.name + ", webhooks: "
	share := f.submit.with.of(f.submit.without)
	r.add(fmt.Sprintf("%ssubmit, %d at a time, with %d webhooks to without", prefix, throughput, formWebhooks),
		formatSpan(share, ratio), fmt.Sprintf("≥ %g", minHookedShare), share.median >= minHookedShare)
	rate := func(o outcome) string {
		return fmt.Sprintf("%s req/s, %s CPU each", formatSpan(spanOf(o.rates), formatInt), cpuMicros(median(o.cpus)))
	}
	r.note(prefix+"submissions without them", rate(f.submit.without))
	r.note(prefix+"submissions with them, and deliveries meanwhile", rate(f.submit.with))
	r.note(prefix+"deliveries meanwhile", formatSpan(spanOf(f.submit.meanwhile), formatInt)+" a second")
	r.note(prefix+"deliveries left at the end of a round", formatSpan(spanOf(f.submit.left), formatInt))
	r.note(prefix+"time until they had arrived", formatSpan(spanOf(f.submit.drain), milliseconds)+" ms")

	var rates, cpus, growths []float64
	for _, backlog := range f.backlogs {
		rates, cpus, growths = append(rates, backlog.rate), append(cpus, backlog.cpu), append(growths, backlog.growth())
	}
	behind := func(n int) string { return prefix + formatInt(float64(n)) + " responses behind, " }
	few := f.backlogs[0].responses
	delivered := fmt.Sprintf("%s a second, %s CPU each", formatSpan(spanOf(rates), formatInt), cpuMicros(median(cpus)))
	if f.name == "SQLite" {
		r.add(behind(few)+"deliveries", delivered, "≥ "+formatInt(minDeliveries)+" a second", median(rates) >= minDeliveries)
	} else {
		r.note(behind(few)+"deliveries", delivered)
	}
	r.note(behind(f.far.responses)+"deliveries", fmt.Sprintf("%s a second, %s CPU each", formatInt(f.far.rate), cpuMicros(f.far.cpu)))
	r.note(behind(f.far.responses)+"memory", fmt.Sprintf("%s, at rest %s", megabytes(f.far.peak), megabytes(f.far.idle)))
	r.compare(fmt.Sprintf("%smemory above rest, %s responses behind to %s", prefix, formatInt(float64(f.far.responses)), formatInt(float64(few))),
		f.far.growth(), median(growths), func(bytes float64) string { return megabytes(bytes) }, maxMemoryGrowth)

	if f.far.responses < million {
		r.note(behind(f.far.responses)+"the same with one million", "go run ./bench -only=webhooks -behind=1000000")
	}
	r.addLive(f.name, f.live)

	if f.hanging.webhooks == 0 {
		return
	}
	hanging := fmt.Sprintf("%s%s of them, half hanging, %d responses a second: ", prefix, formatInt(float64(f.hanging.webhooks)), hangingRate)
	r.add(hanging+"median delay of the others", milliseconds(f.hanging.p50)+" ms", "≤ "+millis(maxDelay), f.hanging.p50 <= maxDelay.Seconds())
	r.note(hanging+"99 % of the others within", milliseconds(f.hanging.p99)+" ms")
}

// addLive adds the figures of live readers on one engine.
func (r *targetRows) addLive(engine string, f liveFigures) {
	if f.readers == 0 {
		return
	}
	prefix := fmt.Sprintf("%s, %s live readers of one form: ", engine, formatInt(float64(f.readers)))
	added := float64(f.peak - f.idle)
	r.add(prefix+"memory above rest", megabytes(added), "< "+megabytes(float64(maxLiveMemory)), added < maxLiveMemory)
	r.add(prefix+"median time until all have a response", milliseconds(f.p50)+" ms", "≤ "+millis(maxLiveDelay), f.p50 <= maxLiveDelay.Seconds())
	r.note(prefix+"99 % of the responses within", milliseconds(f.p99)+" ms")
}
