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
	// readyLimit is how soon the service takes requests after its start.
	readyLimit = 2 * time.Second
	// patience bounds waiting for what has no time of its own, so that a test
	// ends with words rather than with the timeout of all tests.
	patience = 90 * time.Second
	// pause is how often a condition is looked at.
	pause = 5 * time.Millisecond
)

// build makes the program as it is released, without the race detector, once
// for all tests. It lies beside the program of the scripts, in a folder that
// goes when the tests end.
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

// program is the service as a process of its own, which can be killed.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string
	took   time.Duration // from its start until it was ready
	client *http.Client
	log    string
	ended  bool

	beforeKill func() // what else happens at that moment
}

var saidAddress = regexp.MustCompile(`^Formulary is running at \S+ \(.*listening on ([^)]+)\)`)

// launch runs the program and waits until it is ready; around are the words of
// a command that ends by becoming the program.
func launch(t *testing.T, place storetest.Place, around ...string) *program {
	t.Helper()
	return launchWith(t, place, around, "--addr=127.0.0.1:0", "--rate-limit=off")
}

func launchWith(t *testing.T, place storetest.Place, around []string, flags ...string) *program {
	t.Helper()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, log: filepath.Join(t.TempDir(), "log"), client: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	words := slices.Concat(around, []string{file, "serve"}, flags)
	p.cmd = exec.Command(words[0], words[1:]...)
	p.cmd.Env = append(os.Environ(), "FORMULARY_DATA="+place.Data, "FORMULARY_DATABASE_URL="+place.URL)
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
	stuck := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	defer stuck.Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	said := saidAddress.FindStringSubmatch(line)
	if err != nil || said == nil {
		t.Fatalf("serve said %q (%v)\n%s", line, err, p.lastWords())
	}
	p.url = "http://" + said[1]
	p.eventually("ready", func() bool { return p.get("/readyz", "").status == http.StatusOK })
	p.took = time.Since(start)
	return p
}

// kill ends the process as kill -9 does. Doing it twice changes nothing.
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

// stop ends the process as an operator does, and it must end well.
func (p *program) stop() {
	p.t.Helper()
	p.client.CloseIdleConnections()
	p.ended = true
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Error(err)
	}
	stuck := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	defer stuck.Stop()
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("serve ended with %v\n%s", err, p.lastWords())
	}
}

// lastWords is the end of the program's log.
func (p *program) lastWords() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}

// eventually looks at a condition until it holds.
func (p *program) eventually(what string, holds func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(pause) {
		if time.Now().After(deadline) {
			p.t.Fatalf("not %s after %v\n%s", what, patience, p.lastWords())
		}
	}
}

// answer is what the service said, or why nothing was heard.
type answer struct {
	status int
	header http.Header
	text   string
	err    error

	ID   string `json:"id"`
	Code int    `json:"errorCode"`
}

func (a answer) String() string {
	return fmt.Sprintf("%d %v %.500s (%v)", a.status, a.header, a.text, a.err)
}

func (p *program) do(r *http.Request, err error) answer {
	if err != nil {
		return answer{err: err}
	}
	res, err := p.client.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	a := answer{status: res.StatusCode, header: res.Header, text: string(text), err: err}
	if err == nil && res.Header.Get("Content-Type") == "application/json" {
		a.err = json.Unmarshal(text, &a)
	}
	return a
}

// get reads with an access token, or without.
func (p *program) get(path, token string) answer {
	r, err := http.NewRequest(http.MethodGet, p.url+path, nil)
	if err == nil && token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return p.do(r, err)
}

// post sends JSON; header lines are "Name: value".
func (p *program) post(path, body string, headers ...string) answer {
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

// openPage is what a browser has of the form once its page is open.
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

// sendPage sends an open page as a browser does.
func (p *program) sendPage(path string, controls url.Values, note string) answer {
	fields := maps.Clone(controls)
	fields.Set("note", note)
	r, err := http.NewRequest(http.MethodPost, p.url+path, strings.NewReader(fields.Encode()))
	if err == nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return p.do(r, err)
}

// unavailable says what is wrong with an answer that should tell a program to
// come back later, or nothing.
func (a answer) unavailable() string {
	if a.err != nil || a.Code != 503001 || a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
		return a.String()
	}
	return ""
}

// unavailablePage says whether a person was told to come back later.
func (a answer) unavailablePage() bool {
	return a.err == nil && a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != "" &&
		strings.HasPrefix(a.header.Get("Content-Type"), "text/html") && strings.Contains(a.text, "<h1>")
}

// survey is an open form with one question, "note".
type survey struct {
	id    string
	page  string         // where anybody answers
	path  string         // where its owner's application answers and reads
	token string         // of that application, which may do everything
	more  []string       // tokens of other times that it was let in
	ada   []*http.Cookie // of the owner's browser
}

const ada = "ada@example.com"

// openSurvey makes it in an empty place, with so many more tokens.
func openSurvey(t *testing.T, place storetest.Place, more int) survey {
	t.Helper()
	s := clitest.Start(t, place)
	defer s.Stop()
	s.AddUser(ada)
	app := s.AddApp(ada, "https://app.example.com/cb")
	b := s.Browser()
	b.SignIn(ada)
	enter := func() string {
		to := b.Allow(app.AuthorizeURL("forms:read,forms:write,responses:read,responses:write"))
		return s.Exchange(app, to.Query().Get("code")).Access
	}
	token := enter()
	made := s.Call("POST", "/api/v1/forms", token, `{"title": "Order", "language": "en", "fields": [{"key": "note", "kind": "long_text", "label": "What else?"}]}`)
	id := made.String("id")
	if a := s.Call("POST", "/api/v1/forms/"+id+"/publish", token, ""); a.StatusCode != http.StatusCreated {
		t.Fatalf("publish: %d %s, made as %s", a.StatusCode, a.Text, made.Text)
	}
	base, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	f := survey{id: id, page: "/f/" + id, path: "/api/v1/forms/" + id + "/responses", token: token, ada: b.Jar.Cookies(base)}
	for range more {
		f.more = append(f.more, enter())
	}
	return f
}

// submission is a body with one answer.
func submission(note string) string { return `{"answers": {"note": "` + note + `"}}` }

// stored reads every response through the feed: the notes by id. Each must be
// there once, whole, and counted.
func (p *program) stored(f survey) map[string]string {
	p.t.Helper()
	found := map[string]string{}
	after, deadline := "", time.Now().Add(patience)
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
			p.t.Fatalf("feed: %s %v\n%s", a, err, p.lastWords())
		}
		for _, r := range feed.Data {
			if _, twice := found[r.ID]; twice {
				p.t.Errorf("%s is in the feed twice", r.ID)
			}
			found[r.ID] = r.Answers.Note
		}
		if after = feed.Next; feed.More {
			continue
		}
		// A database that outlived the program may still be finishing what
		// it was told last.
		counted := p.count(f)
		if counted == len(found) {
			return found
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("the count says %d, the feed has %d", counted, len(found))
		}
		time.Sleep(pause)
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
