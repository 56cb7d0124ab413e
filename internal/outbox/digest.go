package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"formulary/internal/id"
	"formulary/internal/mail"
	"formulary/internal/store"
)

// digestData says which responses a digest is about.
type digestData struct {
	After, Until string // positions
	Count        int64
	Daily        bool
}

// dailyHour is when digests of a day are sent, in the time zone of the owner.
const dailyHour = 8

// digestTime returns when the digest is due whose first response was submitted at a time.
func digestTime(when store.Frequency, first time.Time, zone *time.Location) time.Time {
	if when == store.NotifyHourly {
		return first.Truncate(time.Hour).Add(time.Hour)
	}
	local := first.In(zone)
	at := time.Date(local.Year(), local.Month(), local.Day(), dailyHour, 0, 0, 0, zone)
	if !at.After(first) {
		at = time.Date(local.Year(), local.Month(), local.Day()+1, dailyHour, 0, 0, 0, zone)
	}
	return at
}

func (s *Service) renderDigest(ctx context.Context, f *source, m store.Mail, link *store.RecipientLink) (mail.Message, error) {
	var d digestData
	if err := json.Unmarshal([]byte(m.Data), &d); err != nil {
		return mail.Message{}, fmt.Errorf("parse digest: %w", err)
	}
	list, err := s.Store.NewestResponses(ctx, m.Account, m.FormID, store.EventRange{After: d.After, Until: d.Until, Limit: digestResponses})
	if err != nil {
		return mail.Message{}, err
	}
	if len(list) == 0 {
		return mail.Message{}, errGone
	}
	entries := make([]entry, len(list))
	for i, r := range list {
		if entries[i], err = s.entry(ctx, m.Account, r); err != nil {
			return mail.Message{}, err
		}
	}
	return s.digestOf(f, d, entries, link)
}

// digestOf writes the mail about several responses, of which entries are the newest.
func (s *Service) digestOf(f *source, d digestData, entries []entry, link *store.RecipientLink) (mail.Message, error) {
	t := s.Writer.Texts(f.owner.Language)
	u := s.urls(f, link)
	kind := mail.Digest{FormTitle: f.form.Title, Count: max(d.Count, int64(len(entries))), Daily: d.Daily, URLs: u}
	for _, e := range entries {
		answers, _ := e.list(t, nil)
		answers = answers[:min(len(answers), digestAnswers)]
		for i := range answers {
			answers[i].Answer = mail.CleanLine(answers[i].Answer, maxDigestAnswer)
		}
		kind.Newest = append(kind.Newest, mail.Group{Title: t.DateTime(e.SubmittedAt, f.zone()), URL: u.Responses + "/" + e.ID, Answers: answers})
	}
	out, err := s.Writer.Write(kind, f.owner.Language)
	out.Thread, out.Unsubscribe = f.form.ID, u.Unsubscribe
	return out, err
}

// digest puts a digest into the queue if one is due. It returns when the next one is; zero: when
// there are responses.
func (s *Service) digest(ctx context.Context, owner string, m store.FormMail) (time.Time, error) {
	first, err := s.Store.FirstResponseAfter(ctx, owner, m.FormID, m.DigestPosition)
	if err != nil || first.IsZero() {
		return time.Time{}, err
	}
	f, err := s.source(ctx, owner, m.FormID)
	if err != nil {
		return time.Time{}, err
	}
	now := s.Now()
	if due := digestTime(m.Frequency, first, f.zone()); now.Before(due) {
		return due, nil
	}
	n, last, err := s.Store.CountResponsesAfter(ctx, owner, m.FormID, m.DigestPosition)
	if err != nil || n == 0 {
		return time.Time{}, err
	}
	data, err := json.Marshal(digestData{After: m.DigestPosition, Until: last, Count: n, Daily: m.Frequency == store.NotifyDaily})
	if err != nil {
		return time.Time{}, err
	}
	c := store.FormMailCommit{FormID: m.FormID, From: m.DigestPosition, Position: last, Digest: true}
	for _, link := range f.recipients {
		c.Mails = append(c.Mails, store.Mail{
			ID: id.New(id.Mail, now), Kind: mail.Digest{}.Name(), FormID: m.FormID, Recipient: link.Email, Language: f.owner.Language, Data: string(data), CreatedAt: now,
		})
	}
	return time.Time{}, s.queueMails(ctx, owner, c)
}
