package outbox

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/mail"
	"formulary/internal/markdown"
	"formulary/internal/store"
)

// source is what mails about the responses of a form have in common.
type source struct {
	form       form.Form
	owner      account.User
	recipients []store.RecipientLink
	receipt    store.Receipt
	when       store.Frequency
}

// sourceBytes is the size of the cache of sources.
const sourceBytes = 4 << 20

// source reads a form and its settings. They change rarely, and there can be many mails.
func (s *Service) source(ctx context.Context, owner, formID string) (*source, error) {
	key := owner + formID
	found, generation, ok := s.sources.Get(owner, key)
	if ok {
		return found, nil
	}
	var err error
	f := &source{}
	if f.form, err = s.Store.Form(ctx, owner, formID); err != nil {
		return nil, err
	}
	if f.owner, err = s.Store.User(ctx, owner); err != nil {
		return nil, err
	}
	if f.recipients, err = s.Store.FormRecipients(ctx, owner, formID); err != nil {
		return nil, err
	}
	if f.receipt, err = s.Store.Receipt(ctx, owner, formID); err != nil {
		return nil, err
	}
	notifications, err := s.Store.Notifications(ctx, owner, formID)
	if err != nil {
		return nil, err
	}
	f.when = notifications.When
	s.sources.Put(key, generation, f, int64(2048+len(f.receipt.Text)))
	return f, nil
}

func (f *source) zone() *time.Location {
	if zone, err := time.LoadLocation(f.owner.TimeZone); err == nil {
		return zone
	}
	return time.UTC
}

// urls returns the addresses in mails to a recipient.
func (s *Service) urls(f *source, link *store.RecipientLink) mail.FormURLs {
	page := s.BaseURL + "/forms/" + f.form.ID
	u := mail.FormURLs{Responses: page + "/responses", Settings: page + "/connect/notify"}
	if link != nil {
		u.Unsubscribe = s.BaseURL + UnsubscribePath + "?k=" + link.String()
	}
	return u
}

// Paths of pages that links in mails lead to.
const (
	UnsubscribePath      = "/notifications/unsubscribe"
	ConfirmRecipientPath = "/notifications/confirm"
)

// Limits of what is in a mail. Some mail programs show about 100 KB.
const (
	maxAnswer       = 4 << 10  // bytes of one answer
	maxAnswers      = 96 << 10 // of all questions and answers, with the HTML around them
	rowBytes        = 600      // of the HTML around one answer
	maxReceipt      = 64 << 10 // of the text of a receipt, with the answers in it
	maxDigestAnswer = 200      // characters of one answer in a digest
	digestResponses = 10
	digestAnswers   = 4
)

// entry is a response with the questions that it answers.
type entry struct {
	form.Response
	definition *form.Definition
	answers    map[string]any
}

// entry reads the questions of a response.
func (s *Service) entry(ctx context.Context, owner string, r form.Response) (entry, error) {
	answers, err := r.Answers()
	if err != nil {
		return entry{}, err
	}
	definition, err := s.Store.Definition(ctx, owner, r.FormID, r.Version)
	return entry{r, definition, answers}, gone(err)
}

// response reads the response that a mail is about.
func (s *Service) response(ctx context.Context, m store.Mail) (entry, error) {
	r, err := s.Store.Response(ctx, m.Account, m.FormID, m.ResponseID)
	if err != nil {
		return entry{}, gone(err)
	}
	return s.entry(ctx, m.Account, r)
}

// texts inserts answers into texts.
func (e entry) texts(t mail.Texts) *form.Interpolator {
	return e.definition.NewInterpolator(func(f *form.Field, key string) string { return cut(t.FormatAnswer(f, e.answers[key]), maxAnswer) })
}

// list returns the answers in the order of the form, without that to one question, which can be
// nil. more says whether there are others.
func (e entry) list(t mail.Texts, without *form.Field) (list []mail.Answer, more bool) {
	texts := e.texts(t)
	size := 0
	for _, field := range e.definition.Fields {
		value, ok := e.answers[field.Key]
		if !ok || !field.HasAnswer() || field == without {
			continue
		}
		a := mail.Answer{Question: texts.Text(field.Label, nil), Answer: cut(t.FormatAnswer(field, value), maxAnswer)}
		if size += len(a.Question) + len(a.Answer) + rowBytes; size > maxAnswers {
			return list, true
		}
		list = append(list, a)
	}
	return list, false
}

// cut cuts a text after some bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// address returns the first email address in the answers, or that with a key.
func (e entry) address(key string) string {
	for _, f := range e.definition.Fields {
		if !f.Traits().Email || key != "" && f.Key != key {
			continue
		}
		if text, ok := e.answers[f.Key].(string); ok {
			if parsed, err := account.ParseEmail(text); err == nil && parsed == text {
				return text
			}
		}
	}
	return ""
}

// gone turns "not found" into errGone: what a mail is about was deleted.
func gone(err error) error {
	if errors.Is(err, fault.NotFound) {
		return errGone
	}
	return err
}

