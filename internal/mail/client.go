package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/textproto"
	"os"
	"strings"
	"sync"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// Limits of connections.
const (
	// timeout is how long a connection attempt, and then each mail, may take.
	timeout = 30 * time.Second
	// maxIdle is how long an unused connection stays open. Servers close them too.
	maxIdle = 10 * time.Second
	// mailsPerConnection is after how many mails a connection is replaced, because servers
	// limit them.
	mailsPerConnection = 1000
)

// Failure is why a mail was not sent.
type Failure struct {
	Code       int    // of the server's answer; 0: there was none
	Text       string // for people
	Permanent  bool   // trying again is pointless
	BadAddress bool   // the address does not exist
	outage     bool
}

func (f *Failure) Error() string { return f.Text }

// IsOutage reports whether the server cannot be used at all, which says nothing about the mail.
func IsOutage(err error) bool {
	f, ok := errors.AsType[*Failure](err)
	return ok && f.outage
}

// Client sends mails to a server. It keeps connections open for the next mails.
type Client struct {
	server  Server
	from    netmail.Address
	timeout time.Duration

	mu   sync.Mutex
	idle []*connection
}

// NewClient returns a Client that sends in the name of an address.
func NewClient(server Server, from netmail.Address) *Client {
	return &Client{server: server, from: from, timeout: timeout}
}

// From is the address that mails are from.
func (c *Client) From() netmail.Address { return c.from }

// connection is used for one mail after the other.
type connection struct {
	raw    net.Conn
	dialer *gomail.Client
	smtp   *smtp.Client
	used   time.Time
	mails  int
}

// Send sends a mail. Its error is a *Failure. When ctx ends, it breaks off.
func (c *Client) Send(ctx context.Context, m Message) error {
	encoded, err := m.encode(c.from)
	if err != nil {
		return &Failure{Text: err.Error(), Permanent: true}
	}
	for {
		conn, err := c.take(ctx)
		if err != nil {
			return failure(err)
		}
		reused := conn.mails > 0
		err = conn.send(ctx, encoded)
		if err == nil {
			c.put(conn)
			return nil
		}
		f := failure(err)
		if f != errNoUTF8 && (f.Code == 0 || f.Code == 421) {
			conn.raw.Close()
		} else {
			c.put(conn)
		}
		// The server may have closed a connection that was unused. It has not seen the mail.
		if !reused || f.Code != 0 || !isBeforeContent(err) || ctx.Err() != nil {
			return f
		}
	}
}

// errNoUTF8 is about addresses such as jürgen@example.com.
var errNoUTF8 = &Failure{Text: "the mail server does not accept addresses with such letters before the @ (SMTPUTF8)", Permanent: true}

// send sends a mail over the connection.
func (k *connection) send(ctx context.Context, m *gomail.Msg) error {
	k.mails++
	needsUTF8 := false
	for _, to := range m.GetTo() {
		needsUTF8 = needsUTF8 || !isASCII(to.Address)
	}
	if ok, _ := k.smtp.Extension("SMTPUTF8"); needsUTF8 && !ok {
		return errNoUTF8
	}
	// A mail that asks for it cannot pass servers that do not know it.
	k.smtp.SkipSMTPUTF8(!needsUTF8)
	stop := context.AfterFunc(ctx, func() { k.raw.Close() })
	defer stop()
	err := k.dialer.SendWithSMTPClient(k.smtp, m)
	if err != nil && m.IsDelivered() {
		return nil // it was accepted, and only what followed failed
	}
	return err
}

// take returns a connection for one mail.
func (c *Client) take(ctx context.Context) (*connection, error) {
	c.mu.Lock()
	for len(c.idle) > 0 {
		last := len(c.idle) - 1
		conn := c.idle[last]
		c.idle = c.idle[:last]
		if time.Since(conn.used) < maxIdle {
			c.mu.Unlock()
			return conn, nil
		}
		conn.raw.Close()
	}
	c.mu.Unlock()
	return c.dial(ctx)
}

// put keeps a connection for the next mail.
func (c *Client) put(conn *connection) {
	if conn.mails >= mailsPerConnection {
		conn.close()
		return
	}
	conn.used = time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = append(c.idle, conn)
}

