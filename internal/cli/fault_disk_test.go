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
	fillerSize = 2 << 20 // what is given back when the disk is full
	fillers    = 8       // clients that fill it
	// refusals in a row make a client believe that the disk is full.
	refusals = 5
	// openPages is how many each person has open; more are seldom needed.
	openPages = 120
	// returning applications are more than the last free pages can note.
	returning = 12
)

// On a full disk the service refuses what it cannot keep with 503001, keeps
// answering who only reads, loses nothing that it acknowledged, keeps nothing
// that it refused, and goes on by itself once there is room again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	small := newSmallDisk(t)
	f := openSurvey(t, small.seed, returning)
	letTimePass(t, small.seed)
	l := &ledger{t: t, f: f, p: launch(t, small.place, small.around()...),
		taken: map[string]string{}, pages: map[string]bool{}, open: map[string]url.Values{}, refused: map[string]bool{}}

	l.fill(small)
	if len(l.taken) == 0 || len(l.pages) == 0 || t.Failed() {
		t.Fatalf("%d responses and %d pages went in before the disk was full", len(l.taken), len(l.pages))
	}
	// In this order: the notes that readers are worth take the very last room.
	mustRead(t, l.p, f)
	mustRefuse(t, l.p, f)
	late := lengthy("page-late")
	if l.page(late) {
		t.Error("the page was taken on a full disk")
	}
	l.compare()

	// Room again: the same process goes on, and what was refused may be sent
	// once more.
	small.giveBack(l.p)
	l.p.eventually("taking submissions again", func() bool { return l.submit("room") || t.Failed() })
	again := slices.Collect(maps.Keys(l.refused))
	for _, note := range again {
		if !l.submit(note) {
			t.Errorf("with room again, %.20s was refused", note)
		}
	}
	if !l.page(late) {
		t.Error("with room again, the page was refused")
	}
	l.compare()
	l.p.stop()
	figure(t, "disk full, then room again", "%d responses and %d pages taken and there once; %d refused with 503, taken when sent again", len(l.taken), len(l.pages), len(again))
}

// mustRefuse submits and creates what there is no room for.
func mustRefuse(t *testing.T, p *program, f survey) {
	t.Helper()
	owner := "Authorization: Bearer " + f.token
	for name, a := range map[string]answer{
		"anybody submits":        p.post(f.page, submission(lengthy("full")), "Idempotency-Key: full"),
		"the owner submits":      p.post(f.path, submission(lengthy("full")), owner),
		"the owner makes a form": p.post("/api/v1/forms", `{"title": "More", "description": "`+strings.Repeat("more ", 300)+`"}`, owner),
	} {
		if wrong := a.unavailable(); wrong != "" {
			t.Errorf("%s on a full disk: %s", name, wrong)
		}
	}
}

// mustRead reads what needs no room. Who comes back after a while is worth a
// note: without room for it, they read all the same.
func mustRead(t *testing.T, p *program, f survey) {
	t.Helper()
	var all sync.WaitGroup
	for range fillers {
		for _, path := range []string{"/healthz", "/readyz", "/signin", f.page} {
			all.Go(func() {
				if a := p.get(path, ""); a.status != http.StatusOK {
					t.Errorf("%s on a full disk: %s", path, a)
				}
			})
		}
		for _, path := range []string{"/api/v1/me", "/api/v1/forms", "/api/v1/forms/" + f.id, f.path, f.path + "?after="} {
			all.Go(func() {
				if a := p.get(path, f.token); a.status != http.StatusOK {
					t.Errorf("%s on a full disk: %s", path, a)
				}
			})
		}
	}
	all.Wait()
	for _, token := range f.more {
		if a := p.get("/api/v1/me", token); a.status != http.StatusOK {
			t.Errorf("an application that comes back on a full disk: %s", a)
		}
	}
	if a := p.getAs("/", f.ada); a.status != http.StatusOK || !strings.Contains(a.text, "Order") {
		t.Errorf("the owner who comes back on a full disk: %s", a)
	}
}

// letTimePass makes it an hour since the application and the person were here,
// so that the service would like to write down that they are back.
func letTimePass(t *testing.T, place storetest.Place) {
	t.Helper()
	db, err := sqlite3.Open(filepath.Join(place.Data, "formulary.db"))
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

// getAs opens a page as somebody who is signed in.
func (p *program) getAs(path string, who []*http.Cookie) answer {
	r, err := http.NewRequest(http.MethodGet, p.url+path, nil)
	if err == nil {
		for _, c := range who {
			r.AddCookie(c)
		}
	}
	return p.do(r, err)
}

func lengthy(note string) string { return fmt.Sprintf("%-20s", note) + strings.Repeat(".", 3000) }

// ledger is what the clients sent and what they were told.
type ledger struct {
	t       *testing.T
	p       *program
	f       survey
	mu      sync.Mutex
	taken   map[string]string     // notes by id
	pages   map[string]bool       // notes of pages, whose ids nobody was told
	refused map[string]bool       // notes that programs may send again
	open    map[string]url.Values // pages in browsers, by their notes
}

// key is of a note's own.
func key(note string) string { return strings.TrimRight(note, " .") }

// submit says whether a submission was taken; if not, it was refused as it
// should be.
func (l *ledger) submit(note string) bool {
	a := l.p.post(l.f.page, submission(note), "Idempotency-Key: "+key(note))
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.err == nil && a.status == http.StatusCreated {
		if earlier, twice := l.taken[a.ID]; twice {
			l.t.Errorf("%s was acknowledged for %.20s and for %.20s", a.ID, earlier, note)
		}
		l.taken[a.ID] = note
		delete(l.refused, note)
		return true
	}
	if wrong := a.unavailable(); wrong != "" {
		l.t.Errorf("%.20s: %s\n%s", note, wrong, l.p.lastWords())
	}
	l.refused[note] = true
	return false
}

// page is submit for people, who get back what they typed if it is refused.
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
		l.t.Errorf("%.20s: %s\n%s", note, a, l.p.lastWords())
	}
	return false
}

