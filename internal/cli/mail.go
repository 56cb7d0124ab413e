package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	netmail "net/mail"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"formulary/internal/account"
	"formulary/internal/id"
	"formulary/internal/locale"
	"formulary/internal/mail"
	"formulary/internal/outbox"
	"formulary/internal/server"
	"formulary/internal/store"
)

// mailSettings say how mails are sent.
type mailSettings struct {
	SMTPURL     string `name:"smtp-url" env:"FORMULARY_SMTP_URL" help:"SMTP server, such as smtp://user:password@mail.example.com:587 or smtps://…; add ?tls=none for a server without TLS. If empty, no mails are sent." placeholder:"URL"`
	SMTPURLFile string `name:"smtp-url-file" env:"FORMULARY_SMTP_URL_FILE" help:"File to read the SMTP URL from." placeholder:"FILE"`
	MailFrom    string `env:"FORMULARY_MAIL_FROM" help:"Sender of mails, such as 'Forms <forms@example.com>'." placeholder:"ADDRESS"`
}

// client returns a client for the SMTP server; nil if there is none.
func (c mailSettings) client(base string) (*mail.Client, error) {
	text := c.SMTPURL
	if c.SMTPURLFile != "" {
		if text != "" {
			return nil, errors.New("set either the SMTP URL or the SMTP URL file, not both")
		}
		content, err := os.ReadFile(c.SMTPURLFile)
		if err != nil {
			return nil, fmt.Errorf("SMTP URL file: %w", err)
		}
		text = strings.TrimSpace(string(content))
	}
	from, err := c.sender(base)
	if err != nil {
		return nil, err
	}
	if text == "" {
		return nil, nil
	}
	server, err := mail.ParseServer(text)
	if err != nil {
		return nil, fmt.Errorf("FORMULARY_SMTP_URL: %w", err)
	}
	return mail.NewClient(server, from), nil
}

// sender is who mails are from. Without a setting, it has the domain of the base URL.
func (c mailSettings) sender(base string) (netmail.Address, error) {
	if c.MailFrom == "" {
		host := "localhost"
		if u, err := url.Parse(base); err == nil && u.Hostname() != "" {
			host = u.Hostname()
		}
		return netmail.Address{Name: "Formulary", Address: "formulary@" + host}, nil
	}
	from, err := mail.ParseSender(c.MailFrom)
	if err != nil {
		return from, fmt.Errorf("FORMULARY_MAIL_FROM: %w", err)
	}
	return from, nil
}

// outboxParts are what serve has opened before mails can be sent.
type outboxParts struct {
	store  *store.Store
	sealer *account.Sealer
	base   string
	leases outbox.Leases
	log    *slog.Logger
}

// outbox returns what sends mails. In the demo nothing is sent.
func (c serveCommand) outbox(p outboxParts) (*outbox.Service, error) {
	client, err := c.client(p.base)
	if err != nil {
		return nil, err
	}
	if client != nil && p.sealer == nil {
		return nil, errors.New("mail needs FORMULARY_SECRET_KEY: links that reset passwords are encrypted until they are sent")
	}
	if c.Demo {
		client = nil
	}
	writer, err := newMailWriter()
	if err != nil {
		return nil, err
	}
	return outbox.New(outbox.Config{
		Store: p.store, Client: client, Writer: writer, Sealer: p.sealer, BaseURL: p.base, Log: p.log, Now: time.Now, Leases: p.leases,
	}), nil
}

func newMailWriter() (*mail.Writer, error) {
	languages, err := locale.Load()
	if err != nil {
		return nil, err
	}
	return mail.NewWriter(languages)
}

// runOutbox sends mails until ctx ends. What it returns ends ctx and waits for mails on their
// way.
func runOutbox(ctx context.Context, stop context.CancelFunc, s *outbox.Service) (wait func()) {
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	return func() {
		stop()
		running.Wait()
	}
}

func addMailMetrics(m *server.Metrics, s *outbox.Service) {
	m.Add(
		server.Metric{Name: "formulary_mail_sent_total", Kind: "counter", Help: "Mails that the SMTP server accepted.",
			Value: func() float64 { return float64(s.Stats().Sent) }},
		server.Metric{Name: "formulary_mail_failed_total", Kind: "counter", Help: "Attempts to send a mail that failed.",
			Value: func() float64 { return float64(s.Stats().Failed) }},
		server.Metric{Name: "formulary_mail_skipped_total", Kind: "counter", Help: "Mails left out because a server had refused their address.",
			Value: func() float64 { return float64(s.Stats().Skipped) }},
		server.Metric{Name: "formulary_mail_waiting", Kind: "gauge", Help: "Mails waiting to be sent.",
			Value: func() float64 { return float64(s.Stats().Waiting) }},
		server.Metric{Name: "formulary_mail_lag_seconds", Kind: "gauge", Help: "How long the oldest mail that is due has been waiting.",
			Value: func() float64 { return s.Stats().Lag.Seconds() }},
	)
}

type mailCommands struct {
	Test mailTest `cmd:"" help:"Send a mail to an address, at once."`
}

type mailTest struct {
	mailSettings `embed:""`
	Address      string `arg:"" help:"Address to send the mail to."`
	Language     string `default:"en" help:"Language of the mail, such as de." placeholder:"TAG"`
}

// mailTestLimit is how long sending a test mail may take.
const mailTestLimit = time.Minute

func (c mailTest) Run(ctx context.Context, storage Storage, io streams) error {
	ctx, cancel := context.WithTimeout(ctx, mailTestLimit)
	defer cancel()
	address, err := account.ParseEmail(c.Address)
	if err != nil {
		return fmt.Errorf("%q is not an email address", c.Address)
	}
	client, err := c.client(storage.BaseURL)
	if err != nil {
		return err
	}
	if client == nil {
		return errors.New("mail is off: set FORMULARY_SMTP_URL")
	}
	writer, err := newMailWriter()
	if err != nil {
		return err
	}
	now := time.Now()
	message, err := writer.Write(mail.Test{BaseURL: storage.BaseURL}, c.Language)
	if err != nil {
		return err
	}
	message.ID, message.To, message.Date = id.New(id.Mail, now), address, now
	defer client.CloseIdle(true)
	if err := client.Send(ctx, message); err != nil {
		return fmt.Errorf("could not send: %w", err)
	}
	from := client.From()
	fmt.Fprintf(io.out, "Sent an email from %s to %s.\n", from.String(), address)
	return nil
}
