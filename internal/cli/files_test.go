package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"formulary/internal/blob/blobtest"
	"formulary/internal/cli"
	"formulary/internal/cli/clitest"
	"formulary/internal/scan/scantest"
	"formulary/internal/store/storetest"
)

// fileService is a service with a form that takes files.
type fileService struct {
	*clitest.Service
	t     *testing.T
	data  string // the data directory
	app   clitest.App
	token string
	form  string

	mu      sync.Mutex
	content map[string][]byte // of the files in responses, by ID
}

const fileOwner = "ada@example.org"

func startFileService(t *testing.T, storage storetest.Storage, flags ...string) *fileService {
	t.Helper()
	s := &fileService{Service: clitest.Start(t, storage, append(flags, "--rate-limit=off")...), t: t, data: storage.Data, content: map[string][]byte{}}
	s.AddUser(fileOwner)
	s.app = s.AddApp(fileOwner, "https://app.example.com/cb")
	s.signIn()
	a := s.Call("POST", "/api/v1/forms", s.token, `{"title": "Files", "fields": [{"key": "doc", "kind": "file", "max_files": 20}]}`)
	s.form = a.String("id")
	if a := s.Call("POST", "/api/v1/forms/"+s.form+"/publish", s.token, ""); a.StatusCode != 201 {
		t.Fatalf("publish: %s", a.Text)
	}
	return s
}

func (s *fileService) signIn() {
	s.t.Helper()
	s.token = s.Token(fileOwner, s.app, "forms:read,forms:write,responses:read,responses:write").Access
}

// again runs the service of another storage with the same data.
func (s *fileService) again(storage storetest.Storage, flags ...string) *fileService {
	s.t.Helper()
	other := &fileService{Service: clitest.Start(s.t, storage, append(flags, "--rate-limit=off")...), t: s.t, data: storage.Data, app: s.app, form: s.form, content: s.content}
	other.signIn()
	return other
}

// upload stores a file and returns its ID.
func (s *fileService) upload(content []byte) string {
	s.t.Helper()
	r, err := http.NewRequest("POST", s.URL+"/f/"+s.form+"/files?field=doc", bytes.NewReader(content))
	if err != nil {
		s.t.Fatal(err)
	}
	a := s.Do(r)
	if a.StatusCode != 201 {
		s.t.Fatalf("upload: %d %s", a.StatusCode, a.Text)
	}
	return a.String("id")
}

