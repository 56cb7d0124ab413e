package cli_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"formulary/internal/store/storetest"
)

const (
	diskSize   = 8 << 20
	fillerSize = 2 << 20 // freed once the disk was full
	fillers    = 8       // clients that fill the disk
	// After refusalsInARow refusals, a client stops: the disk is full.
	refusalsInARow = 5
	// pagesPerClient is how many pages each client opens in advance; more are rarely
	// needed.
	pagesPerClient = 120
	// returningApps is more than the last free database pages can record.
	returningApps = 12
)

// TestFullDisk: on a full disk the service refuses writes with 503001 and keeps serving
// reads. It loses no acknowledged response, stores no refused one, and continues by
// itself once there is space.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := newSmallDisk(t)
	f := openSurvey(t, disk.seed, returningApps)
	ageLastUse(t, disk.seed)
	l := &ledger{t: t, f: f, p: launch(t, disk.storage, disk.wrapper()...),
		accepted: map[string]string{}, pages: map[string]bool{}, browserPages: map[string]url.Values{}, refused: map[string]bool{}}

	l.fill(disk)
	if len(l.accepted) == 0 || len(l.pages) == 0 || t.Failed() {
		t.Fatalf("%d responses and %d pages went in before the disk was full", len(l.accepted), len(l.pages))
	}
	// The order matters: recording the last use of tokens and sessions takes the
	// remaining space.
	mustRead(t, l.p, f)
	mustRefuse(t, l.p, f)
	lateNote := paddedNote("page-late")
	if l.page(lateNote) {
		t.Error("the page was taken on a full disk")
	}
	l.compare()

	// There is space again: the same process continues, and refused responses can be
	// sent again.
	disk.freeSpace(l.p)
	l.p.waitUntil("taking submissions again", func() bool { return l.submit("room") || t.Failed() })
	resent := slices.Collect(maps.Keys(l.refused))
	for _, note := range resent {
		if !l.submit(note) {
			t.Errorf("with room again, %.20s was refused", note)
		}
	}
	if !l.page(lateNote) {
		t.Error("with room again, the page was refused")
	}
	l.compare()
	l.p.stop()
	reportFigure(t, "disk full, then space freed", "%d responses and %d pages accepted and stored once; %d refused with 503, accepted when resent", len(l.accepted), len(l.pages), len(resent))
}

// mustRefuse checks that writes are refused.
func mustRefuse(t *testing.T, p *program, f survey) {
	t.Helper()
	owner := "Authorization: Bearer " + f.token
	for name, a := range map[string]httpResponse{
		"anybody submits":        p.post(f.page, submission(paddedNote("full")), "Idempotency-Key: full"),
		"the owner submits":      p.post(f.path, submission(paddedNote("full")), owner),
		"the owner makes a form": p.post("/api/v1/forms", `{"title": "More", "description": "`+strings.Repeat("more ", 300)+`"}`, owner),
	} {
		if problem := a.unavailable(); problem != "" {
			t.Errorf("%s on a full disk: %s", name, problem)
		}
	}
}

// mustRead checks that reads work. The service records the last use of tokens and
// sessions; without space for that, reads still succeed.
func mustRead(t *testing.T, p *program, f survey) {
	t.Helper()
	var wg sync.WaitGroup
	for range fillers {
		for _, path := range []string{"/healthz", "/readyz", "/signin", f.page} {
			wg.Go(func() {
				if a := p.get(path, ""); a.status != http.StatusOK {
					t.Errorf("%s on a full disk: %s", path, a)
				}
			})
		}
		for _, path := range []string{"/api/v1/me", "/api/v1/forms", "/api/v1/forms/" + f.id, f.path, f.path + "?after="} {
			wg.Go(func() {
				if a := p.get(path, f.token); a.status != http.StatusOK {
					t.Errorf("%s on a full disk: %s", path, a)
				}
			})
		}
	}
	wg.Wait()
	for _, token := range f.extraTokens {
		if a := p.get("/api/v1/me", token); a.status != http.StatusOK {
			t.Errorf("an application that comes back on a full disk: %s", a)
		}
	}
	if a := p.page("/", f.ownerCookies); a.status != http.StatusOK || !strings.Contains(a.text, "Order") {
		t.Errorf("the owner who comes back on a full disk: %s", a)
	}
}

