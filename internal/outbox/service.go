// Package outbox sends mails. They wait in the database, in the queue of an account, from the
// transaction that caused them until an SMTP server has accepted them. Notifications and receipts
// get there through readers of the responses of forms, so submissions pay nothing for them.
//
// A mail is sent again if it is not known whether the server has accepted it. Its Message-ID
// stays the same.
package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/mail"
	"formulary/internal/markdown"
	"formulary/internal/store"
)

// Config holds the dependencies of a Service.
type Config struct {
	Store   *store.Store
	Client  *mail.Client // nil: mails are not sent but kept, for administrators to see
	Writer  *mail.Writer
	Sealer  *account.Sealer // encrypts mails with secrets; nil: there is no key
	BaseURL string
	Log     *slog.Logger
	Now     func() time.Time
	Leases  Leases
	// Schedule replaces the times between attempts, for tests; nil: they are Schedule.
	Schedule []time.Duration
}

// Leases says for which accounts this node works in the background.
type Leases interface {
	Holds(owner string) bool
	LeaseChanges() int64
	// Yields reports whether submissions need the processors.
	Yields() bool
}

// Service puts mails into the queue, and sends them.
type Service struct {
	Config
	markdown markdown.Renderer
	metrics  metrics
	outage   outage
	jobs     chan *job
	reads    chan struct{} // bounds the accounts that are read at a time
	sources  *store.Cache[string, *source]
	stopping atomic.Bool

	mu      sync.Mutex
	queues  map[string]*queue  // accounts with mails that wait
	readers map[string]*reader // accounts whose forms send mails
}

// New returns a Service.
func New(c Config) *Service {
	return &Service{
		Config: c, markdown: markdown.New(), jobs: make(chan *job), reads: make(chan struct{}, maxReads), sources: store.NewCache[string, *source](c.Store, sourceBytes),
		queues: map[string]*queue{}, readers: map[string]*reader{},
	}
}

// IsOn reports whether mails are sent. Otherwise they are kept for administrators.
func (s *Service) IsOn() bool { return s.Client != nil }

// Recipient is who gets a mail, and in which language.
type Recipient struct {
	Address  string
	Language string
}

var errNoKey = fault.New(fault.Internal, "Email is not set up: the administrator must set FORMULARY_SECRET_KEY.")

// Prepare returns a mail that a method of the store puts into the queue, with what causes it.
func (s *Service) Prepare(to Recipient, kind mail.Kind) (store.Mail, error) {
	now := s.Now()
	m := store.Mail{ID: id.New(id.Mail, now), Kind: kind.Name(), Recipient: to.Address, Language: to.Language, Urgent: mail.IsUrgent(kind), CreatedAt: now}
	data, err := json.Marshal(kind)
	if err != nil {
		return m, fmt.Errorf("encode mail: %w", err)
	}
	m.Data = string(data)
	if mail.HasSecret(kind) {
		if s.Sealer == nil {
			return m, errNoKey
		}
		m.Data = s.Sealer.Seal(m.Data, m.ID)
	}
	return m, nil
}

// Enqueue puts a mail into the queue of an account that no other change causes.
func (s *Service) Enqueue(ctx context.Context, owner string, to Recipient, kind mail.Kind) error {
	m, err := s.Prepare(to, kind)
	if err != nil {
		return err
	}
	return s.Store.AddMail(ctx, owner, m)
}

// errGone says that there is nothing to say any more.
var errGone = errors.New("what the mail is about is deleted")

// IsGone reports whether a mail cannot be written any more, because what it is about is deleted.
func IsGone(err error) bool { return errors.Is(err, errGone) }

// load returns what a mail from the queue is about.
func (s *Service) load(m store.Mail) (mail.Kind, error) {
	data := m.Data
	kind, err := mail.ParseKind(m.Kind, []byte("{}"))
	if err != nil {
		return nil, err
	}
	if mail.HasSecret(kind) {
		if s.Sealer == nil {
			return nil, errNoKey
		}
		if data == "" {
			return nil, errGone
		}
		if data, err = s.Sealer.Open(data, m.ID); err != nil {
			return nil, err
		}
	}
	if kind, err = mail.ParseKind(m.Kind, []byte(data)); err == nil && m.Status == store.MailWaiting && mail.IsExpired(kind, s.Now()) {
		return nil, errGone
	}
	return kind, err
}

// Render writes a mail from the queue as it would be sent now.
func (s *Service) Render(ctx context.Context, m store.Mail) (mail.Message, error) {
	var out mail.Message
	var err error
	switch m.Kind {
	case mail.Notification{}.Name(), mail.Digest{}.Name(), mail.Receipt{}.Name():
		out, err = s.renderForm(ctx, m)
	case mail.WebhookDisabled{}.Name():
		out, err = s.renderWebhookDisabled(ctx, m)
	default:
		var kind mail.Kind
		if kind, err = s.load(m); err == nil {
			switch k := kind.(type) {
			case *mail.StorageFull:
				k.BaseURL = s.BaseURL
			case *mail.Retention:
				k.BaseURL = s.BaseURL
			}
			out, err = s.Writer.Write(kind, m.Language)
		}
	}
	out.ID, out.To, out.Date = m.ID, m.Recipient, m.CreatedAt
	return out, err
}

// Preview writes a mail that nobody gets.
func (s *Service) Preview(kind mail.Kind, language string) (mail.Message, error) {
	return s.Writer.Write(kind, language)
}
