package cli_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

const (
	movedResponses = 2_000
	movedFiles     = 5
)

// moveFault is a form that is moved there and back between two spaces.
type moveFault struct {
	*testing.T
	files    *fileService
	storage  storetest.Storage
	db       *store.Store
	spaces   [2]string // where the form is, and where it goes
	env      []string
	cookies  []*http.Cookie // session of the owner
	mu       sync.Mutex
	received map[string]int // events by ID
}

// TestKilledMove: whenever the service is killed while it moves a form, the next start completes
// the move. No row is lost, changed or doubled, what is submitted in between is stored once, and
// the webhook delivers all of it.
func TestKilledMove(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		m := newMoveFault(t, storage)
		before := m.rows()
		kills, hits := timesFrom("FORMULARY_MOVE_KILLS", 3, 50), 0
		var keys, all []string
		f := survey{id: m.files.form, page: "/f/" + m.files.form}
		for round := range kills {
			for n := range 10 {
				all = append(all, fmt.Sprintf("%d-%d", round, n))
			}
			keys = append(keys, all[len(all)-10:]...)
			p := launch(t, storage, m.env...) // continues what was interrupted
			var sending sync.WaitGroup
			sending.Go(func() { keys = p.submitAll(f, keys) })
			if !m.isMoving() {
				space := m.nextSpace()
				sending.Go(func() { p.form("/forms/"+f.id+"/move", url.Values{"space": {space}}, m.cookies...) })
				p.waitUntil("started", m.isMoving)
			}
			m.waitRandomly(p, round)
			p.kill()
			sending.Wait()
			if m.isMoving() {
				hits++
			}
		}
		p := launch(t, storage, m.env...)
		p.waitUntil("all is submitted", func() bool { keys = p.submitAll(f, keys); return len(keys) == 0 })
		p.waitUntil("the move is complete", func() bool { return !m.isMoving() })
		m.compare(before, all)
		p.waitUntil("all is delivered", func() bool {
			m.mu.Lock()
			defer m.mu.Unlock()
			return len(m.received) == movedResponses+movedFiles+len(all)
		})
		p.stop()
		m.goHome()
		m.files.again(storage).expectAll("after the kills")
		if hits == 0 {
			t.Error("no kill has interrupted a move")
		}
		reportFigure(t, fmt.Sprintf("%d × kill -9 while a form with %d responses is moved there and back", kills, movedResponses),
			"%d kills interrupted a move, which was completed after the start; all rows are unchanged, and %d responses that were submitted in between are stored once", hits, len(all))
	})
}

func newMoveFault(t *testing.T, storage storetest.Storage) *moveFault {
	m := &moveFault{T: t, storage: storage, received: map[string]int{}, env: []string{"env", "FORMULARY_WEBHOOK_ALLOW=127.0.0.0/8"}}
	if storage.URL != "" { // SQLite has its key in the data directory
		m.env = webhookEnv
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.received[r.Header.Get("Webhook-Id")]++
	}))
	t.Cleanup(receiver.Close)
	s := startFileService(t, storage, "--webhook-allow=127.0.0.0/8")
	m.files = s
	created := s.Call("POST", "/api/v1/forms", s.token, `{"title": "Moved", "fields": [{"key": "doc", "kind": "file"}, {"key": "note", "kind": "short_text"}]}`)
	s.form = created.String("id")
	if a := s.Call("POST", "/api/v1/forms/"+s.form+"/publish", s.token, ""); a.StatusCode != http.StatusCreated {
		t.Fatalf("publish: %s", a.Text)
	}
	owner := s.Browser()
	owner.SignIn(fileOwner)
	if a := owner.Post("/forms/"+s.form+"/connect", url.Values{"url": {receiver.URL}, "events": {"response.created"}}); a.StatusCode != http.StatusOK {
		t.Fatalf("webhook: %d %s", a.StatusCode, a.Text)
	}
	base, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	m.cookies = owner.Jar.Cookies(base)
	for n := range movedFiles {
		s.submit(note(n))
	}
	m.db = storetest.Open(t, storage)
	m.fill()
	s.Stop()
	return m
}

