//go:build linux

package store_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// manyResponsesSQL inserts responses with the columns of schema 5.
var manyResponsesSQL = map[string]string{
	"sqlite":   `'{"n": ' || i || '}'`,
	"postgres": `CAST('{"n": ' || i || '}' AS JSONB)`,
}

const (
	manyResponses = 20_000
	migrateHere   = "FORMULARY_TEST_MIGRATE"
)

// An upgrade that is killed has no effect: all data is unchanged, and a later upgrade
// migrates all of it.
func TestUpgradeKilled(t *testing.T) {
	if data, isChild := os.LookupEnv(migrateHere); isChild {
		migrateInChild(t, data, os.Getenv(migrateHere+"_URL"))
		return
	}
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		const from = 5 // the next migration moves all responses to another table
		s := openAtSchema(t, storage, from)
		err := s.Exec(ctx, fmt.Sprintf(`INSERT INTO response (account_id, form_id, serial, id, version, submitted_at, answers, metadata)
			WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < %d)
			SELECT 'account', 'form', i, 'rsp_' || i, 1, i, %s, '{}' FROM numbers`, manyResponses, manyResponsesSQL[storage.Engine]))
		if err != nil {
			t.Fatal(err)
		}
		kills, finished := 0, false
		for delay := time.Millisecond; !finished; delay += delay / 2 {
			finished = !upgradeAndKill(t, storage, delay)
			version, err := s.SchemaVersion(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if version != from && version != store.Schemas() {
				t.Fatalf("killed after %v, the schema is %d", delay, version)
			}
			rows, err := s.Rows(ctx, 1, `SELECT CAST(COUNT(*) AS TEXT) || ' ' || CAST(SUM(serial) AS TEXT) || ' ' || CAST(SUM(CAST(answers ->> 'n' AS BIGINT)) AS TEXT) FROM response`)
			if err != nil {
				t.Fatal(err)
			}
			const sum = manyResponses * (manyResponses + 1) / 2
			if want := fmt.Sprint(manyResponses, " ", sum, " ", sum); rows[0][0] != want {
				t.Fatalf("killed after %v: %s, want %s", delay, rows[0][0], want)
			}
			switch {
			case version == from && finished:
				t.Fatal("the upgrade exited with success, but is incomplete")
			case version == from:
				kills++
			}
		}
		if kills < 3 {
			t.Errorf("killed only %d times", kills)
		}
		t.Logf("FIGURE | upgrade from schema %d with %d responses, killed with -9 on its way | %s | %d times nothing had changed, then all were there |",
			from, manyResponses, s.Engine(), kills)
	})
}

// migrateInChild runs in the process that is killed.
func migrateInChild(t *testing.T, data, url string) {
	s, err := store.Connect(ctx, data, url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fmt.Println("begun")
	if _, err := s.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
}

// upgradeAndKill upgrades in a separate process and kills it after the delay. It reports
// whether the process was still running.
func upgradeAndKill(t *testing.T, storage storetest.Storage, delay time.Duration) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestUpgradeKilled$")
	cmd.Env = append(os.Environ(), migrateHere+"="+storage.Data, migrateHere+"_URL="+storage.URL)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "begun" {
		t.Fatalf("the process printed %q", lines.Text())
	}
	timer := time.AfterFunc(delay, func() { cmd.Process.Kill() })
	defer timer.Stop()
	var output string
	for lines.Scan() {
		output += lines.Text() + "\n"
	}
	err = cmd.Wait()
	if exit, ok := err.(*exec.ExitError); ok && exit.Sys().(syscall.WaitStatus).Signaled() {
		return true
	}
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return false
}
