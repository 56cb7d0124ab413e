package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"formulary/internal/store/storetest"
)

// badReceiver is a server that reads each request and then does something wrong.
type badReceiver struct {
	name   string
	answer answerFunc // the connection is closed afterwards
	// What the log says of each delivery.
	status         string
	responseStatus int
	problem        string
	attempts       int           // 0: it does not matter
	minWait        time.Duration // until the second attempt; 0: as the schedule says

	path     string // of its webhook in the API
	requests atomic.Int64
	sent     atomic.Int64 // bytes of answers
	seen     sync.Map     // events
}

type answerFunc func(r *badReceiver, conn net.Conn, event string)

// send sends text n times, or until the service has had enough.
func (r *badReceiver) send(conn net.Conn, text string, n int) {
	for range n {
		sent, err := io.WriteString(conn, text)
		r.sent.Add(int64(sent))
		if err != nil {
			return
		}
	}
}

// answers returns an answer with a status and header lines.
func answers(status int, header ...string) answerFunc {
	head := fmt.Sprintf("HTTP/1.1 %d X\r\nConnection: close\r\n%s\r\n", status, strings.Join(append(header, ""), "\r\n"))
	return func(r *badReceiver, conn net.Conn, _ string) { r.send(conn, head, 1) }
}

// floods returns an answer that starts with head and never ends: it has up to a gigabyte.
func floods(head, text string) answerFunc {
	text = strings.Repeat(text, 64<<10/len(text))
	return func(r *badReceiver, conn net.Conn, _ string) {
		r.send(conn, head, 1)
		r.send(conn, text, 1<<30/len(text))
	}
}

// failsOnce refuses each event once.
func failsOnce(r *badReceiver, conn net.Conn, event string) {
	status := 503
	if _, repeated := r.seen.LoadOrStore(event, true); repeated {
		status = 204
	}
	answers(status)(r, conn, event)
}

func resets(_ *badReceiver, conn net.Conn, _ string) { conn.(*net.TCPConn).SetLinger(0) }

// hangs waits until the service has given up.
func hangs(_ *badReceiver, conn net.Conn, _ string) { io.Copy(io.Discard, conn) }

const connectionFailed = "The connection to the receiver failed: "

// badReceivers are everything that can be wrong with a receiver, apart from not being there.
func badReceivers(elsewhere string) []*badReceiver {
	return []*badReceiver{
		{name: "fails once", answer: failsOnce, status: "delivered", responseStatus: 204, attempts: 2},
		{name: "resets", answer: resets, status: "pending", problem: connectionFailed},
		{name: "500", answer: answers(500), status: "pending", responseStatus: 500, problem: "status 500"},
		{name: "301", answer: answers(301, "Location: "+elsewhere), status: "pending", responseStatus: 301, problem: "Redirects are not followed."},
		{name: "429", answer: answers(429, "Retry-After: 600"), status: "pending", responseStatus: 429, problem: "status 429", minWait: 10 * time.Minute},
		{name: "1 GB and 200", answer: floods("HTTP/1.1 200 OK\r\n\r\n", "x"), status: "delivered", responseStatus: 200},
		{name: "1 GB and 500", answer: floods("HTTP/1.1 500 X\r\n\r\n", "x"), status: "pending", responseStatus: 500, problem: "status 500"},
		{name: "endless headers", answer: floods("HTTP/1.1 200 OK\r\n", "X-More: 1\r\n"), status: "pending", problem: connectionFailed},
		{name: "endless line", answer: floods("HTTP/1.1 200 OK\r\nX: ", "x"), status: "pending", problem: connectionFailed},
		{name: "endless hints", answer: floods("", "HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n"), status: "pending", problem: connectionFailed},
		{name: "no HTTP", answer: floods("", "\x00\xff"), status: "pending", problem: connectionFailed},
	}
}

// serve accepts connections at an address, with one request each.
func (r *badReceiver) serve(t *testing.T, address string) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				request, err := http.ReadRequest(bufio.NewReader(conn))
				if err == nil {
					_, err = io.Copy(io.Discard, request.Body)
				}
				if err != nil {
					return
				}
				r.requests.Add(1)
				r.answer(r, conn, request.Header.Get("webhook-id"))
			}()
		}
	}()
	return "http://" + listener.Addr().String() + "/hook"
}

// logEntry is a delivery in the log of a webhook.
type logEntry struct {
	Attempt        int
	Status         string
	ResponseStatus int `json:"response_status"`
	Error          string
	At             time.Time
	NextAttemptAt  time.Time `json:"next_attempt_at"`
}

// readLog reads the newest entries of a webhook's log, and how many there are.
func (p *program) readLog(f survey, webhook, filter string) (entries []logEntry, total int) {
	p.t.Helper()
	var list struct {
		Total int `json:"total_items"`
		Data  []logEntry
	}
	a := p.get(webhook+"/deliveries?per_page=200"+filter, f.token)
	if err := json.Unmarshal([]byte(a.text), &list); err != nil || a.status != http.StatusOK {
		p.t.Fatalf("log: %s %v", a, err)
	}
	return list.Data, list.Total
}

func (p *program) webhookStatus(f survey, webhook string) (status, reason string) {
	p.t.Helper()
	var w struct {
		Status         string
		DisabledReason string `json:"disabled_reason"`
	}
	a := p.get(webhook, f.token)
	if err := json.Unmarshal([]byte(a.text), &w); err != nil || a.status != http.StatusOK {
		p.t.Fatalf("webhook: %s %v", a, err)
	}
	return w.Status, w.DisabledReason
}

