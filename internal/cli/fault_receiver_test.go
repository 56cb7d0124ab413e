package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// webhookEnv lets the program deliver to receivers of tests.
var webhookEnv = []string{"env", "FORMULARY_WEBHOOK_ALLOW=127.0.0.0/8", "FORMULARY_SECRET_KEY=a-secret-key-of-more-than-32-characters"}

// hookReceiver is testdata/receiver.mjs: a separate process that verifies webhooks with
// npm's standardwebhooks.
type hookReceiver struct {
	t   *testing.T
	url string
	err bytes.Buffer
}

func newHookReceiver(t *testing.T) *hookReceiver {
	t.Helper()
	// scripts/install-test-deps standardwebhooks installs both.
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	packages, err := filepath.Abs(filepath.Join("..", "..", ".cache", "standardwebhooks"))
	if err != nil {
		t.Fatal(err)
	}
	r := &hookReceiver{t: t}
	cmd := exec.Command(node, filepath.Join("testdata", "receiver.mjs"), packages)
	cmd.Stderr, cmd.SysProcAttr = &r.err, diesWithTest(syscall.SIGKILL)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	watchdog := time.AfterFunc(waitTimeout, func() { cmd.Process.Kill() })
	defer watchdog.Stop()
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		cmd.Wait()
		t.Fatalf("the receiver does not start: %v\n%s", err, r.err.String())
	}
	r.url = "http://127.0.0.1:" + strings.TrimSpace(port)
	return r
}

// call sends a request to the receiver and returns its answer.
func (r *hookReceiver) call(method, path, body string) []byte {
	r.t.Helper()
	request, err := http.NewRequest(method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatalf("receiver: %v", err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		r.t.Fatalf("receiver: %d %s %v", res.StatusCode, text, err)
	}
	return text
}

// received is what a webhook has sent.
type received struct {
	Events, Repeated int // a request beyond the first of an event is repeated
	Invalid          []string
}

// total returns what has arrived at a webhook. Every request must have a valid signature.
func (r *hookReceiver) total(name string) received {
	r.t.Helper()
	var got received
	if err := json.Unmarshal(r.call(http.MethodGet, "/totals/"+name, ""), &got); err != nil {
		r.t.Fatal(err)
	}
	if len(got.Invalid) > 0 {
		r.t.Fatalf("webhook %s: %s", name, strings.Join(got.Invalid, "\n"))
	}
	return got
}

// missing returns the responses that have not arrived at a webhook, and how many events have
// that are not among them.
func (r *hookReceiver) missing(name string, stored map[string]string) (missing []string, others int) {
	r.t.Helper()
	var list []string
	if err := json.Unmarshal(r.call(http.MethodGet, "/events/"+name, ""), &list); err != nil {
		r.t.Fatal(err)
	}
	arrived := map[string]bool{}
	for _, id := range list {
		response := "rsp_" + strings.TrimPrefix(id, "evt_")
		arrived[response] = true
		if _, ok := stored[response]; !ok {
			others++
		}
	}
	for id := range stored {
		if !arrived[id] {
			missing = append(missing, id)
		}
	}
	return missing, others
}

// addWebhook creates a webhook of a form and returns its path in the API and its secret.
func (p *program) addWebhook(f survey, url string) (path, secret string) {
	p.t.Helper()
	all := "/api/v1/forms/" + f.id + "/webhooks"
	a := p.post(all, `{"url": "`+url+`"}`, "Authorization: Bearer "+f.token)
	var made struct{ ID, Secret string }
	if err := json.Unmarshal([]byte(a.text), &made); err != nil || a.status != http.StatusCreated {
		p.t.Fatalf("create webhook: %s %v", a, err)
	}
	return all + "/" + made.ID, made.Secret
}

// deliverTo creates a webhook that the receiver knows by a name.
func (p *program) deliverTo(r *hookReceiver, name string, f survey) {
	p.t.Helper()
	_, secret := p.addWebhook(f, r.url+"/hook/"+name)
	r.call(http.MethodPut, "/secret/"+name, secret)
}
