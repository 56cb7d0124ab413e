package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/mail"
	"os"
	"time"

	"github.com/emersion/go-smtp"

	"formulary/internal/store"
)

// Targets of email. The rate applies to SQLite.
const (
	minNotifiedShare = 0.95 // of the rate of submissions without notifications
	minNotifications = 1_000
	mailBacklog      = 20_000
	// A round of submissions is longer than others: emails wait once the service notices the
	// load, which takes it a fifth of a second.
	mailRound = time.Second
	// Rounds differ by a third on PostgreSQL, so a difference of some percent takes many.
	mailRounds = 24
)

// mailFigures are the measurements of notifications on one engine.
type mailFigures struct {
	name    string // of the engine
	submit  submitFigures
	backlog backlogFigures
}

// mailbox is an SMTP server that counts different emails.
type mailbox struct {
	*receiver
	smtp *smtp.Server
}

func startMailbox() (*mailbox, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("mailbox: %w", err)
	}
	m := &mailbox{receiver: &receiver{url: "smtp://" + listener.Addr().String() + "?tls=none", seen: map[string]struct{}{}}}
	m.smtp = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return mailSession{m}, nil }))
	m.smtp.Domain = "localhost"
	go m.smtp.Serve(listener) // returns when the server is closed
	return m, nil
}

func (m *mailbox) close() { m.smtp.Close() }

type mailSession struct{ *mailbox }

func (mailSession) Reset()                               {}
func (mailSession) Logout() error                        { return nil }
func (mailSession) Mail(string, *smtp.MailOptions) error { return nil }
func (mailSession) Rcpt(string, *smtp.RcptOptions) error { return nil }

func (s mailSession) Data(r io.Reader) error {
	message, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, message.Body); err != nil {
		return err
	}
	s.count(message.Header.Get("Message-Id"), nil)
	return nil
}

// measureMail measures notifications of each response on one engine.
func (b *bench) measureMail(ctx context.Context, engine, folder string) (f mailFigures, err error) {
	defer func(rounds int, length time.Duration) { b.rounds, b.length = rounds, length }(b.rounds, b.length)
	b.rounds, b.length = mailRounds, max(b.length, mailRound)
	fmt.Fprintf(b.progress, "%s: email\n", engine)
	if folder, err = os.MkdirTemp(folder, "mail-"); err != nil {
		return f, err
	}
	box, err := startMailbox()
	if err != nil {
		return f, err
	}
	defer box.close()
	place, remove, err := newLocation(ctx, engine, folder)
	if err != nil {
		return f, err
	}
	defer remove()
	place.smtp = box.url
	data, err := seed(ctx, place, (*dataset).fillWebhooks)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, data.store.Close()) }()
	f.name = data.store.Engine()
	if f.submit, err = b.measureNotifiedSubmit(ctx, data, place, box); err != nil {
		return f, fmt.Errorf("submit: %w", err)
	}
	f.backlog, err = b.measureMailBacklog(ctx, data, place, box)
	return f, err
}

// notify sets when the owner of the form is notified of responses.
func (w *dataset) notify(ctx context.Context, when store.Frequency) error {
	_, err := w.store.SetNotifications(ctx, w.smallOwner.ID, w.form, store.NotificationChange{When: when, To: []string{w.smallOwner.Email}}, time.Now())
	return err
}

// measureNotifiedSubmit submits to one form, with notifications and without in turn: two forms
// differ by several percent. Before the next turn, all emails have arrived.
func (b *bench) measureNotifiedSubmit(ctx context.Context, w *dataset, place location, box *mailbox) (f submitFigures, err error) {
	fmt.Fprintln(b.progress, "  Submit with notifications and without")
	service, admin, err := b.serve(ctx, place)
	if err != nil {
		return f, err
	}
	defer service.stop()
	if err := w.publishOrder(ctx, w.smallOwner); err != nil {
		return f, err
	}
	request := w.submission()
	return b.compareSubmit(ctx, service, comparison{
		without: request, with: request, sink: box.receiver, each: 1, admin: admin, profile: "mail-submit",
		prepare: func(with bool) error {
			if with {
				return w.notify(ctx, store.NotifyEach)
			}
			return w.notify(ctx, store.NotifyOff)
		},
	})
}

// measureMailBacklog stores responses while the service does not run, and measures how it sends
// the notifications.
func (b *bench) measureMailBacklog(ctx context.Context, w *dataset, place location, box *mailbox) (f backlogFigures, err error) {
	fmt.Fprintf(b.progress, "  Notifications of %s responses\n", formatInt(mailBacklog))
	f.responses = mailBacklog
	if err := w.publish(ctx, w.smallOwner, "Customer survey", surveyQuestions()); err != nil {
		return f, err
	}
	if err := w.notify(ctx, store.NotifyEach); err != nil {
		return f, err
	}
	if err := w.addResponses(ctx, mailBacklog); err != nil {
		return f, err
	}
	box.reset()
	service, admin, err := b.serve(ctx, place)
	if err != nil {
		return f, err
	}
	defer service.stop()
	cpu, _, err := b.measureCPU(ctx, service, func() error {
		if admin == "" {
			return box.await(ctx, mailBacklog)
		}
		return b.profile(ctx, admin, "mail-backlog", func(time.Duration) error { return box.await(ctx, mailBacklog) })
	})
	if err != nil {
		return f, err
	}
	f.rate, f.cpu = box.arrivals().rate(), cpu.Seconds()/mailBacklog
	f.peak, err = service.peak()
	return f, err
}

// addMail adds the figures of notifications on one engine.
func (r *targetRows) addMail(f mailFigures) {
	prefix := f.name + ", notifications: "
	share := f.submit.with.of(f.submit.without)
	r.add(fmt.Sprintf("%ssubmit, %d at a time, with them to without", prefix, throughput),
		formatSpan(share, ratio), fmt.Sprintf("≥ %g", minNotifiedShare), share.median >= minNotifiedShare)
	r.note(prefix+"emails meanwhile", formatSpan(spanOf(f.submit.meanwhile), formatInt)+" a second")
	r.note(prefix+"time until the rest had arrived", formatSpan(spanOf(f.submit.drain), milliseconds)+" ms")
	sent := fmt.Sprintf("%s a second, %s CPU each", formatInt(f.backlog.rate), cpuMicros(f.backlog.cpu))
	name := prefix + formatInt(float64(f.backlog.responses)) + " responses behind, emails"
	if f.name == "SQLite" {
		r.add(name, sent, "≥ "+formatInt(minNotifications)+" a second", f.backlog.rate >= minNotifications)
	} else {
		r.note(name, sent)
	}
}