// CloseIdle closes connections that were not used for a while; all of them if all is true.
func (c *Client) CloseIdle(all bool) {
	c.mu.Lock()
	var old []*connection
	keep := c.idle[:0]
	for _, conn := range c.idle {
		if all || time.Since(conn.used) >= maxIdle {
			old = append(old, conn)
		} else {
			keep = append(keep, conn)
		}
	}
	c.idle = keep
	c.mu.Unlock()
	for _, conn := range old {
		conn.close()
	}
}

// close says goodbye to the server.
func (k *connection) close() {
	k.raw.SetDeadline(time.Now().Add(time.Second))
	k.smtp.Quit()
	k.raw.Close()
}

// dial connects, encrypts and authenticates.
func (c *Client) dial(ctx context.Context) (*connection, error) {
	conn := &connection{}
	config := &tls.Config{ServerName: c.server.Host, RootCAs: c.server.RootCAs, MinVersion: tls.VersionTLS12}
	options := []gomail.Option{
		gomail.WithPort(c.server.Port), gomail.WithTimeout(c.timeout), gomail.WithTLSConfig(config), gomail.WithHELO(helloName()),
		gomail.WithoutNoop(), gomail.WithoutRset(),
		gomail.WithDialContextFunc(func(ctx context.Context, network, address string) (net.Conn, error) {
			raw, err := (&net.Dialer{}).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			conn.raw = raw
			if c.server.Security != ImplicitTLS {
				return raw, nil
			}
			secured := tls.Client(raw, config)
			return secured, secured.HandshakeContext(ctx)
		}),
	}
	switch c.server.Security {
	case StartTLS:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	case ImplicitTLS:
		options = append(options, gomail.WithSSL())
	case NoTLS:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	}
	if c.server.User != "" {
		options = append(options, gomail.WithUsername(c.server.User), gomail.WithPassword(c.server.Password), gomail.WithOpportunisticSMTPAuth(c.mechanisms()...))
	}
	var err error
	if conn.dialer, err = gomail.NewClient(c.server.Host, options...); err != nil {
		return nil, fmt.Errorf("configure SMTP: %w", err)
	}
	stop := context.AfterFunc(ctx, func() {
		if conn.raw != nil {
			conn.raw.Close()
		}
	})
	defer stop()
	if conn.smtp, err = conn.dialer.DialToSMTPClientWithContext(ctx); err != nil {
		if conn.raw != nil {
			conn.raw.Close()
		}
		return nil, connectError{err}
	}
	return conn, nil
}

// mechanisms are ways to authenticate, the best first. Without encryption, which somebody has
// asked for, a password can be sent readably.
func (c *Client) mechanisms() []gomail.SMTPAuthType {
	list := []gomail.SMTPAuthType{gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthSCRAMSHA1, gomail.SMTPAuthCramMD5}
	if c.server.Security == NoTLS {
		return append(list, gomail.SMTPAuthPlainNoEnc, gomail.SMTPAuthLoginNoEnc)
	}
	return append(list, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin)
}

func helloName() string {
	if name, err := os.Hostname(); err == nil && name != "" {
		return name
	}
	return "localhost"
}

// connectError is why a server cannot be used now. That says nothing about a mail.
type connectError struct{ error }

func (e connectError) Unwrap() error { return e.error }

// isBeforeContent reports whether the server cannot have accepted the mail.
func isBeforeContent(err error) bool {
	e, ok := errors.AsType[*gomail.SendError](err)
	return ok && (e.Reason == gomail.ErrConnCheck || e.Reason == gomail.ErrSMTPMailFrom || e.Reason == gomail.ErrSMTPRcptTo || e.Reason == gomail.ErrSMTPData)
}

// failure says what an error means for the mail.
func failure(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	f := &Failure{Text: err.Error()}
	if _, ok := errors.AsType[connectError](err); ok {
		f.outage = true
		if p, ok := errors.AsType[*textproto.Error](err); ok {
			f.Code = p.Code
		}
		return f
	}
	e, ok := errors.AsType[*gomail.SendError](err)
	if !ok {
		return f
	}
	f.Code = e.ErrorCode()
	// The rest names the recipient and the mail.
	f.Text, _, _ = strings.Cut(f.Text, ", affected ")
	switch {
	case f.Code == 530 || f.Code >= 534 && f.Code <= 538: // authentication, which can be corrected
	case f.Code >= 500:
		f.Permanent = true
		f.BadAddress = e.Reason == gomail.ErrSMTPRcptTo && !strings.HasPrefix(e.EnhancedStatusCode(), "5.7.")
	}
	return f
}