const (
	// maxReceiverMemory is how much memory receivers may cost. A single answer has 1 GB.
	maxReceiverMemory = 192 << 20
	// maxAnswerSent is how much of an answer a receiver can send, on average: 4 KB are read,
	// the rest is in the buffers of sockets.
	maxAnswerSent = 16 << 20
)

// TestWebhookReceivers: whatever receivers do, the log says it, retries are scheduled, other
// webhooks receive everything, and the service needs little memory.
func TestWebhookReceivers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		f, good := openSurvey(t, storage, 0), newHookReceiver(t)
		p := launch(t, storage, webhookEnv...)
		p.deliverTo(good, "good", f)
		add := func(r *badReceiver, url string) { r.path, _ = p.addWebhook(f, url) }
		list := badReceivers(good.url + "/hook/elsewhere")
		for _, r := range list {
			add(r, r.serve(t, "127.0.0.1:0"))
		}
		gone := &badReceiver{answer: answers(410)}
		add(gone, gone.serve(t, "127.0.0.1:0"))
		slow := &badReceiver{name: "hangs", answer: hangs, status: "pending", problem: "did not answer within 15 seconds"}
		add(slow, slow.serve(t, "127.0.0.1:0"))
		down, address := &badReceiver{name: "down", answer: answers(204), status: "pending", problem: connectionFailed}, "127.0.0.1:"+stablePort(t)
		add(down, "http://"+address+"/hook")

		count := shortOrFull(60, 200)
		before, _ := residentMemory(p.cmd.Process.Pid)
		for i := range count {
			if a := p.post(f.page, submission(fmt.Sprint(i))); a.status != http.StatusCreated {
				t.Fatalf("submit: %s", a)
			}
		}
		for _, r := range append(list, down) {
			p.checkLog(f, r, count)
		}
		if fullRun {
			p.checkLog(f, slow, maxInFlight)
		}
		p.waitUntil("delivered to the good one", func() bool { return good.total("good").Events == count })
		if n := good.total("elsewhere").Events; n > 0 {
			t.Errorf("%d redirects were followed", n)
		}
		p.waitUntil("disabled after 410", func() bool { status, _ := p.webhookStatus(f, gone.path); return status == "disabled" })
		if _, reason := p.webhookStatus(f, gone.path); !strings.Contains(reason, "410") || gone.requests.Load() > maxInFlight {
			t.Errorf("%d requests to a receiver that answers 410, then: %s", gone.requests.Load(), reason)
		}
		// A receiver that is back gets everything when its webhook is started again.
		down.serve(t, address)
		for _, active := range []string{"false", "true"} {
			if a := p.patch(down.path, `{"active": `+active+`}`, f.token); a.status != http.StatusOK {
				t.Fatalf("pause and start: %s", a)
			}
		}
		p.waitUntil("delivered after the receiver was down", func() bool { _, n := p.readLog(f, down.path, "&status=delivered"); return n == count })
		_, peak := residentMemory(p.cmd.Process.Pid)
		if peak-before > maxReceiverMemory {
			t.Errorf("receivers cost %s of memory", megabytes(peak-before))
		}
		p.stop()
		reportFigure(t, "receivers of webhooks that are down, hang, reset, redirect, refuse, or answer without end", "%d responses to %d such receivers: each retried as promised; another webhook received all; %d MB more memory",
			count, len(list)+3, (peak-before)>>20)
	})
}

// explains says whether an entry of the log is about this receiver.
func (r *badReceiver) explains(e logEntry) bool {
	if r.attempts > 0 && e.Attempt != r.attempts || r.problem == "" && e.Error != "" {
		return false
	}
	return e.ResponseStatus == r.responseStatus && strings.Contains(e.Error, r.problem)
}

// checkLog waits until count deliveries to a receiver were tried, and compares the log with
// what it should say.
func (p *program) checkLog(f survey, r *badReceiver, count int) {
	p.t.Helper()
	var entries []logEntry
	p.waitUntil(fmt.Sprintf("in the log of %q", r.name), func() bool {
		var total int
		entries, total = p.readLog(f, r.path, "&status="+r.status)
		return total >= count
	})
	if status, _ := p.webhookStatus(f, r.path); status != "active" {
		p.t.Errorf("%s: the webhook is %s", r.name, status)
	}
	for _, e := range entries {
		if !r.explains(e) {
			p.t.Fatalf("%s: the log says %+v", r.name, e)
		}
		if e.Status != "pending" {
			continue
		}
		// An attempt ends up to 15 seconds after it began. The times differ by 20 %.
		least, most := 4*time.Second, 6*time.Second+waitTimeout
		if e.Attempt > 1 {
			least, most = 4*time.Minute, 6*time.Minute+waitTimeout
		}
		least, most = max(least, r.minWait), max(most, r.minWait+waitTimeout)
		if wait := e.NextAttemptAt.Sub(e.At); wait < least || wait > most {
			p.t.Fatalf("%s: after attempt %d the next follows after %v", r.name, e.Attempt, wait)
		}
	}
	if n := r.requests.Load(); n > 0 && r.sent.Load()/n > maxAnswerSent {
		p.t.Errorf("%s: %s of each answer were read", r.name, megabytes(int(r.sent.Load()/n)))
	}
}