// fill adds responses, of which some have tags and notes, and a space.
func (m *moveFault) fill() {
	m.Helper()
	ctx, now := m.Context(), time.Now()
	person, err := m.db.UserByEmail(ctx, fileOwner)
	if err != nil {
		m.Fatal(err)
	}
	space := store.Space{Key: id.New(id.User, now), Name: "Team"}
	if err := m.db.AddSpace(ctx, space, person, now); err != nil {
		m.Fatal(err)
	}
	m.spaces = [2]string{person.ID, space.Key}
	p, err := m.db.PublicForm(ctx, m.files.form)
	if err != nil {
		m.Fatal(err)
	}
	ids := make([]string, movedResponses)
	var clients sync.WaitGroup
	for client := range clientsOfFill {
		clients.Go(func() {
			for n := client; n < movedResponses; n += clientsOfFill {
				key := store.IdempotencyKey{App: "page/" + p.ID, Key: fmt.Sprint("filled ", n)}
				r, err := m.db.SubmitResponse(ctx, store.Submission{Form: p, Answers: map[string]any{"note": fmt.Sprint("filled ", n)}, Key: key, At: now})
				if err != nil {
					m.Error(err)
				}
				ids[n] = r.ID
			}
		})
	}
	clients.Wait()
	if _, err := m.db.MarkResponses(ctx, person.ID, p.ID, ids[:200], store.MarkChange{Add: []string{"Urgent"}}); err != nil {
		m.Fatal(err)
	}
	if _, err := m.db.AddNote(ctx, person.ID, store.ResponseKey{FormID: p.ID, ID: ids[0]}, store.NewNote{Author: person.ID, Text: "Call back"}, now); err != nil {
		m.Fatal(err)
	}
}

const clientsOfFill = 64

// isMoving says whether the move is not complete.
func (m *moveFault) isMoving() bool {
	m.Helper()
	_, err := m.db.Move(m.Context(), m.spaces[0], m.files.form)
	return err == nil
}

// nextSpace returns the ID of the space that the form is not in.
func (m *moveFault) nextSpace() string {
	m.Helper()
	owner, err := m.db.SpaceOfForm(m.Context(), m.files.form)
	if err != nil {
		m.Fatal(err)
	}
	if m.spaces[0] != owner {
		slices.Reverse(m.spaces[:])
	}
	return account.SpaceID(m.spaces[1])
}

// waitRandomly waits until a random part of the move is done; in the first round, until some
// responses are copied.
func (m *moveFault) waitRandomly(p *program, round int) {
	m.Helper()
	until, moved, pause := rand.IntN(3), rand.Int64N(movedResponses), time.Duration(rand.IntN(30))*time.Millisecond
	if round == 0 {
		until, moved, pause = 0, moved/4, 0
	}
	p.waitUntil("so far", func() bool {
		move, err := m.db.Move(m.Context(), m.spaces[0], m.files.form)
		if err != nil {
			return true // complete
		}
		switch until {
		case 0:
			return move.Moved >= moved
		case 1:
			return move.Away
		}
		owner, err := m.db.SpaceOfForm(m.Context(), m.files.form)
		return err == nil && owner == m.spaces[1]
	})
	time.Sleep(pause) // a random moment, not a condition
}

// goHome moves the form back to its first owner, whose application can read it.
func (m *moveFault) goHome() {
	m.Helper()
	person, err := m.db.UserByEmail(m.Context(), fileOwner)
	if err != nil {
		m.Fatal(err)
	}
	if owner, err := m.db.SpaceOfForm(m.Context(), m.files.form); err != nil || owner == person.ID {
		return
	}
	m.nextSpace()
	if err := m.db.StartMove(m.Context(), m.spaces[0], m.files.form, m.spaces[1], time.Now()); err != nil {
		m.Fatal(err)
	}
	if err := m.db.ContinueMoves(m.Context(), time.Now()); err != nil {
		m.Fatal(err)
	}
}

