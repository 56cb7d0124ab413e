package workspace

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"formulary/internal/store"
	"formulary/internal/web/page"
	"formulary/internal/webhook"
)

// listedDelivery is a row of the log.
type listedDelivery struct {
	store.Delivery
	Now     time.Time
	Details string // address of the page on which it is open, or closed if it is open now
	Open    bool
	Request string // that would be sent now; empty: nothing would be
}

// Waits reports whether the next attempt is at a later time.
func (d listedDelivery) Waits() bool {
	return d.Status == store.DeliveryPending && d.NextAt.After(d.Now)
}

// Linked reports whether the response of the event may still exist.
func (d listedDelivery) Linked() bool {
	return d.ResponseID != "" && d.Kind != store.ResponseDeleted
}

// Answered is the receiver's answer, without its headers.
func (d listedDelivery) Answered() string {
	if d.ResponseStatus == 0 {
		return ""
	}
	line := strings.TrimSpace("HTTP " + strconv.FormatInt(d.ResponseStatus, 10) + " " + http.StatusText(int(d.ResponseStatus)))
	if d.Answer == "" {
		return line
	}
	return line + "\n\n" + d.Answer
}

// Problem translates why a delivery or a test failed. Messages are stored in English.
func (p *webhookPage) Problem(status int64, text string) string {
	switch {
	case text == "":
		return ""
	case status/100 == 3:
		return p.T("The receiver answered with status %d. Redirects are not followed.", status)
	case status != 0:
		return p.T("The receiver answered with status %d.", status)
	}
	if reason, ok := strings.CutPrefix(text, webhook.ConnectionFailed); ok {
		return p.T("The connection to the receiver failed: %s", reason)
	}
	return p.T(text)
}

// TestProblem says why the test failed.
func (p *webhookPage) TestProblem() string { return p.Problem(int64(p.Test.Status), p.Test.Problem()) }

// Moment formats a time: without the date if it is today, and with seconds if it has passed.
func (p *webhookPage) Moment(t, now time.Time) string {
	zone := page.LoadZone(p.User.TimeZone)
	local, today := t.In(zone), now.In(zone)
	if local.Format(time.DateOnly) != today.Format(time.DateOnly) {
		return p.DateTime(t)
	}
	if t.After(now) {
		return local.Format("15:04")
	}
	return local.Format(time.TimeOnly)
}

// DeliveryState describes the attempts of a delivery. It is empty if the first one succeeded.
// The status of the answer is shown beside it.
func (p *webhookPage) DeliveryState(d listedDelivery) string {
	var parts []string
	switch {
	case d.Attempt == 1 && d.Status != store.Delivered:
		parts = append(parts, p.T("1 attempt"))
	case d.Attempt > 1:
		parts = append(parts, p.T("%d attempts", d.Attempt))
	}
	switch {
	case d.Waits():
		parts = append(parts, p.T("next at %s", p.Moment(d.NextAt, d.Now)))
	case d.Status == store.DeliveryPending:
		parts = append(parts, p.T("next as soon as possible"))
	case d.Status == store.DeliveryFailed:
		parts = append(parts, p.T("given up"))
	}
	text := strings.Join(parts, ", ")
	isShown := d.ResponseStatus/100 > 3
	if problem := p.Problem(d.ResponseStatus, d.Error); problem != "" && d.Status != store.Delivered && !isShown {
		text = strings.TrimSpace(text + " · " + problem)
	}
	return text
}