// submit stores a response with files.
func (s *fileService) submit(contents ...[]byte) (ids []string) {
	s.t.Helper()
	for _, content := range contents {
		ids = append(ids, s.upload(content))
	}
	if a := s.Call("POST", "/f/"+s.form, "", `{"answers": {"doc": ["`+strings.Join(ids, `", "`)+`"]}}`); a.StatusCode != 201 {
		s.t.Fatalf("submit: %d %s", a.StatusCode, a.Text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, id := range ids {
		s.content[id] = contents[i]
	}
	return ids
}

func (s *fileService) download(id string) (int, []byte) {
	s.t.Helper()
	r, err := http.NewRequest("GET", s.URL+"/api/v1/forms/"+s.form+"/files/"+id, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, body
}

// expectAll downloads every file of the responses.
func (s *fileService) expectAll(when string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, content := range s.content {
		if status, got := s.download(id); status != 200 || !bytes.Equal(got, content) {
			s.t.Errorf("%s: file %s: %d, %d bytes, want %d", when, id, status, len(got), len(content))
		}
	}
}

func note(n int) []byte { return []byte(strings.Repeat(fmt.Sprintf("note %d. ", n), 500+n)) }

// run runs a command that may fail.
func run(storage storetest.Storage, command ...string) (code int, out string) {
	var text bytes.Buffer
	args := append(command, "--data="+storage.Data, "--database-url="+storage.URL)
	code = cli.DefaultTuning.Run(context.Background(), args, strings.NewReader(""), &text, &text)
	return code, text.String()
}

// inS3 returns the flags for files on an S3 server.
func inS3(server *blobtest.S3) []string {
	c := server.Config()
	return []string{"--files=" + c.URL, "--s3-key=" + c.Key, "--s3-secret=" + c.Secret}
}

// otherEngine returns an empty database of the other kind.
func otherEngine(t *testing.T, storage storetest.Storage) storetest.Storage {
	if storage.URL == "" {
		return storetest.Postgres(t)
	}
	return storetest.SQLite(t)
}

// A backup has all files of acknowledged responses in it, also if more are uploaded
// meanwhile, and can be restored to the other database and the other storage.
func TestBackupWithFiles(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		s := startFileService(t, storage)
		for n := range 5 {
			s.submit(note(n), note(n+100))
		}
		s.upload(note(200)) // not claimed
		done, stopped := make(chan struct{}), make(chan struct{})
		before := maps.Clone(s.content)
		go func() {
			defer close(stopped)
			for n := 300; ; n++ {
				select {
				case <-done:
					return
				default:
					s.submit(note(n))
				}
			}
		}()
		backup := filepath.Join(t.TempDir(), "backup")
		s.Command("", "backup", backup)
		close(done)
		<-stopped
		s.Stop()
		s.content = before

		other := otherEngine(t, storage)
		flags := inS3(blobtest.StartS3(t))
		clitest.Command(t, other, "", append([]string{"restore", backup}, flags...)...)
		if out := clitest.Command(t, other, "", append([]string{"files", "check", "--hashes"}, flags...)...); !strings.Contains(out, "0 problems") {
			t.Errorf("after the restore: %s", out)
		}
		s.again(other, flags...).expectAll("restored")

		whole, err := os.ReadFile(backup)
		if err != nil {
			t.Fatal(err)
		}
		damaged := bytes.Replace(whole, note(1)[:100], bytes.Repeat([]byte("x"), 100), 1)
		for name, content := range map[string][]byte{"cut off": whole[:len(whole)-10], "cut in a file": whole[:len(whole)-3000], "damaged": damaged} {
			if err := os.WriteFile(backup, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if code, out := run(storetest.SQLite(t), "restore", backup); code == 0 {
				t.Errorf("a backup that is %s was restored: %s", name, out)
			}
		}
	})
}

// ownPicture is a picture of the owner as it is stored.
type ownPicture struct {
	id      string
	content []byte
}

// addPicture stores a picture of the owner.
func (s *fileService) addPicture() (p ownPicture) {
	s.t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 20, 10))); err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequest("POST", s.URL+"/api/v1/files", &file)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	a := s.Do(r)
	if a.StatusCode != 201 {
		s.t.Fatalf("picture: %d %s", a.StatusCode, a.Text)
	}
	p.id = a.String("id")
	res, err := http.Get(s.URL + "/pictures/" + p.id)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	if p.content, err = io.ReadAll(res.Body); err != nil {
		s.t.Fatal(err)
	}
	return p
}