// Tables whose rows change with each submission, delivery or move.
var changingTables = []string{"account", "form", "webhook", "form_summary", "delivery", "form_address", "audit", "form_move", "form_count"}

// rows returns the rows that name the form by table, without their account.
func (m *moveFault) rows() map[string][]string {
	m.Helper()
	var file bytes.Buffer
	if _, err := m.db.Backup(m.Context(), &file); err != nil {
		m.Fatal(err)
	}
	zip, err := gzip.NewReader(&file)
	if err != nil {
		m.Fatal(err)
	}
	all := map[string][]string{}
	var table string
	var columns []string
	lines := bufio.NewReader(zip)
	for text, err := lines.ReadBytes('\n'); err == nil; text, err = lines.ReadBytes('\n') {
		var line struct {
			Table   string
			Columns []string
			Row     []any
		}
		if err := json.Unmarshal(text, &line); err != nil {
			m.Fatal(err)
		}
		if line.Table != "" {
			table, columns = line.Table, line.Columns
		}
		if line.Row == nil || !bytes.Contains(text, []byte(m.files.form)) || slices.Contains(changingTables, table) {
			continue
		}
		if i := slices.Index(columns, "account_id"); i >= 0 {
			line.Row[i] = nil
		}
		row, _ := json.Marshal(line.Row)
		all[table] = append(all[table], string(row))
	}
	return all
}

// compare checks that all rows are there once, and beside them those of what was submitted.
func (m *moveFault) compare(before map[string][]string, submitted []string) {
	m.Helper()
	after := m.rows()
	for _, table := range []string{"response", "idempotency", "file", "response_tag", "response_note", "form_version", "form_draft"} {
		if len(before[table]) == 0 {
			m.Errorf("nothing in %s is tested", table)
		}
	}
	for table := range after {
		count := map[string]int{}
		for _, row := range after[table] {
			if count[row]++; count[row] > 1 {
				m.Errorf("twice in %s: %s", table, row)
			}
		}
		for _, row := range before[table] {
			if count[row] != 1 {
				m.Errorf("missing in %s: %s", table, row)
			}
			delete(count, row)
		}
		if added := map[string]int{"response": len(submitted), "idempotency": len(submitted)}[table]; len(count) != added {
			m.Errorf("%s has %d more rows, want %d", table, len(count), added)
		}
	}
	owner, err := m.db.SpaceOfForm(m.Context(), m.files.form)
	if err != nil {
		m.Fatal(err)
	}
	total := movedResponses + movedFiles + len(submitted)
	list, err := m.db.ResponsesAfter(m.Context(), owner, m.files.form, "", int64(total)+1)
	if err != nil {
		m.Fatal(err)
	}
	notes, serials := map[string]int{}, map[int64]bool{}
	for i, r := range list {
		if i > 0 && list[i-1].ID >= r.ID {
			m.Errorf("%s is not in order", r.ID)
		}
		var answers struct{ Note string }
		if err := json.Unmarshal([]byte(r.JSON), &answers); err != nil {
			m.Fatal(err)
		}
		notes[answers.Note]++
		serials[r.Serial] = true
	}
	for _, key := range submitted {
		if notes[key] != 1 {
			m.Errorf("%s is stored %d times", key, notes[key])
		}
	}
	f, err := m.db.Form(m.Context(), owner, m.files.form)
	if err != nil || f.ResponseCount != int64(total) || len(list) != total || len(serials) != total {
		m.Errorf("%d responses are counted, %d in the list with %d serials, want %d, %v", f.ResponseCount, len(list), len(serials), total, err)
	}
}
