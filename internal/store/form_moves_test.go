package store_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Tables with rows of a form that do not move: who may use the form ends or is changed.
var notMoved = []string{"form_address", "form_share", "membership_form", "invitation", "consent_form", "form_editor", "form_move"}

// Every table that names a form moves with it. A new one must be added to movedTables.
func TestAllTablesMove(t *testing.T) {
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	tables := regexp.MustCompile(`(?s)CREATE TABLE (\w+) \(\n(.*?)\n\) WITHOUT ROWID;`)
	found := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range tables.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(table[2], "\n  form_id ") || table[1] == "response_in_order" || table[1] == "nth_serial" {
				continue
			}
			found++
			if !slices.Contains(store.MovedTables(), table[1]) && !slices.Contains(notMoved, table[1]) {
				t.Errorf("rows of %s do not move with their form", table[1])
			}
		}
	}
	if found < 20 {
		t.Errorf("%d tables name a form", found)
	}
}

// moveTest is a form with rows in all tables.
type moveTest struct {
	*testing.T
	s       *store.Store
	ada     account.User
	space   string
	form    *store.PublicForm
	webhook store.Webhook
	ids     []string
}

func newMoveTest(t *testing.T, s *store.Store) *moveTest {
	t.Helper()
	ada, now := addUser(t, s, "ada@example.com"), time.Now()
	m := &moveTest{T: t, s: s, ada: ada, space: addSpace(t, s, "Team", ada)}
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	m.form = openForm(t, s, ada.ID, `{"fields": [{"key": "n", "kind": "number"}, {"key": "mail", "kind": "email"}, {"key": "cv", "kind": "file"},
		{"key": "c", "kind": "single_choice", "options": [{"value": "a", "cap": 100}, {"value": "b"}]}]}`)
	m.webhook = addWebhook(t, s, ada.ID, m.form.ID)
	for i := range 20 {
		r, err := s.SubmitResponse(ctx, m.submission(i))
		must(r, err)
		m.ids = append(m.ids, r.ID)
	}
	delivered(t, s, ada.ID, m.webhook, m.ids[3])
	file := store.File{FormID: m.form.ID, FieldID: m.form.Definition.Field("cv").ID, CreatedAt: now, SHA256: "x", Client: "c", Object: "o"}
	file.File = form.File{ID: id.New(id.File, now), Name: "a.pdf", Size: 10, Type: "application/pdf"}
	must(nil, s.AddFile(ctx, ada.ID, file))
	notify(t, s, m.form, store.NotifyEach, ada.Email, "bob@example.org")
	must(nil, s.SetReceipt(ctx, ada.ID, m.form.ID, store.ReceiptChange{Receipt: store.Receipt{Active: true, Field: "mail", Text: "Hi"}}, now))
	must(s.SetRetention(ctx, ada.ID, m.form.ID, store.RetentionChange{Days: 30}, now))
	must(s.MarkResponses(ctx, ada.ID, m.form.ID, m.ids[5:9], store.MarkChange{Add: []string{"Urgent"}}))
	must(s.AddNote(ctx, ada.ID, store.ResponseKey{FormID: m.form.ID, ID: m.ids[6]}, store.NewNote{Author: ada.ID, Text: "Call back"}, now))
	must(s.DeleteResponsesWithUndo(ctx, ada.ID, m.form.ID, m.ids[:2], now))
	must(s.AddView(ctx, ada.ID, store.View{FormID: m.form.ID, Name: "Mine"}, store.IdempotencyKey{}, now))
	must(nil, s.SaveResponseLayout(ctx, ada.ID, m.form.ID, ada.ID, store.ResponseLayout{}))
	must(s.Summary(ctx, ada.ID, m.form.ID))
	must(nil, s.Exec(ctx, `INSERT INTO form_visit (account_id, form_id, day, version, kind, part, n) VALUES ($1, $2, 1, 1, 'opened', '', 7)`, ada.ID, m.form.ID))
	return m
}

