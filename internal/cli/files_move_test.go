package cli_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"formulary/internal/blob/blobtest"
	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// slowUpload is an upload whose second half is sent byte by byte, so that it does not time out.
type slowUpload struct {
	*fileService
	content []byte
	sent    int
	rest    *io.PipeWriter
	answer  chan clitest.Response
	hurry   chan struct{} // closed by finish
	stopped chan struct{} // nothing is sent byte by byte any more
}

// startUpload sends half of a file, and returns when the service stores it. No other upload may
// run until then.
func (s *fileService) startUpload(content []byte) *slowUpload {
	s.t.Helper()
	body, rest := io.Pipe()
	r, err := http.NewRequest("POST", s.URL+"/f/"+s.form+"/files?field=doc", body)
	if err != nil {
		s.t.Fatal(err)
	}
	u := &slowUpload{
		fileService: s, content: content, sent: len(content) / 2, rest: rest, answer: make(chan clitest.Response, 1),
		hurry: make(chan struct{}), stopped: make(chan struct{}),
	}
	s.t.Cleanup(func() { rest.Close() })
	go func() { u.answer <- s.Do(r) }()
	if _, err := rest.Write(content[:u.sent]); err != nil {
		s.t.Fatal(err)
	}
	isStarted := func() bool {
		for path := range blobtest.Files(s.t, filepath.Join(s.data, "files")) {
			if strings.HasSuffix(path, ".part") {
				return true
			}
		}
		return false
	}
	if !clitest.WaitFor(isStarted) {
		s.t.Fatal("the upload does not start")
	}
	go u.dribble()
	return u
}

func (u *slowUpload) dribble() {
	defer close(u.stopped)
	for {
		select {
		case <-u.hurry:
			return
		case <-time.After(time.Second):
			if _, err := u.rest.Write(u.content[u.sent : u.sent+1]); err != nil {
				return // the test has ended
			}
			u.sent++
		}
	}
}

// finish sends the second half and submits a response with the file.
func (u *slowUpload) finish() {
	u.t.Helper()
	close(u.hurry)
	<-u.stopped
	if _, err := u.rest.Write(u.content[u.sent:]); err != nil {
		u.t.Fatal(err)
	}
	u.rest.Close()
	a := <-u.answer
	if a.StatusCode != 201 {
		u.t.Fatalf("slow upload: %d %s", a.StatusCode, a.Text)
	}
	id := a.String("id")
	if a := u.Call("POST", "/f/"+u.form, "", `{"answers": {"doc": ["`+id+`"]}}`); a.StatusCode != 201 {
		u.t.Fatalf("submit: %d %s", a.StatusCode, a.Text)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.fileService.content[id] = u.content
}

// Files are moved while the service runs, and stay readable throughout.
func TestMoveFiles(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		server := blobtest.StartS3(t)
		flags := inS3(server)
		s := startFileService(t, storage, flags[1:]...)
		for n := range 5 {
			s.submit(note(n), note(n+100))
		}
		slow := s.startUpload(note(1000))
		done, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for n := 300; ; n++ {
				select {
				case <-done:
					return
				default:
					s.submit(note(n))
					if n%20 == 0 {
						s.expectAll("while files are moved")
					}
				}
			}
		}()
		target := strings.TrimPrefix(flags[0], "--files=")
		move := append([]string{"files", "move", "--to=" + target}, flags[1:]...)
		s.Command("", move...)
		close(done)
		<-stopped
		slow.finish()
		s.expectAll("after the move")
		if left := blobtest.Files(t, filepath.Join(storage.Data, "files")); len(left) > 0 {
			t.Errorf("%d files are left", len(left))
		}
		s.Command("", move...) // again
		s.Stop()
		// With the old setting, and with the new one.
		s.again(storage, flags[1:]...).expectAll("restarted")
		last := s.again(storage, flags...)
		last.expectAll("with the new setting")
		// The oldest setting still finds the files after one more move.
		third := t.TempDir()
		last.Command("", append([]string{"files", "move", "--to=" + third}, flags...)...)
		last.Stop()
		s.again(storage, flags[1:]...).expectAll("with the oldest setting")
		if files := server.Files(); len(files) > 0 {
			t.Errorf("%d files are left in S3", len(files))
		}
		if code, out := run(storage, append([]string{"files", "check", "--hashes"}, flags[1:]...)...); code != 0 {
			t.Error(out)
		}
	})
}

// A move to the same place under another name would delete everything.
func TestMoveToSamePlace(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		s := startFileService(t, storage)
		s.submit(note(1), note(2))
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(filepath.Join(storage.Data, "files"), link); err != nil {
			t.Fatal(err)
		}
		if code, out := run(storage, "files", "move", "--to="+link); code == 0 || !strings.Contains(out, "there already") {
			t.Errorf("%d: %s", code, out)
		}
		s.expectAll("after the move")
		// Neither does a check with another setting repair anything.
		if code, out := run(storage, "files", "check", "--repair", "--files="+t.TempDir()); code == 0 || !strings.Contains(out, "nothing was repaired") {
			t.Errorf("%d: %s", code, out)
		}
		s.expectAll("after the check")
		s.Stop()
	})
}
