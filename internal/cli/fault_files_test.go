package cli_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"formulary/internal/blob/blobtest"
	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

const uploaders = 8

// TestKilledWithFiles: after any number of kills during uploads and submissions, every
// acknowledged response has all its files, unchanged, and no row is without bytes.
func TestKilledWithFiles(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		s := startFileService(t, storage)
		s.Stop()
		kills := timesFrom("FORMULARY_FILE_KILLS", 4, 100)
		for round := range kills {
			p := launch(t, storage)
			p.uploadUntilKilled(s, round)
		}
		s.again(storage).expectAll("after the kills")
		if code, out := run(storage, "files", "check", "--hashes"); code != 0 {
			t.Error(out)
		}
		reportFigure(t, fmt.Sprintf("%d × kill -9 during uploads", kills), "%d files of acknowledged responses, each unchanged", len(s.content))
	})
}

// uploadUntilKilled uploads and submits from many clients, and kills the program after some
// responses.
func (p *program) uploadUntilKilled(s *fileService, round int) {
	p.t.Helper()
	enough, wanted := make(chan struct{}), 1+rand.IntN(20)
	var clients sync.WaitGroup
	var mu sync.Mutex
	powerLost := false // as in submitUntilKilled
	for client := range uploaders {
		clients.Go(func() {
			for n := 0; ; n++ {
				content := []byte(strings.Repeat(fmt.Sprintf("%d-%d-%d ", round, client, n), 1+rand.IntN(50_000)))
				r, err := http.NewRequest("POST", p.url+"/f/"+s.form+"/files?field=doc", bytes.NewReader(content))
				a := p.do(r, err)
				if p.isEnding(a) {
					return
				}
				if a.status != http.StatusCreated {
					p.t.Errorf("upload: %s", a)
					return
				}
				file := a.ID
				if a = p.post("/f/"+s.form, `{"answers": {"doc": ["`+file+`"]}}`); p.isEnding(a) {
					return
				}
				if a.status != http.StatusCreated {
					p.t.Errorf("submit: %s", a)
					return
				}
				mu.Lock()
				if !powerLost {
					s.content[file] = content
				}
				if wanted--; wanted == 0 {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(waitTimeout):
		p.t.Errorf("the service takes no files\n%s", p.logTail())
	}
	mu.Lock()
	powerLost = p.beforeKill != nil
	mu.Unlock()
	p.kill()
	clients.Wait()
}

// isEnding reports whether a response comes from a program that was killed, or whose disk was
// switched off.
func (p *program) isEnding(a httpResponse) bool {
	return a.err != nil || p.beforeKill != nil && a.isRetryable()
}

// While S3 is away, uploads and downloads fail clearly, everything else works, and nothing is
// half stored.
func TestStorageAway(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		server := blobtest.StartS3(t)
		s := startFileService(t, storage, inS3(server)...)
		ids := s.submit(note(1))
		waiting := s.upload(note(2))
		server.Stop()
		r, err := http.NewRequest("POST", s.URL+"/f/"+s.form+"/files?field=doc", bytes.NewReader(note(3)))
		if err != nil {
			t.Fatal(err)
		}
		if a := s.Do(r); a.Code() != 503001 || a.Header.Get("Retry-After") == "" {
			t.Errorf("upload: %d %s", a.StatusCode, a.Text)
		}
		if status, text := s.download(ids[0]); status != 503 {
			t.Errorf("download: %d %s", status, text)
		}
		// A file that is stored can be submitted, and responses can be read and deleted.
		a := s.Call("POST", "/f/"+s.form, "", `{"answers": {"doc": ["`+waiting+`"]}}`)
		if a.StatusCode != 201 {
			t.Errorf("submit: %d %s", a.StatusCode, a.Text)
		}
		if list := s.Call("GET", "/api/v1/forms/"+s.form+"/responses", s.token, ""); list.Body["total_items"] != 2.0 {
			t.Errorf("list: %s", list.Text)
		}
		server.Restart()
		s.content[waiting] = note(2)
		if !clitest.WaitFor(func() bool { status, _ := s.download(waiting); return status == 200 }) {
			t.Error("the storage is back, and the file cannot be downloaded")
		}
		s.expectAll("after the storage is back")
		if files := server.Files(); len(files) != 2 {
			t.Errorf("%d objects are stored, want 2", len(files))
		}
	})
}
