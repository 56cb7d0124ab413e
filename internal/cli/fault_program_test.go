package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

const (
	// readyLimit is how soon the service must be ready after a start.
	readyLimit = 2 * time.Second
	// waitTimeout bounds waiting without a limit of its own, so that a test fails with
	// a message instead of the timeout of all tests.
	waitTimeout = 90 * time.Second
	// pollInterval is how often a condition is checked.
	pollInterval = 5 * time.Millisecond
)

// build builds the release binary once for all tests, without the race detector, into
// the directory of the testscript binary, which is removed when the tests end.
var build = sync.OnceValues(func() (string, error) {
	scripts, err := exec.LookPath("formulary")
	if err != nil {
		return "", err
	}
	file := filepath.Join(filepath.Dir(scripts), "formulary-released")
	if out, err := exec.Command("go", "build", "-race=false", "-o", file, "formulary").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return file, nil
})

// program is the service as a separate process, which can be killed.
type program struct {
	t          *testing.T
	cmd        *exec.Cmd
	url        string
	readyAfter time.Duration // time from start to ready
	client     *http.Client
	log        string
	ended      bool

	beforeKill func() // called by kill
}

var addressLine = regexp.MustCompile(`^Formulary is running at \S+ \(.*listening on ([^)]+)\)`)

// launch runs the program and waits until it is ready. wrapper is a command that
// executes its arguments.
func launch(t *testing.T, storage storetest.Storage, wrapper ...string) *program {
	t.Helper()
	return launchWith(t, storage, wrapper, "--addr=127.0.0.1:0", "--rate-limit=off")
}

func launchWith(t *testing.T, storage storetest.Storage, wrapper []string, flags ...string) *program {
	t.Helper()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, log: filepath.Join(t.TempDir(), "log"), client: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
		Timeout:       waitTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	args := slices.Concat(wrapper, []string{file, "serve"}, flags)
	p.cmd = exec.Command(args[0], args[1:]...)
	p.cmd.Env = append(os.Environ(), "FORMULARY_DATA="+storage.Data, "FORMULARY_DATABASE_URL="+storage.URL)
	p.cmd.SysProcAttr = diesWithTest(syscall.SIGKILL)
	log, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p.cmd.Stderr = log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	watchdog := time.AfterFunc(waitTimeout, func() { p.cmd.Process.Kill() })
	defer watchdog.Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	match := addressLine.FindStringSubmatch(line)
	if err != nil || match == nil {
		t.Fatalf("serve said %q (%v)\n%s", line, err, p.logTail())
	}
	p.url = "http://" + match[1]
	p.waitUntil("ready", func() bool { return p.get("/readyz", "").status == http.StatusOK })
	p.readyAfter = time.Since(start)
	return p
}

// kill ends the process like kill -9. A second call does nothing.
func (p *program) kill() {
	if p.ended {
		return
	}
	p.ended = true
	if p.beforeKill != nil {
		p.beforeKill()
	}
	p.cmd.Process.Kill()
	p.cmd.Wait()
	p.client.CloseIdleConnections()
}

// stop ends the process with SIGTERM and checks its exit code.
func (p *program) stop() {
	p.t.Helper()
	p.client.CloseIdleConnections()
	p.ended = true
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Error(err)
	}
	watchdog := time.AfterFunc(waitTimeout, func() { p.cmd.Process.Kill() })
	defer watchdog.Stop()
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("serve ended with %v\n%s", err, p.logTail())
	}
}

// logTail returns the end of the program's log.
func (p *program) logTail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}

// waitUntil polls a condition. what describes it in the failure message.
func (p *program) waitUntil(what string, condition func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(waitTimeout); !condition(); time.Sleep(pollInterval) {
		if time.Now().After(deadline) {
			p.t.Fatalf("not %s after %v\n%s", what, waitTimeout, p.logTail())
		}
	}
}

// httpResponse is a response, or the error instead.
type httpResponse struct {
	status int
	header http.Header
	text   string
	err    error

	ID   string `json:"id"`
	Code int    `json:"errorCode"`
}

func (a httpResponse) String() string {
	return fmt.Sprintf("%d %v %.500s (%v)", a.status, a.header, a.text, a.err)
}

