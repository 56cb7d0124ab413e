package cli_test

import (
	"bytes"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"formulary/internal/blob/blobtest"
	"formulary/internal/store/storetest"
)

// filesMount returns a command that mounts the folder for files in a namespace of its own, and
// then executes its arguments.
func filesMount(t *testing.T, storage storetest.Storage, script string) []string {
	t.Helper()
	folder := filepath.Join(storage.Data, "files")
	var output strings.Builder
	for _, namespace := range []string{"unshare --mount", "unshare --map-root-user --mount"} {
		wrapper := append(strings.Fields(namespace), "sh", "-c", "set -e; folder=$1; shift; "+script+`; exec "$@"`, "sh", folder)
		args := append(wrapper, "true")
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err == nil {
			return wrapper
		}
		output.Write(out)
	}
	t.Fatalf("this test mounts file systems: run it as root, or where user namespaces are allowed.\n%s", output.String())
	return nil
}

// uploadTo uploads a file to a program.
func (p *program) uploadTo(form string, content []byte) httpResponse {
	r, err := http.NewRequest(http.MethodPost, p.url+"/f/"+form+"/files?field=doc", bytes.NewReader(content))
	return p.do(r, err)
}

// submitIDs submits a response with files.
func (p *program) submitIDs(form string, ids ...string) httpResponse {
	list := "[]"
	if len(ids) > 0 {
		list = `["` + strings.Join(ids, `", "`) + `"]`
	}
	return p.post("/f/"+form, `{"answers": {"doc": `+list+`}}`)
}

// TestFullDiskForFiles: if there is no room for a file, the upload is refused clearly, nothing of
// it stays, and other responses are stored.
func TestFullDiskForFiles(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		s := startFileService(t, storage)
		s.Stop()
		p := launch(t, storage, filesMount(t, storage, `mount -t tmpfs -o size=1m formulary-test "$folder"`)...)
		defer p.kill()
		refused := 0
		for n := range 5 {
			if problem := p.uploadTo(s.form, bytes.Repeat([]byte("too large "), 200_000)).unavailable(); problem != "" {
				t.Errorf("upload: %s", problem)
			}
			refused++
			folder := filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "root", storage.Data, "files")
			if files := blobtest.Files(t, folder); len(files) != n {
				t.Errorf("%d files are stored, want %d", len(files), n)
			}
			if a := p.submitIDs(s.form); a.status != http.StatusCreated {
				t.Errorf("without a file: %s", a)
			}
			// The space of what was refused is free again.
			a := p.uploadTo(s.form, note(n))
			if a = p.submitIDs(s.form, a.ID); a.status != http.StatusCreated {
				t.Errorf("with a small file: %s", a)
			}
		}
		reportFigure(t, "no room for a file", "%d uploads refused with 503, nothing of them left; smaller files and responses without files stored", refused)
	})
}

// TestReadOnlyDiskForFiles: if the folder for files is read-only, uploads are refused clearly,
// files can be read, and responses without files are stored.
func TestReadOnlyDiskForFiles(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		s := startFileService(t, storage)
		file := s.submit(note(1))[0]
		token := s.token
		s.Stop()
		p := launch(t, storage, filesMount(t, storage, `mount --bind "$folder" "$folder"; mount -o remount,bind,ro "$folder"`)...)
		if problem := p.uploadTo(s.form, note(2)).unavailable(); problem != "" {
			t.Errorf("upload: %s", problem)
		}
		if a := p.get("/api/v1/forms/"+s.form+"/files/"+file, token); a.status != http.StatusOK || a.text != string(note(1)) {
			t.Errorf("download: %s", a)
		}
		if a := p.submitIDs(s.form); a.status != http.StatusCreated {
			t.Errorf("without a file: %s", a)
		}
		p.stop()
		later := s.again(storage)
		later.submit(note(3))
		later.expectAll("once the folder can be written")
		if code, out := run(storage, "files", "check", "--hashes"); code != 0 {
			t.Error(out)
		}
		reportFigure(t, "the folder for files becomes read-only", "uploads refused with 503, files readable, responses without files stored")
	})
}