func (m *moveTest) submission(i int) store.Submission {
	return store.Submission{Form: m.form, Answers: map[string]any{"n": float64(i), "mail": "cy@example.org", "c": "a"}, At: time.Now(),
		Key: store.IdempotencyKey{App: "page/" + m.form.ID, Key: fmt.Sprint("key", i)}}
}

// rows returns all rows of the form by table, without their account; owner: only those of this one.
func (m *moveTest) rows(owner ...string) map[string][]string {
	m.Helper()
	var file bytes.Buffer
	if _, err := m.s.Backup(ctx, &file); err != nil {
		m.Fatal(err)
	}
	zip, err := gzip.NewReader(&file)
	if err != nil {
		m.Fatal(err)
	}
	all := map[string][]string{}
	var table string
	var columns []string
	for lines := bufio.NewReader(zip); ; {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
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
		if line.Row == nil || !strings.Contains(string(text), m.form.ID) || slices.Contains(notMoved, table) || table == "account" {
			continue
		}
		if i := slices.Index(columns, "account_id"); i >= 0 && owner != nil && !slices.Contains(owner, fmt.Sprint(line.Row[i])) {
			continue
		}
		for i, name := range columns {
			if name == "account_id" || table == "form" && (name == "serial" || name == "revision") {
				line.Row[i] = nil
			}
		}
		row, _ := json.Marshal(line.Row)
		all[table] = append(all[table], string(row))
	}
	for _, list := range all {
		slices.Sort(list)
	}
	return all
}

