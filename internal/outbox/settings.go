package outbox

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/mail"
	"formulary/internal/store"
)

// SetNotifications changes who is notified of a form's responses, and how often. Addresses that
// nobody has confirmed are asked first.
func (s *Service) SetNotifications(ctx context.Context, owner, formID string, change store.NotificationChange) (n store.Notifications, err error) {
	if !slices.Contains(store.Frequencies, change.When) {
		return n, fault.InvalidField("when", "%q is not valid; use each, hourly, daily or off", change.When)
	}
	change.Confirm, err = s.confirmation(ctx, owner, formID)
	if err != nil {
		return n, err
	}
	return s.Store.SetNotifications(ctx, owner, formID, change, s.Now())
}

// AskRecipientAgain sends the mail once more that asks an address to confirm.
func (s *Service) AskRecipientAgain(ctx context.Context, owner, formID, email string) error {
	confirm, err := s.confirmation(ctx, owner, formID)
	if err != nil {
		return err
	}
	return s.Store.AskRecipientAgain(ctx, owner, formID, email, confirm)
}

// confirmation returns a function that writes the mail that asks an address to confirm.
func (s *Service) confirmation(ctx context.Context, owner, formID string) (func(store.RecipientLink) (store.Mail, error), error) {
	f, err := s.Store.Form(ctx, owner, formID)
	if err != nil {
		return nil, err
	}
	user, err := s.Store.User(ctx, owner)
	if err != nil {
		return nil, err
	}
	return func(link store.RecipientLink) (store.Mail, error) {
		m, err := s.Prepare(Recipient{link.Email, user.Language}, mail.ConfirmRecipient{
			FormTitle: mail.CleanLine(f.Title, maxTitle), Owner: mail.CleanLine(user.DisplayName(), maxTitle), URL: s.BaseURL + ConfirmRecipientPath + "?k=" + link.String(),
		})
		m.FormID = formID
		return m, err
	}, nil
}

// maxTitle is how many characters of a title strangers get to see.
const maxTitle = 100

// Limits of a receipt, in characters.
const (
	MaxReceiptSubject = 200
	MaxReceiptText    = 10_000
)

// SetReceipt changes the mail that respondents get.
func (s *Service) SetReceipt(ctx context.Context, owner, formID string, r store.ReceiptChange) error {
	if err := s.CheckReceipt(ctx, owner, formID, r.Receipt); err != nil {
		return err
	}
	return s.Store.SetReceipt(ctx, owner, formID, r, s.Now())
}

// CheckReceipt returns an error that names what is wrong with a receipt. Its keys must be those
// of the draft, or of what is published.
func (s *Service) CheckReceipt(ctx context.Context, owner, formID string, r store.Receipt) error {
	f, draft, err := s.Store.FormDraft(ctx, owner, formID)
	if err != nil {
		return err
	}
	definitions := []*form.Definition{draft}
	if f.Version > 0 {
		live, err := s.Store.Definition(ctx, owner, formID, f.Version)
		if err != nil {
			return err
		}
		definitions = append(definitions, live)
	}
	var details []fault.Detail
	isAddress := func(d *form.Definition) bool { q := d.Field(r.Field); return q != nil && q.Traits().Email }
	if (r.Active || r.Field != "") && !slices.ContainsFunc(definitions, isAddress) {
		details = append(details, fault.NewDetail("field", "enter the key of a question for an email address"))
	}
	if !account.IsSingleLine(r.Subject) {
		details = append(details, fault.NewDetail("subject", "enter the subject on one line"))
	}
	if !utf8.ValidString(r.Text) || strings.Contains(r.Text, "\x00") {
		details = append(details, fault.NewDetail("text", "remove characters that are not text"))
	}
	for _, part := range []struct {
		field, text string
		most        int
	}{{"subject", r.Subject, MaxReceiptSubject}, {"text", r.Text, MaxReceiptText}} {
		if utf8.RuneCountInString(part.text) > part.most {
			details = append(details, fault.NewDetail(part.field, "use %d characters or fewer", part.most))
		}
		if unknown := unknownPipes(definitions, part.text); unknown != "" {
			details = append(details, fault.NewDetail(part.field, "{{%s}} is not the key of a question", unknown))
		}
	}
	if len(details) > 0 {
		return fault.InvalidFields(details...)
	}
	if !r.Active {
		return nil
	}
	user, err := s.Store.User(ctx, owner)
	if err == nil && user.EmailVerifiedAt.IsZero() {
		err = errUnconfirmed
	}
	return err
}

var errUnconfirmed = fault.InvalidField("active", "confirm your email address first: respondents can reply to it")

// unknownPipes returns a key in a text that no definition has.
func unknownPipes(definitions []*form.Definition, text string) string {
	unknown := definitions[0].UnknownPipes(text)
	for _, d := range definitions[1:] {
		other := d.UnknownPipes(text)
		unknown = slices.DeleteFunc(unknown, func(key string) bool { return !slices.Contains(other, key) })
	}
	if len(unknown) == 0 {
		return ""
	}
	return unknown[0]
}
