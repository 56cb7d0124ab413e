// Package webhook sends one signed HTTP request to a receiver that a user chose. It follows
// Standard Webhooks (https://www.standardwebhooks.com), and it never connects to an address
// that is not public unless the administrator allows it.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// Timeout is how long a receiver may take to answer.
	Timeout = 15 * time.Second
	// answerTimeout is how long the body of an answer may take after its status.
	answerTimeout = 2 * time.Second
	// MaxAnswer is how much of an answer is read.
	MaxAnswer = 4 << 10

	maxHeader    = 32 << 10
	idlePerHost  = 32
	idleInTotal  = 512
	idleLifetime = 30 * time.Second
)

// Client sends requests. It follows no redirects, uses no proxy, and keeps no cookies.
type Client struct {
	agent   string
	allowed Allowed
	// http: is for allowed addresses only, which its dialer checks.
	plain, secure *http.Transport
}

// NewClient returns a client that calls itself Formulary in the given version.
func NewClient(version string, allowed Allowed) *Client {
	c := &Client{agent: "Formulary/" + version, allowed: allowed}
	c.plain = newTransport(allowed.dialer(false))
	c.secure = newTransport(allowed.dialer(true))
	return c
}

func newTransport(dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		DialContext: dial, TLSHandshakeTimeout: Timeout, DisableCompression: true, MaxResponseHeaderBytes: maxHeader,
		MaxIdleConns: idleInTotal, MaxIdleConnsPerHost: idlePerHost, IdleConnTimeout: idleLifetime,
	}
}

// Close closes idle connections.
func (c *Client) Close() {
	c.plain.CloseIdleConnections()
	c.secure.CloseIdleConnections()
}

// Request is what is sent.
type Request struct {
	URL     string
	ID      string // of the event, the same at every attempt
	Body    []byte
	Secrets []Secret // each of them signs
}

// Result is what became of a request.
type Result struct {
	Status     int           // of the answer; 0: there was none
	RetryAfter time.Duration // that the receiver asks for; 0: it does not
	Answer     string        // its beginning, unless it was a success
	Err        error         // why there is no answer
	Took       time.Duration
}

// Delivered says whether the receiver has accepted the event.
func (r Result) Delivered() bool { return r.Status/100 == 2 }

// Gone says whether the receiver wants no more events.
func (r Result) Gone() bool { return r.Status == http.StatusGone }

// What Problem says without a status. After ConnectionFailed comes the reason.
const (
	addressForbidden = "The address of the receiver is not allowed."
	noAnswer         = "The receiver did not answer within 15 seconds."
	unknownName      = "The name of the receiver could not be resolved."
	ConnectionFailed = "The connection to the receiver failed: "
)

// FixedProblems are the texts of Problem that have no variable part.
var FixedProblems = []string{addressForbidden, noAnswer, unknownName}

// Problem says why the event was not delivered, in words for its owner.
func (r Result) Problem() string {
	switch {
	case r.Delivered(), r.Status == 0 && r.Err == nil:
		return ""
	case r.Status/100 == 3:
		return fmt.Sprintf("The receiver answered with status %d. Redirects are not followed.", r.Status)
	case r.Status != 0:
		return fmt.Sprintf("The receiver answered with status %d.", r.Status)
	case errors.Is(r.Err, errForbidden):
		return addressForbidden
	case errors.Is(r.Err, context.DeadlineExceeded):
		return noAnswer
	}
	var name *net.DNSError
	if errors.As(r.Err, &name) {
		return unknownName
	}
	return ConnectionFailed + clean(r.Err)
}

// Send sends a request once and returns when the receiver has answered, or has not in time.
func (c *Client) Send(ctx context.Context, r Request) Result {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	result := c.send(ctx, r, begun)
	result.Took = time.Since(begun)
	return result
}

func (c *Client) send(ctx context.Context, r Request, now time.Time) Result {
	target, err := url.Parse(r.URL)
	if err != nil {
		return Result{Err: err}
	}
	transport := c.secure
	if target.Scheme == "http" {
		transport = c.plain
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return Result{Err: err}
	}
	request.Header = c.header(r, now)
	// Sends nothing. It says that repeating the request is safe, so that net/http uses
	// another connection if the receiver has closed the idle one.
	request.Header["Idempotency-Key"] = nil
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return Result{Err: cmp.Or(ctx.Err(), err)}
	}
	defer answer.Body.Close()
	return readAnswer(answer)
}

// readAnswer reads the beginning of an answer. The connection can be used again if that is
// all of it; otherwise it is closed.
func readAnswer(answer *http.Response) Result {
	result := Result{Status: answer.StatusCode}
	slow := time.AfterFunc(answerTimeout, func() { answer.Body.Close() })
	text, _ := io.ReadAll(io.LimitReader(answer.Body, MaxAnswer)) // an error leaves what was read
	slow.Stop()
	if result.Delivered() {
		return result
	}
	result.Answer = strings.ToValidUTF8(strings.ReplaceAll(string(text), "\x00", ""), "\uFFFD")
	result.RetryAfter = retryAfter(answer.Header.Get("Retry-After"), time.Now())
	return result
}

// maxRetryAfter bounds what a receiver can ask for.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads the header, which has seconds or a date.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return min(at.Sub(now), maxRetryAfter)
	}
	return 0
}

// clean is the text of an error as it can be stored and shown.
func clean(err error) string {
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError {
			return -1
		}
		return r
	}, err.Error())
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "")
	}
	return text
}
