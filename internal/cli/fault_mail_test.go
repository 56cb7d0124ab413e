package cli_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"formulary/internal/mail/mailtest"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// notifyOwner turns on the notifications of a survey, to the address of its owner. Notices about the
// account that were not sent yet are dropped, so that all mails are notifications.
func notifyOwner(t *testing.T, storage storetest.Storage, f survey) {
	t.Helper()
	s := storetest.Open(t, storage)
	defer s.Close()
	user, err := s.UserByEmail(context.Background(), ada)
	if err != nil {
		t.Fatal(err)
	}
	waiting, err := s.DueMails(context.Background(), user.ID, time.Now(), 100)
	if err != nil {
		t.Fatal(err)
	}
	var drop []store.MailResult
	for _, m := range waiting {
		drop = append(drop, store.MailResult{ID: m.ID, Status: store.MailDropped})
	}
	if err := s.CommitMails(context.Background(), user.ID, drop, false, time.Now()); err != nil {
		t.Fatal(err)
	}
	change := store.NotificationChange{When: store.NotifyEach, To: []string{ada}}
	if n, err := s.SetNotifications(context.Background(), user.ID, f.id, change, time.Now()); err != nil || !n.Recipients[0].Receives() {
		t.Fatalf("%+v (%v)", n, err)
	}
}

// mailTotals returns how many mails have arrived, and how many of them once more.
func mailTotals(s *mailtest.Server) (mails, repeated int) {
	counts := map[string]int{}
	for _, r := range s.Received() {
		counts[r.ID]++
	}
	for _, n := range counts {
		repeated += n - 1
	}
	return len(counts), repeated
}

// TestMailKilled: whenever the service is killed while it sends notifications, and while the mail
// server is away for the first half, each response is notified of. Only what was in flight arrives
// again: then SMTP cannot tell whether it was accepted.
func TestMailKilled(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		f := openSurvey(t, storage, 0)
		to := mailtest.Start(t, mailtest.WithoutTLS, mailtest.WithoutContent)
		notifyOwner(t, storage, f)
		env := append(webhookEnv[:len(webhookEnv):len(webhookEnv)], "FORMULARY_SMTP_URL=smtp://"+to.Address+"?tls=none")
		to.Stop()
		kills, each := shortOrFull(3, 60), 160
		stored := 0
		for round := range kills {
			if round == kills/2 {
				to.Restart()
			}
			p := launch(t, storage, env...)
			var sending sync.WaitGroup
			for client := range 8 {
				sending.Go(func() {
					for n := range each / 8 {
						if a := p.post(f.page, submission(fmt.Sprintf("%d-%d-%d", round, client, n))); a.status != http.StatusCreated {
							t.Errorf("submit: %s", a)
						}
					}
				})
			}
			sending.Wait()
			stored += each
			before, _ := mailTotals(to)
			if round >= kills/2 {
				p.waitUntil("some are sent", func() bool { n, _ := mailTotals(to); return n > before+rand.IntN(each/2) || n >= stored })
			}
			p.kill()
		}
		p := launch(t, storage, env...)
		p.waitUntil("all are sent", func() bool { n, _ := mailTotals(to); return n >= stored })
		p.stop()
		mails, repeated := mailTotals(to)
		if mails != stored || repeated > kills*maxInFlight {
			t.Errorf("%d mails about %d responses arrived, %d again after %d kills", mails, stored, repeated, kills)
		}
		reportFigure(t, fmt.Sprintf("%d × kill -9 while notifications are sent, mail server away for the first half", kills),
			"%d responses, a mail about each; %d again, of %d that can have been in flight", mails, repeated, kills*maxInFlight)
	})
}

// TestMailNodesTakeOver: two nodes send each notification once. If the node that sends is killed,
// the other one continues.
func TestMailNodesTakeOver(t *testing.T) {
	t.Parallel()
	storage := storetest.Postgres(t)
	f := openSurvey(t, storage, 0)
	to := mailtest.Start(t, mailtest.WithoutTLS, mailtest.WithoutContent)
	notifyOwner(t, storage, f)
	env := append(webhookEnv[:len(webhookEnv):len(webhookEnv)], "FORMULARY_SMTP_URL=smtp://"+to.Address+"?tls=none")
	nodes := []*program{launch(t, storage, env...), launch(t, storage, env...)}
	sent := 0
	submit := func(p *program, n int) {
		t.Helper()
		for range n {
			if a := p.post(f.page, submission(fmt.Sprint(sent))); a.status != http.StatusCreated {
				t.Fatalf("submit: %s", a)
			}
			sent++
		}
		p.waitUntil("all are sent", func() bool { n, _ := mailTotals(to); return n >= sent })
	}
	submit(nodes[0], 20)
	submit(nodes[1], 20)
	if mails, repeated := mailTotals(to); mails != sent || repeated != 0 {
		t.Errorf("%d mails about %d responses, %d again", mails, sent, repeated)
	}
	nodes[0].kill()
	start := time.Now()
	submit(nodes[1], 1)
	reportFigure(t, "node that sends email killed", "the other continues after %v", time.Since(start).Round(time.Millisecond))
	nodes[1].stop()
	if mails, _ := mailTotals(to); mails != sent {
		t.Errorf("%d mails about %d responses", mails, sent)
	}
}
