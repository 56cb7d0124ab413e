package outbox

import (
	"errors"
	"math/rand/v2"
	"time"

	"formulary/internal/mail"
	"formulary/internal/store"
)

// Schedule is how long after each failed attempt the next one follows. The last time repeats.
var Schedule = []time.Duration{
	10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
}

// maxAge is after how long an attempt is the last one.
const maxAge = 72 * time.Hour

// maxError is how many characters of an error are stored.
const maxError = 500

func (c *Config) schedule() []time.Duration {
	if c.Schedule != nil {
		return c.Schedule
	}
	return Schedule
}

// retryAt returns when a mail is tried again after an attempt, of which the first is 1; false: it
// was the last. Times are up to a tenth longer, so that what failed together does not return
// together.
func (c *Config) retryAt(attempt int64, created, now time.Time) (time.Time, bool) {
	list := c.schedule()
	wait := list[min(int(attempt), len(list))-1]
	wait += time.Duration(float64(wait) * rand.Float64() / 10)
	at, end := now.Add(wait), created.Add(maxAge)
	if at.After(end) && now.Before(end.Add(-time.Hour)) {
		at = end
	}
	return at, !at.After(end)
}

// judge says what follows from an attempt; err is what became of it.
func (s *Service) judge(m store.Mail, err error) store.MailResult {
	r := store.MailResult{ID: m.ID, Status: store.MailSent, Attempts: m.Attempts + 1}
	f, failed := errors.AsType[*mail.Failure](err)
	switch {
	case err == nil && !s.IsOn():
		r.Status, r.Attempts = store.MailKept, 0
		return r
	case err == nil:
		r.Erase = true
		return r
	case errors.Is(err, errGone):
		r.Status, r.Attempts, r.Erase = store.MailDropped, m.Attempts, true
		return r
	}
	r.Error = mail.CleanLine(err.Error(), maxError)
	if failed && f.BadAddress && !m.Urgent {
		r.Suppress = m.Recipient
	}
	var again bool
	if r.NextAt, again = s.retryAt(r.Attempts, m.CreatedAt, s.Now()); again && !(failed && f.Permanent) {
		r.Status = store.MailWaiting
		return r
	}
	r.Status, r.Erase = store.MailFailed, true
	return r
}