// openPage opens a page in a browser of the note's own, or returns to it.
func (l *ledger) openPage(note string) url.Values {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[note] == nil {
		controls, err := l.p.openPage(l.f.page)
		if err != nil {
			l.t.Errorf("%.20s: %v", note, err)
		}
		l.open[note] = controls
	}
	return l.open[note]
}

// fill submits from several sides until nothing goes in any more. When big notes
// do not, little ones may: there is room left in what SQLite has already.
func (l *ledger) fill(d *smallDisk) {
	l.t.Helper()
	pageNote := func(client, n int) string { return lengthy(fmt.Sprintf("page-%d-%d", client, n)) }
	// The service does not believe in people who are very quick, and makes them
	// wait: so many pages are opened before the first is sent.
	for n := range openPages {
		l.openPage(pageNote(0, n))
		l.openPage(pageNote(4, n))
	}
	l.page(lengthy("page"))
	var all sync.WaitGroup
	for client := range fillers {
		all.Go(func() {
			if client%4 == 0 {
				l.untilRefused(func(n int) bool { return l.page(pageNote(client, n)) })
			} else {
				l.untilRefused(func(n int) bool { return l.submit(lengthy(fmt.Sprintf("%d-%d", client, n))) })
			}
		})
	}
	all.Wait()
	d.takeRest(l.p)
	l.untilRefused(func(n int) bool { return l.submit(fmt.Sprintf("little-%d", n)) })
}

// untilRefused sends until nothing was taken several times in a row.
func (l *ledger) untilRefused(send func(n int) bool) {
	for n, inARow := 0, 0; inARow < refusals && !l.t.Failed(); n++ {
		inARow++
		if send(n) {
			inARow = 0
		}
	}
}

// compare holds what is stored against what was acknowledged: no more, no less.
func (l *ledger) compare() {
	l.t.Helper()
	found := l.p.stored(l.f)
	for id, note := range l.taken {
		if kept, ok := found[id]; !ok || kept != note {
			l.t.Errorf("%s was acknowledged for %.20s, what is there is %.20q", id, note, kept)
		}
	}
	pages := map[string]int{}
	for id, note := range found {
		if _, ok := l.taken[id]; ok {
			continue
		}
		pages[note]++
		if !l.pages[note] {
			l.t.Errorf("%s is there with %.20q, which was refused", id, note)
		}
	}
	for note := range l.pages {
		if pages[note] != 1 {
			l.t.Errorf("the page with %.20s is there %d times", note, pages[note])
		}
	}
}

// smallDisk is a data folder on a file system of a few megabytes, which only the
// program sees: it is mounted in a namespace that ends with the program.
type smallDisk struct {
	t         *testing.T
	place     storetest.Place
	seed      storetest.Place // what the program finds there
	namespace []string
}

func newSmallDisk(t *testing.T) *smallDisk {
	t.Helper()
	d := &smallDisk{t: t, place: storetest.SQLite(t), seed: storetest.SQLite(t)}
	var said strings.Builder
	for _, d.namespace = range [][]string{{"unshare", "--mount"}, {"unshare", "--map-root-user", "--mount"}} {
		words := append(d.around(), "true")
		out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
		if err == nil {
			return d
		}
		fmt.Fprintf(&said, "%s: %v\n%s", strings.Join(d.namespace, " "), err, out)
	}
	t.Fatalf("this test needs a small disk, and no file system can be mounted here: run it as root, "+
		"or where user namespaces are allowed.\n%s", said.String())
	return nil
}

// around are the words of a command that becomes another once its disk is there,
// with the seed and a filler on it.
func (d *smallDisk) around() []string {
	const script = `set -e
		data=$1 seed=$2 disk=$3 filler=$4; shift 4
		mount -t tmpfs -o "size=$disk" formulary-test "$data"
		cp -a "$seed/." "$data/"
		head -c "$filler" /dev/zero >"$data/filler"
		exec "$@"`
	return append(slices.Clone(d.namespace), "sh", "-c", script, "sh",
		d.place.Data, d.seed.Data, strconv.Itoa(diskSize), strconv.Itoa(fillerSize))
}

// fillerNames are the files that take room from the database.
var fillerNames = []string{"filler", "rest"}

// file is one on the disk as the program sees it.
func (d *smallDisk) file(p *program, name string) string {
	return filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "root", d.place.Data, name)
}

// takeRest leaves not a byte free.
func (d *smallDisk) takeRest(p *program) {
	d.t.Helper()
	if err := os.WriteFile(d.file(p, fillerNames[1]), make([]byte, 2*diskSize), 0o600); !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatalf("take the rest of the disk: %v", err)
	}
}

func (d *smallDisk) giveBack(p *program) {
	d.t.Helper()
	for _, name := range fillerNames {
		if err := os.Remove(d.file(p, name)); err != nil {
			d.t.Fatal(err)
		}
	}
}