func (p *program) do(r *http.Request, err error) httpResponse {
	if err != nil {
		return httpResponse{err: err}
	}
	res, err := p.client.Do(r)
	if err != nil {
		return httpResponse{err: err}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	a := httpResponse{status: res.StatusCode, header: res.Header, text: string(text), err: err}
	if err == nil && res.Header.Get("Content-Type") == "application/json" {
		a.err = json.Unmarshal(text, &a)
	}
	return a
}

// get sends a GET request, with an access token if it is not empty.
func (p *program) get(path, token string) httpResponse {
	r, err := http.NewRequest(http.MethodGet, p.url+path, nil)
	if err == nil && token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return p.do(r, err)
}

// post sends JSON. headers have the form "Name: value".
func (p *program) post(path, body string, headers ...string) httpResponse {
	r, err := http.NewRequest(http.MethodPost, p.url+path, strings.NewReader(body))
	if err == nil {
		r.Header.Set("Content-Type", "application/json")
		for _, line := range headers {
			name, value, _ := strings.Cut(line, ": ")
			r.Header.Set(name, value)
		}
	}
	return p.do(r, err)
}

var hiddenControl = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// openPage opens a form and returns its hidden inputs.
func (p *program) openPage(path string) (url.Values, error) {
	a := p.get(path, "")
	controls := url.Values{}
	for _, m := range hiddenControl.FindAllStringSubmatch(a.text, -1) {
		controls.Set(m[1], m[2])
	}
	if a.err != nil || a.status != http.StatusOK || len(controls) == 0 {
		return nil, fmt.Errorf("open the page: %s", a)
	}
	return controls, nil
}

// sendPage submits an open page.
func (p *program) sendPage(path string, controls url.Values, note string) httpResponse {
	fields := maps.Clone(controls)
	fields.Set("note", note)
	r, err := http.NewRequest(http.MethodPost, p.url+path, strings.NewReader(fields.Encode()))
	if err == nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return p.do(r, err)
}

// unavailable returns "" if the response is a proper 503 with Retry-After, otherwise the
// response as text.
func (a httpResponse) unavailable() string {
	if a.Code != 503001 || !a.isRetryable() {
		return a.String()
	}
	return ""
}

// isRetryable reports whether the response is a 503 with Retry-After.
func (a httpResponse) isRetryable() bool {
	return a.err == nil && a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != ""
}

// unavailablePage reports whether the response is a 503 page with Retry-After.
func (a httpResponse) unavailablePage() bool {
	return a.isRetryable() && strings.HasPrefix(a.header.Get("Content-Type"), "text/html") && strings.Contains(a.text, "<h1>")
}

// survey is an open form with one question, "note".
type survey struct {
	id           string
	page         string         // path of the public page
	path         string         // path of the responses in the API
	token        string         // access token with all scopes
	extraTokens  []string       // of further grants
	ownerCookies []*http.Cookie // session of the owner
}

const ada = "ada@example.com"

// openSurvey creates the form in an empty database, with extra more tokens.
func openSurvey(t *testing.T, storage storetest.Storage, extra int) survey {
	t.Helper()
	s := clitest.Start(t, storage)
	defer s.Stop()
	s.AddUser(ada)
	app := s.AddApp(ada, "https://app.example.com/cb")
	b := s.Browser()
	b.SignIn(ada)
	newToken := func() string {
		to := b.Allow(app.AuthorizeURL(allScopes))
		return s.Exchange(app, to.Query().Get("code")).Access
	}
	token := newToken()
	created := s.Call("POST", "/api/v1/forms", token, `{"title": "Order", "language": "en", "fields": [{"key": "note", "kind": "long_text", "label": "What else?"}]}`)
	id := created.String("id")
	if a := s.Call("POST", "/api/v1/forms/"+id+"/publish", token, ""); a.StatusCode != http.StatusCreated {
		t.Fatalf("publish: %d %s, made as %s", a.StatusCode, a.Text, created.Text)
	}
	base, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	f := survey{id: id, page: "/f/" + id, path: "/api/v1/forms/" + id + "/responses", token: token, ownerCookies: b.Jar.Cookies(base)}
	for range extra {
		f.extraTokens = append(f.extraTokens, newToken())
	}
	return f
}

// submission returns a JSON body with one answer.
func submission(note string) string { return `{"answers": {"note": "` + note + `"}}` }

// readStored reads every response through the feed and returns the notes by response
// ID. Each response must appear once, and their number must match the count.
func (p *program) readStored(f survey) map[string]string {
	p.t.Helper()
	storedNotes := map[string]string{}
	after, deadline := "", time.Now().Add(waitTimeout)
	for {
		var feed struct {
			Data []struct {
				ID      string
				Answers struct{ Note string }
			}
			Next string
			More bool
		}
		a := p.get(f.path+"?limit=1000&after="+url.QueryEscape(after), f.token)
		if err := json.Unmarshal([]byte(a.text), &feed); err != nil || a.err != nil || a.status != http.StatusOK {
			p.t.Fatalf("feed: %s %v\n%s", a, err, p.logTail())
		}
		for _, r := range feed.Data {
			if _, ok := storedNotes[r.ID]; ok {
				p.t.Errorf("%s is in the feed twice", r.ID)
			}
			storedNotes[r.ID] = r.Answers.Note
		}
		if after = feed.Next; feed.More {
			continue
		}
		// The database may still be committing the last transactions of a program that
		// was killed.
		count := p.count(f)
		if count == len(storedNotes) {
			return storedNotes
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("the count says %d, the feed has %d", count, len(storedNotes))
		}
		time.Sleep(pollInterval)
	}
}

func (p *program) count(f survey) int {
	p.t.Helper()
	var page struct {
		Total int `json:"total_items"`
	}
	a := p.get(f.path, f.token)
	if err := json.Unmarshal([]byte(a.text), &page); err != nil || a.err != nil || a.status != http.StatusOK {
		p.t.Fatalf("count: %s %v", a, err)
	}
	return page.Total
}