// ageLastUse sets the last use of grants and sessions back by an hour, so that the
// service wants to update it.
func ageLastUse(t *testing.T, storage storetest.Storage) {
	t.Helper()
	db, err := sqlite3.Open(filepath.Join(storage.Data, "formulary.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range []string{"consent", "session"} {
		if err := db.Exec("UPDATE " + table + " SET used_at = used_at - 3600000"); err != nil || db.Changes() == 0 {
			t.Fatalf("%s: %d rows (%v)", table, db.Changes(), err)
		}
	}
}

func paddedNote(note string) string { return fmt.Sprintf("%-20s", note) + strings.Repeat(".", 3000) }

// ledger records what clients sent and which responses were acknowledged.
type ledger struct {
	t            *testing.T
	p            *program
	f            survey
	mu           sync.Mutex
	accepted     map[string]string     // notes by response ID
	pages        map[string]bool       // notes of page submissions, whose IDs are not shown
	refused      map[string]bool       // notes that may be sent again
	browserPages map[string]url.Values // hidden inputs of open pages, by note
}

// idempotencyKey returns the key of a note.
func idempotencyKey(note string) string { return strings.TrimRight(note, " .") }

// submit reports whether a JSON submission was accepted. It fails the test if the
// refusal is not a proper 503.
func (l *ledger) submit(note string) bool {
	a := l.p.post(l.f.page, submission(note), "Idempotency-Key: "+idempotencyKey(note))
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.err == nil && a.status == http.StatusCreated {
		if earlier, ok := l.accepted[a.ID]; ok {
			l.t.Errorf("%s was acknowledged for %.20s and for %.20s", a.ID, earlier, note)
		}
		l.accepted[a.ID] = note
		delete(l.refused, note)
		return true
	}
	if problem := a.unavailable(); problem != "" {
		l.t.Errorf("%.20s: %s\n%s", note, problem, l.p.logTail())
	}
	l.refused[note] = true
	return false
}

// page is submit for browsers: a refusal must show the answers again.
func (l *ledger) page(note string) bool {
	controls := l.openPage(note)
	if controls == nil {
		return false
	}
	a := l.p.sendPage(l.f.page, controls, note)
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.err == nil && a.status == http.StatusSeeOther {
		l.pages[note] = true
		return true
	}
	if !a.unavailablePage() || !strings.Contains(a.text, note) {
		l.t.Errorf("%.20s: %s\n%s", note, a, l.p.logTail())
	}
	return false
}

// openPage opens a page, or returns the one that is open for the note.
func (l *ledger) openPage(note string) url.Values {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.browserPages[note] == nil {
		controls, err := l.p.openPage(l.f.page)
		if err != nil {
			l.t.Errorf("%.20s: %v", note, err)
		}
		l.browserPages[note] = controls
	}
	return l.browserPages[note]
}

// fill submits from several clients until everything is refused. Then small notes may
// still fit into free database pages, so it sends some until they are refused too.
func (l *ledger) fill(d *smallDisk) {
	l.t.Helper()
	pageNote := func(client, n int) string { return paddedNote(fmt.Sprintf("page-%d-%d", client, n)) }
	// The service distrusts responses that are submitted too soon after the page was
	// opened, so all pages are opened in advance.
	for n := range pagesPerClient {
		l.openPage(pageNote(0, n))
		l.openPage(pageNote(4, n))
	}
	l.page(paddedNote("page"))
	var wg sync.WaitGroup
	for client := range fillers {
		wg.Go(func() {
			if client%4 == 0 {
				l.sendUntilRefused(func(n int) bool { return l.page(pageNote(client, n)) })
			} else {
				l.sendUntilRefused(func(n int) bool { return l.submit(paddedNote(fmt.Sprintf("%d-%d", client, n))) })
			}
		})
	}
	wg.Wait()
	d.fillRemaining(l.p)
	l.sendUntilRefused(func(n int) bool { return l.submit(fmt.Sprintf("little-%d", n)) })
}

// sendUntilRefused sends until several sends in a row were refused.
func (l *ledger) sendUntilRefused(send func(n int) bool) {
	for n, inARow := 0, 0; inARow < refusalsInARow && !l.t.Failed(); n++ {
		inARow++
		if send(n) {
			inARow = 0
		}
	}
}

// compare checks that exactly the acknowledged responses are stored.
func (l *ledger) compare() {
	l.t.Helper()
	storedNotes := l.p.readStored(l.f)
	for id, note := range l.accepted {
		if stored, ok := storedNotes[id]; !ok || stored != note {
			l.t.Errorf("%s was acknowledged for %.20s, but stored is %.20q", id, note, stored)
		}
	}
	pages := map[string]int{}
	for id, note := range storedNotes {
		if _, ok := l.accepted[id]; ok {
			continue
		}
		pages[note]++
		if !l.pages[note] {
			l.t.Errorf("%s is stored with %.20q, which was refused", id, note)
		}
	}
	for note := range l.pages {
		if pages[note] != 1 {
			l.t.Errorf("the page with %.20s is stored %d times", note, pages[note])
		}
	}
}

// smallDisk is a data directory on a file system of a few megabytes. It is mounted in a
// namespace that only the program sees and that ends with it.
type smallDisk struct {
	t         *testing.T
	storage   storetest.Storage
	seed      storetest.Storage // initial content
	namespace []string
}

func newSmallDisk(t *testing.T) *smallDisk {
	t.Helper()
	d := &smallDisk{t: t, storage: storetest.SQLite(t), seed: storetest.SQLite(t)}
	var output strings.Builder
	for _, d.namespace = range [][]string{{"unshare", "--mount"}, {"unshare", "--map-root-user", "--mount"}} {
		args := append(d.wrapper(), "true")
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err == nil {
			return d
		}
		fmt.Fprintf(&output, "%s: %v\n%s", strings.Join(d.namespace, " "), err, out)
	}
	t.Fatalf("this test needs a small disk, and no file system can be mounted here: run it as root, "+
		"or where user namespaces are allowed.\n%s", output.String())
	return nil
}

// wrapper returns a command that mounts the disk with the seed and a filler on it, and
// then executes its arguments.
func (d *smallDisk) wrapper() []string {
	const script = `set -e
		data=$1 seed=$2 disk=$3 filler=$4; shift 4
		mount -t tmpfs -o "size=$disk" formulary-test "$data"
		cp -a "$seed/." "$data/"
		head -c "$filler" /dev/zero >"$data/filler"
		exec "$@"`
	return append(slices.Clone(d.namespace), "sh", "-c", script, "sh",
		d.storage.Data, d.seed.Data, strconv.Itoa(diskSize), strconv.Itoa(fillerSize))
}

// fillerNames are the files that take space from the database.
var fillerNames = []string{"filler", "rest"}

// file returns the path of a file on the disk as seen from this process.
func (d *smallDisk) file(p *program, name string) string {
	return filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "root", d.storage.Data, name)
}

// fillRemaining uses up the remaining space.
func (d *smallDisk) fillRemaining(p *program) {
	d.t.Helper()
	if err := os.WriteFile(d.file(p, fillerNames[1]), make([]byte, 2*diskSize), 0o600); !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatalf("take the rest of the disk: %v", err)
	}
}

func (d *smallDisk) freeSpace(p *program) {
	d.t.Helper()
	for _, name := range fillerNames {
		if err := os.Remove(d.file(p, name)); err != nil {
			d.t.Fatal(err)
		}
	}
}