// Everything of a form arrives in the other space, whichever node does the next step.
func TestMoveForm(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		m := newMoveTest(t, s)
		other := storetest.Open(t, storage)
		before := m.rows()
		for _, table := range store.MovedTables() {
			if len(before[table]) == 0 && table != "form_visit" { // backups have no visits
				t.Errorf("nothing in %s is tested", table)
			}
		}
		sum, err := s.Summary(ctx, m.ada.ID, m.form.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.StartMove(ctx, m.ada.ID, m.form.ID, m.space, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := other.StartMove(ctx, m.ada.ID, m.form.ID, m.space, time.Now()); fault.Wrap(err).Code != fault.Conflict {
			t.Errorf("a second move: %v", err)
		}
		nodes, batches, steps := []*store.Store{s, other}, [2]store.MoveBatch{}, 0
		step := func() (done bool) {
			done, err := nodes[steps%2].StepMove(ctx, m.ada.ID, m.form.ID, &batches[steps%2], time.Now())
			if err != nil {
				t.Fatalf("step %d: %v", steps, err)
			}
			steps++
			return done
		}
		for range 4 {
			step()
			if p, err := other.PublicForm(ctx, m.form.ID); err != nil || p.Owner != m.ada.ID {
				t.Fatalf("step %d: the public form: %+v, %v", steps, p, err)
			}
		}
		m.changeWhileCopied()
		audit := before["audit"]
		before = m.rows(m.ada.ID)
		for move, err := s.Move(ctx, m.ada.ID, m.form.ID); !move.Away; move, err = s.Move(ctx, m.ada.ID, m.form.ID) {
			if step(); err != nil {
				t.Fatal(err)
			}
		}
		for {
			// Nobody can submit or change anything, and nobody is told that the form does not exist.
			if _, err := other.PublicForm(ctx, m.form.ID); fault.Wrap(err).Code != fault.DatabaseUnreachable {
				t.Fatalf("step %d: the public form: %v", steps, err)
			}
			if _, err := s.SubmitResponse(ctx, m.submission(100+steps)); fault.Wrap(err).Code != fault.DatabaseUnreachable {
				t.Fatalf("step %d: a submission: %v", steps, err)
			}
			for _, owner := range []string{m.ada.ID, m.space} {
				if err := s.DeleteForm(ctx, owner, m.form.ID, 0, time.Now()); !errors.Is(err, fault.NotFound) {
					t.Fatalf("step %d: deleting the form: %v", steps, err)
				}
			}
			if _, err := s.DeleteSpace(ctx, m.space, time.Now()); fault.Wrap(err).Code != fault.Conflict {
				t.Fatalf("step %d: deleting the space: %v", steps, err)
			}
			if _, err := s.DeleteUser(ctx, m.ada.ID, time.Now()); fault.Wrap(err).Code != fault.Conflict {
				t.Fatalf("step %d: deleting the user: %v", steps, err)
			}
			// A dispatcher that was busy when the move started.
			if err := s.CommitDeliveries(ctx, m.ada.ID, store.DeliveryCommit{Key: m.webhook.WebhookKey, From: m.ids[3][4:], Position: m.ids[4][4:]}); !errors.Is(err, store.ErrPositionMoved) {
				t.Fatalf("step %d: deliveries: %v", steps, err)
			}
			step()
			if p, err := other.PublicForm(ctx, m.form.ID); err == nil && p.Owner == m.space {
				break
			}
		}
		if err := s.StartMove(ctx, m.space, m.form.ID, m.ada.ID, time.Now()); fault.Wrap(err).Code != fault.Conflict {
			t.Errorf("back, before the move is complete: %v", err)
		}
		for !step() {
		}
		if steps < 15 {
			t.Errorf("the move has %d steps only", steps)
		}
		after := m.rows()
		all := strings.Join(after["audit"][len(audit):], "\n")
		if strings.Count(all, "form.moved_out") != 1 || strings.Count(all, "form.moved_in") != 1 {
			t.Errorf("the audit logs have %s", all)
		}
		after["audit"] = before["audit"]
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("rows before and after:\n%s", diff)
		}
		if rows, err := s.Rows(ctx, 1, `SELECT account_id FROM response WHERE account_id = $1 AND form_id = $2 LIMIT 1`, m.ada.ID, m.form.ID); err != nil || len(rows) > 0 {
			t.Errorf("responses are still in the old space: %v, %v", rows, err)
		}
		if rows, err := s.Rows(ctx, 1, `SELECT CAST(n AS TEXT) FROM form_visit WHERE account_id = $1 AND form_id = $2`, m.space, m.form.ID); err != nil || len(rows) != 1 || rows[0][0] != "7" {
			t.Errorf("visits: %v, %v", rows, err)
		}
		for owner, want := range map[string]int64{m.ada.ID: 0, m.space: 1} {
			if list, total, err := s.Forms(ctx, owner, store.FormFilter{}, store.NewestFirst, store.Page{Limit: 10}); err != nil || total != want || int64(len(list)) != want {
				t.Errorf("%s has %d forms, %v", owner, total, err)
			}
		}
		if after, err := other.Summary(ctx, m.space, m.form.ID); err != nil || after.Responses != sum.Responses+2 {
			t.Errorf("summary: %+v, %v", after, err)
		}
		// Both nodes find the form, and a repeated submission stores nothing.
		for _, node := range []*store.Store{s, other} {
			p, err := node.PublicForm(ctx, m.form.ID)
			if err != nil || p.Owner != m.space {
				t.Fatalf("the public form: %+v, %v", p, err)
			}
			m.form = p
			if r, err := node.SubmitResponse(ctx, m.submission(7)); err != nil || r.ID != m.ids[7] {
				t.Errorf("repeated: %s, %v", r.ID, err)
			}
		}
		if _, err := other.SubmitResponse(ctx, m.submission(200)); err != nil {
			t.Error(err)
		}
		if n, err := s.RestoreResponses(ctx, m.space, m.form.ID, []string{m.ids[1], m.ids[17]}, time.Now()); err != nil || n != 2 {
			t.Errorf("restored %d, %v", n, err)
		}
		// The webhook continues where it was.
		active, err := s.ActiveWebhooks(ctx, m.space)
		if err != nil || len(active) != 1 || active[0].Position != m.ids[3][4:] || !active[0].Behind {
			t.Errorf("webhooks: %+v, %v", active, err)
		}
		if _, err := s.DeleteSpace(ctx, m.space, time.Now()); err != nil {
			t.Error(err)
		}
		if left := m.rows(); len(left["response"]) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}