// errMoving: the mail is about a form that is on its way to another space, as the mail is.
var errMoving = errors.New("the form is being moved to another space")

// renderForm writes a mail about responses of a form.
func (s *Service) renderForm(ctx context.Context, m store.Mail) (mail.Message, error) {
	message, err := s.renderMailOf(ctx, m)
	if errors.Is(err, errGone) && s.Store.IsMoved(ctx, m.Account, m.FormID) {
		err = errMoving
	}
	return message, err
}

func (s *Service) renderMailOf(ctx context.Context, m store.Mail) (mail.Message, error) {
	f, err := s.source(ctx, m.Account, m.FormID)
	if err != nil {
		return mail.Message{}, gone(err)
	}
	if m.Kind == (mail.Receipt{}).Name() {
		return s.renderReceipt(ctx, f, m)
	}
	at := slices.IndexFunc(f.recipients, func(l store.RecipientLink) bool {
		return account.EmailKey(l.Email) == account.EmailKey(m.Recipient)
	})
	if at < 0 || f.when == store.NotifyOff {
		return mail.Message{}, errGone // unsubscribed or turned off since
	}
	if m.Kind == (mail.Digest{}).Name() {
		return s.renderDigest(ctx, f, m, &f.recipients[at])
	}
	return s.renderNotification(ctx, f, m, &f.recipients[at])
}

func (s *Service) renderNotification(ctx context.Context, f *source, m store.Mail, link *store.RecipientLink) (mail.Message, error) {
	e, err := s.response(ctx, m)
	if err != nil {
		return mail.Message{}, err
	}
	return s.notification(f, e, link)
}

// notification writes the mail about a response.
func (s *Service) notification(f *source, e entry, link *store.RecipientLink) (mail.Message, error) {
	t := s.Writer.Texts(f.owner.Language)
	u := s.urls(f, link)
	respondent, name := e.respondent(t)
	kind := mail.Notification{
		FormTitle: f.form.Title, Respondent: respondent, Email: e.address(""), SubmittedAt: e.SubmittedAt, Zone: f.zone(), URLs: u, ResponseURL: u.Responses + "/" + e.ID,
	}
	kind.Answers, kind.More = e.list(t, name)
	out, err := s.Writer.Write(kind, f.owner.Language)
	// An owner can answer the respondent.
	out.ReplyTo, out.Thread, out.Unsubscribe = kind.Email, f.form.ID, u.Unsubscribe
	return out, err
}

// maxRespondent is how many characters a heading has.
const maxRespondent = 80

// respondent returns what an owner knows a respondent by: the name, or else the first answer if it
// is a line of text, or else the email address. If it is a name, question is the one for it.
func (e entry) respondent(t mail.Texts) (heading string, question *form.Field) {
	first := ""
	for i, f := range e.definition.Fields {
		answer, ok := e.answers[f.Key]
		if !ok || f.Traits().Hidden {
			continue
		}
		if isName(f) {
			return mail.CleanLine(t.FormatAnswer(f, answer), maxRespondent), f
		}
		if text, ok := answer.(string); ok && i == 0 && isLine(f) {
			first = text
		}
	}
	return mail.CleanLine(cmp.Or(first, e.address("")), maxRespondent), nil
}

// isName reports whether the answers are names of people.
func isName(f *form.Field) bool {
	parts := f.Traits().Parts
	return parts != nil && slices.EqualFunc(parts(f), form.NameParts, func(o form.Option, part string) bool { return o.Value == part })
}

// isLine reports whether respondents type one line of text.
func isLine(f *form.Field) bool {
	t := f.Traits()
	return !t.Multiline && !t.Calculated && t.TimeLayout == "" && t.Options == nil && len(f.Options) == 0
}

func (s *Service) renderReceipt(ctx context.Context, f *source, m store.Mail) (mail.Message, error) {
	if !f.receipt.Active {
		return mail.Message{}, errGone
	}
	e, err := s.response(ctx, m)
	if err != nil {
		return mail.Message{}, err
	}
	return s.receipt(f, f.receipt, e)
}

// receipt writes the mail to the respondent, in the language of the form.
func (s *Service) receipt(f *source, settings store.Receipt, e entry) (mail.Message, error) {
	t := s.Writer.Texts(f.form.Language)
	texts := e.texts(t)
	kind := mail.Receipt{FormTitle: f.form.Title, Design: e.definition.Design, Subject: mail.CleanLine(texts.Text(settings.Subject, nil), MaxReceiptSubject), Text: cut(texts.Text(settings.Text, nil), maxReceipt)}
	var err error
	if settings.Text != "" {
		if kind.HTML, err = s.markdown.Render(cut(texts.Text(settings.Text, markdown.Quote), maxReceipt)); err != nil {
			return mail.Message{}, err
		}
	}
	if settings.Answers {
		kind.Answers, kind.More = e.list(t, nil)
	}
	out, err := s.Writer.Write(kind, f.form.Language)
	if !f.owner.EmailVerifiedAt.IsZero() {
		out.ReplyTo = f.owner.Email
	}
	return out, err
}
