package mailtest

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/mail"
	"os"
	"strconv"
	"strings"
	"sync"

	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// config is what the process of the server is told.
type config struct {
	Address     string // to listen on
	Implicit    bool   // TLS from the start
	Plain       bool   // without TLS
	CertFile    string
	KeyFile     string
	User        string // empty: without authentication
	Password    string
	Greeting    int // code that refuses every connection; 0: none is refused
	DiscardText bool
	WithoutUTF8 bool
}

// report is a line that the server prints.
type report struct {
	Address string `json:",omitempty"` // that it listens on
	*Received
}

// backend decides by the domain of the recipient what happens to a mail. The last number is how
// often it happens to the same mail; without it, always:
//
//	rcpt-550.test, rcpt-450-2.test   the recipient is refused
//	data-554.test, data-451-1.test   the content is refused
//	drop-1.test                      accepted, and the connection is cut without an answer
//	slow-200.test                    it takes that many milliseconds
type backend struct {
	config config
	out    chan<- report

	mu   sync.Mutex
	seen map[string]int // attempts, by mail or recipient
}

// serve runs the server until its input ends.
func serve(c config) error {
	out := make(chan report, 1024)
	b := &backend{config: c, out: out, seen: map[string]int{}}
	s := smtp.NewServer(b)
	s.Domain, s.AllowInsecureAuth, s.EnableSMTPUTF8, s.ErrorLog = "localhost", c.Plain, !c.WithoutUTF8, quiet{}
	s.MaxMessageBytes = 10 << 20
	listener, err := net.Listen("tcp", c.Address)
	if err != nil {
		return err
	}
	if !c.Plain {
		certificate, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return err
		}
		s.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}}
		if c.Implicit {
			listener = tls.NewListener(listener, s.TLSConfig)
		}
	}
	go func() {
		lines := bufio.NewWriter(os.Stdout)
		encoder := json.NewEncoder(lines)
		for r := range out {
			encoder.Encode(r)
			if len(out) == 0 {
				lines.Flush()
			}
		}
	}()
	out <- report{Address: listener.Addr().String()}
	go func() {
		io.Copy(io.Discard, os.Stdin) // ends with the test
		os.Exit(0)
	}()
	return s.Serve(listener)
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}
func answer(code int) *smtp.SMTPError {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1}, Message: "as the test asked for"}
}

func (b *backend) NewSession(c *smtp.Conn) (smtp.Session, error) {
	if b.config.Greeting != 0 {
		return nil, answer(b.config.Greeting)
	}
	return &session{backend: b, conn: c, signedIn: b.config.User == ""}, nil
}

// session is one connection.
type session struct {
	*backend
	conn     *smtp.Conn
	signedIn bool
	from, to string
	utf8     bool
}

func (s *session) AuthMechanisms() []string {
	if s.config.User == "" {
		return nil
	}
	return []string{sasl.Plain}
}

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != s.config.User || password != s.config.Password {
			return smtp.ErrAuthFailed
		}
		s.signedIn = true
		return nil
	}), nil
}

func (s *session) Mail(from string, options *smtp.MailOptions) error {
	s.utf8 = options.UTF8
	if !s.signedIn {
		return smtp.ErrAuthRequired
	}
	s.from = from
	return nil
}

// rule is what the domain of the recipient asks for.
func (s *session) rule() (name string, number, times int) {
	_, domain, _ := strings.Cut(s.to, "@")
	parts := strings.Split(strings.TrimSuffix(domain, ".test"), "-")
	if len(parts) > 1 {
		number, _ = strconv.Atoi(parts[1])
	}
	if times = 1 << 30; len(parts) > 2 {
		times, _ = strconv.Atoi(parts[2])
	}
	return parts[0], number, times
}

// count counts the attempts for something.
func (b *backend) count(key string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen[key]++
	return b.seen[key]
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	if name, code, times := s.rule(); name == "rcpt" && s.count(to) <= times {
		return answer(code)
	}
	return nil
}

func (s *session) Data(r io.Reader) error {
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	message, err := mail.ReadMessage(strings.NewReader(string(content)))
	if err != nil {
		return errors.Join(answer(554), err)
	}
	id := message.Header.Get("Message-Id")
	received := &Received{From: s.from, To: s.to, ID: id, UTF8: s.utf8, Content: string(content)}
	if s.config.DiscardText {
		received.Content = ""
	}
	name, number, times := s.rule()
	switch {
	case name == "data" && s.count(id) <= times:
		return answer(number)
	case name == "drop" && s.count(id) <= number:
		received.Unanswered = true
		s.out <- report{Received: received}
		s.conn.Conn().Close()
		return fmt.Errorf("cut")
	case name == "slow":
		time.Sleep(time.Duration(number) * time.Millisecond)
	}
	s.out <- report{Received: received}
	return nil
}

func (s *session) Reset()        { s.from, s.to = "", "" }
func (s *session) Logout() error { return nil }