func TestCheckFiles(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		s := startFileService(t, storage)
		ids := s.submit(note(1), note(2), note(3))
		upload := s.upload(note(4))
		picture := s.addPicture()
		if out := s.Command("", "files", "check", "--hashes"); !strings.Contains(out, "Checked 5 files: 0 problems.") {
			t.Errorf("before: %s", out)
		}
		archive := filepath.Join(t.TempDir(), "all.zip")
		s.Command("", "export", s.form, "--format=zip", "-o", archive)
		if text, err := os.ReadFile(archive); err != nil || !bytes.Contains(text, []byte("responses.csv")) || !bytes.Contains(text, []byte("/doc/file")) {
			t.Errorf("archive: %d bytes (%v)", len(text), err)
		}
		objects := slices.Collect(maps.Keys(blobtest.Files(t, filepath.Join(storage.Data, "files"))))
		find := func(content []byte) string {
			for _, path := range objects {
				if got, err := os.ReadFile(path); err == nil && bytes.Equal(got, content) {
					return path
				}
			}
			t.Fatal("no such object")
			return ""
		}
		change := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		orphan := find(note(1))
		change(os.Rename(find(note(2)), filepath.Join(t.TempDir(), "lost")))
		change(os.WriteFile(find(note(3)), bytes.ToUpper(note(3)), 0o600))
		change(os.Remove(find(note(4))))
		damaged, err := os.ReadFile(find(picture.content))
		change(err)
		damaged[len(damaged)/2] ^= 1
		change(os.WriteFile(find(picture.content), damaged, 0o600))
		// Objects without a row: only the old one is deleted.
		old, recent := orphan[:len(orphan)-4]+"0000", orphan[:len(orphan)-4]+"1111"
		change(os.WriteFile(old, note(5), 0o600))
		change(os.WriteFile(recent, note(5), 0o600))
		change(os.Chtimes(old, time.Now(), time.Now().Add(-25*time.Hour)))
		code, out := run(storage, "files", "check", "--hashes", "--repair")
		if code == 0 || strings.Count(out, "(repaired)") != 2 || !strings.Contains(out, "5 problems") {
			t.Errorf("repair: %d %s", code, out)
		}
		for _, want := range []string{ids[1] + " of response", ids[2] + " of response", upload, "picture " + picture.id + ": its bytes have changed"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s is not in\n%s", want, out)
			}
		}
		if _, err := os.Stat(old); err == nil {
			t.Error("the old object is still there")
		}
		if _, err := os.Stat(recent); err != nil {
			t.Error("the recent object is gone")
		}
		if status, _ := s.download(ids[0]); status != 200 {
			t.Errorf("the intact file: %d", status)
		}
		if status, _ := s.download(ids[1]); status != 500 {
			t.Errorf("the lost file: %d", status)
		}
	})
}

// Nothing can be downloaded before it was scanned, and an unavailable scanner does not
// make a file clean.
func TestScannedFiles(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		scanner := scantest.Start(t)
		s := startFileService(t, storage, "--clamd="+scanner.Address)
		ids := s.submit(note(1), []byte("some text with "+scantest.Malware+" in it"))
		if !clitest.WaitFor(func() bool { status, _ := s.download(ids[0]); return status == 200 }) {
			t.Error("a clean file cannot be downloaded")
		}
		if !clitest.WaitFor(func() bool { _, text := s.download(ids[1]); return strings.Contains(string(text), "contains malware") }) {
			_, text := s.download(ids[1])
			t.Errorf("malware: %s", text)
		}
		large := s.submit(bytes.Repeat([]byte("large "), scantest.MaxLength/6+1))[0]
		isTooLarge := func() bool {
			status, text := s.download(large)
			return status == 409 && strings.Contains(string(text), "409005") && strings.Contains(string(text), "too large")
		}
		if !clitest.WaitFor(isTooLarge) {
			t.Error("a file above the limit of the scanner is not reported")
		}
		scanner.Stop()
		scanner.RestartWith(2 * scantest.MaxLength)
		s.submit(note(3)) // wakes the scanner
		if !isTooLarge() {
			t.Error("the file is scanned again without being asked")
		}
		if out := s.Command("", "files", "check", "--rescan"); !strings.Contains(out, "scan 1 file again") {
			t.Errorf("rescan: %s", out)
		}
		s.submit(note(4))
		if !clitest.WaitFor(func() bool { status, _ := s.download(large); return status == 200 }) {
			t.Error("the file is not scanned again")
		}
		scanner.Stop()
		waiting := s.submit(note(2))[0]
		if status, text := s.download(waiting); status != 409 || !strings.Contains(string(text), "409005") {
			t.Errorf("without a scanner: %d %s", status, text)
		}
		if status, _ := s.download(ids[0]); status != 200 {
			t.Error("a file that was scanned cannot be downloaded any more")
		}
	})
}
