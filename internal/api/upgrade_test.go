package api_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// lastWithoutSpaces is the last schema in which an account is one person.
const lastWithoutSpaces = 21

// An installation without spaces is upgraded: IDs, links, tokens, sessions and everything below a
// form are the same, on both engines.
func TestUpgradeToSpaces(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		token := w.Token(ada, w.app, defaultScopes)
		personal := w.PersonalToken(ada, "Mine", strings.Split(defaultScopes, ",")...)
		b := w.Browser()
		b.SignIn(ada)
		form := w.fileForm(token.Access)
		file := w.mustUpload(form, "cv", "cv.pdf", []byte("%PDF-1.7\nsmall"))
		response := w.submitFile(form, `{"name": "Eve", "cv": ["`+file+`"]}`)
		path := "/api/v1/forms/" + form
		marked := strings.Replace(samples["markResponses"], "{response}", response, 1)
		for _, r := range [][3]string{
			{"PATCH", path + "/responses/marks", marked}, {"POST", path + "/responses/" + response + "/notes", samples["createNote"]},
			{"POST", path + "/views", samples["createView"]}, {"POST", path + "/webhooks", samples["createWebhook"]}, {"POST", "/api/v1/themes", samples["createTheme"]},
			{"PUT", path + "/notifications", samples["setNotifications"]}, {"PUT", path + "/receipt", samples["setReceipt"]}, {"PUT", path + "/retention", samples["setRetention"]},
		} {
			w.expectCode(r[0]+" "+r[1], w.Call(r[0], r[1], token.Access, r[2]), 0)
		}
		read := func(s *clitest.Service, token string) (texts []string) {
			for _, part := range []string{"/api/v1/forms", path, path + "/responses", path + "/responses/marks", path + "/responses/" + response + "/notes", path + "/responses/export?format=csv", path + "/summary",
				path + "/views", path + "/webhooks", path + "/notifications", path + "/receipt", path + "/retention", path + "/versions", path + "/files/" + file, "/api/v1/themes"} {
				a := s.Call("GET", part, token, "")
				if a.StatusCode != 200 {
					t.Errorf("GET %s: %s", part, a.Text)
				}
				texts = append(texts, strings.ReplaceAll(part+": "+a.Text, s.URL, ""))
			}
			return texts
		}
		before := read(w.Service, token.Access)
		backup := filepath.Join(t.TempDir(), "backup")
		w.Command("", "backup", backup)

		storage := storetest.SQLite(t)
		if w.Storage.URL != "" {
			storage = storetest.Postgres(t)
		}
		clitest.Command(t, storage, "", "restore", withoutSpaces(t, backup))
		s := clitest.Start(t, storage, allowLoopback)
		w.expectEqual("with the token", read(s, token.Access), before)
		w.expectEqual("with the personal token", read(s, personal), before)
		refreshed := s.MustToken(s.Form("/api/oauth2/refresh", w.app.Refresh(token.Refresh)))
		w.expectEqual("with a new token", read(s, refreshed.Access), before)
		w.expectCode("the public form", s.Call("POST", "/f/"+form, "", `{"answers": {"name": "Bob"}}`), 0)
		b.URL = s.URL
		for _, page := range []string{"/", "/forms/" + form + "/responses/" + response, "/spaces"} {
			if p := b.Get(page); p.StatusCode != 200 || !strings.Contains(p.Text, "Apply") && page == "/" {
				t.Errorf("the session at %s: %d", page, p.StatusCode)
			}
		}
		// What is new works with what is old.
		made := storetest.Open(t, storage)
		user, err := made.UserByEmail(t.Context(), ada)
		if err != nil {
			t.Fatal(err)
		}
		access, err := made.Access(t.Context(), user.ID, user.ID)
		if err != nil || access.Role != account.Owner || access.Forms != nil {
			t.Errorf("access of Ada: %+v, %v", access, err)
		}
	}, allowLoopback)
}

var addedColumn = regexp.MustCompile(`ALTER TABLE (\w+) ADD COLUMN (\w+)`)

// withoutSpaces turns a backup into one of the last version without spaces: without the tables and
// the columns that later migrations add.
func withoutSpaces(t *testing.T, backup string) string {
	t.Helper()
	migrations, err := filepath.Glob("../store/migrations/*.sql")
	if err != nil || len(migrations) <= lastWithoutSpaces {
		t.Fatal(migrations, err)
	}
	added, isNew := map[string]bool{}, regexp.MustCompile(`CREATE TABLE (\w+)`)
	for _, name := range migrations[lastWithoutSpaces:] {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range addedColumn.FindAllStringSubmatch(string(text), -1) {
			added[m[1]+"."+m[2]] = true
		}
		for _, m := range isNew.FindAllStringSubmatch(string(text), -1) {
			added[m[1]] = true
		}
	}
	content, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	source := bufio.NewReader(bytes.NewReader(content))
	zip, err := gzip.NewReader(source)
	if err != nil {
		t.Fatal(err)
	}
	zip.Multistream(false) // files follow
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	older := olderBackup{added: added}
	for lines := json.NewDecoder(zip); ; {
		var line map[string]json.RawMessage
		if err := lines.Decode(&line); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if older.convert(line) {
			if err := json.NewEncoder(writer).Encode(line); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := io.ReadAll(source)
	if err == nil {
		err = os.WriteFile(backup+".older", append(out.Bytes(), files...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return backup + ".older"
}

// olderBackup leaves out tables and columns that were added later.
type olderBackup struct {
	added   map[string]bool
	table   string
	columns []string
	rows    int
}

// convert changes a line, and reports whether it stays.
func (o *olderBackup) convert(line map[string]json.RawMessage) bool {
	isAdded := func(column string) bool { return o.added[o.table+"."+column] }
	switch {
	case line["format"] != nil:
		line["schema"] = json.RawMessage(fmt.Sprint(lastWithoutSpaces))
	case line["table"] != nil:
		_ = json.Unmarshal(line["table"], &o.table)
		o.columns = nil
		_ = json.Unmarshal(line["columns"], &o.columns)
		kept := slices.DeleteFunc(slices.Clone(o.columns), isAdded)
		line["columns"], _ = json.Marshal(kept)
	case line["row"] != nil:
		var values, kept []json.RawMessage
		_ = json.Unmarshal(line["row"], &values)
		for i, value := range values {
			if !isAdded(o.columns[i]) {
				kept = append(kept, value)
			}
		}
		line["row"], _ = json.Marshal(kept)
		if !o.added[o.table] {
			o.rows++
		}
	case line["end"] != nil:
		line["rows"] = json.RawMessage(fmt.Sprint(o.rows))
		return true
	}
	return !o.added[o.table] || line["format"] != nil
}
