//go:build faults

package cli_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"formulary/internal/store/storetest"
)

// loopDisk is an ext4 file system in a file, mounted over a data directory. It needs
// root and a loop device.
type loopDisk struct {
	t       *testing.T
	image   string
	storage storetest.Storage
	form    survey // created in advance
}

func newLoopDisk(t *testing.T) *loopDisk {
	t.Helper()
	var form survey
	d := newLoopDiskWith(t, func(seed storetest.Storage) { form = openSurvey(t, seed, 0) })
	d.form = form
	return d
}

// newLoopDiskWith returns a disk with the data that fill has created.
func newLoopDiskWith(t *testing.T, fill func(seed storetest.Storage)) *loopDisk {
	t.Helper()
	d := &loopDisk{t: t, image: filepath.Join(t.TempDir(), "disk"), storage: storetest.SQLite(t)}
	// Created elsewhere, so that this process has no open files on the disk.
	seed := storetest.SQLite(t)
	fill(seed)
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.image, 512<<20); err != nil {
		t.Fatal(err)
	}
	d.run("mkfs.ext4", "-q", "-F", d.image)
	d.mount()
	d.run("cp", "-a", seed.Data+"/.", d.storage.Data)
	d.run("sync")
	t.Cleanup(func() { exec.Command("umount", d.storage.Data).Run() })
	return d
}

func (d *loopDisk) run(args ...string) {
	d.t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		d.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (d *loopDisk) mount() {
	d.t.Helper()
	d.run("mount", "-o", "loop,errors=remount-ro", d.image, d.storage.Data)
}
func (d *loopDisk) unmount() { d.t.Helper(); d.run("umount", d.storage.Data) }

// powerOff shuts the file system down without flushing its log, like a power loss.
// `xfs_io -x -c shutdown` does the same.
func (d *loopDisk) powerOff() {
	d.t.Helper()
	dir, err := os.Open(d.storage.Data)
	if err != nil {
		d.t.Fatal(err)
	}
	defer dir.Close()
	const ioctlShutdown, flagNoLogFlush = 0x8004587d, 2
	flags := uint32(flagNoLogFlush)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, dir.Fd(), ioctlShutdown, uintptr(unsafe.Pointer(&flags))); errno != 0 {
		d.t.Fatalf("shut the file system down: %v", errno)
	}
}

// TestPowerCut: after a power loss, every acknowledged response is on the disk.
func TestPowerCut(t *testing.T) {
	d := newLoopDisk(t)
	f := d.form
	acknowledged := map[string]string{}
	const cuts = 20
	for round := range cuts {
		p := launch(t, d.storage)
		p.beforeKill = d.powerOff
		maps.Copy(acknowledged, p.submitUntilKilled(f, round))
		d.unmount()
		d.mount()
	}
	p := launch(t, d.storage)
	storedNotes := p.readStored(f)
	for id, note := range acknowledged {
		if storedNotes[id] != note {
			t.Errorf("%s was acknowledged for %s, but stored is %q", id, note, storedNotes[id])
		}
	}
	p.stop()
	reportFigure(t, fmt.Sprintf("%d × power cut (ext4 shut down without flushing its journal)", cuts), "%d acknowledged, none lost; %d stored", len(acknowledged), len(storedNotes))
}

// TestPowerCutWithFiles: after a power loss, every acknowledged response has all its files,
// unchanged.
func TestPowerCutWithFiles(t *testing.T) {
	var s *fileService
	d := newLoopDiskWith(t, func(seed storetest.Storage) {
		s = startFileService(t, seed)
		s.Stop()
	})
	cuts := timesFrom("FORMULARY_FILE_CUTS", 20, 20)
	for round := range cuts {
		p := launch(t, d.storage)
		p.beforeKill = d.powerOff
		p.uploadUntilKilled(s, round)
		d.unmount()
		d.mount()
	}
	p := launch(t, d.storage)
	for id, content := range s.content {
		if a := p.get("/api/v1/forms/"+s.form+"/files/"+id, s.token); a.status != http.StatusOK || a.text != string(content) {
			t.Errorf("file %s: %d, %d bytes of %d", id, a.status, len(a.text), len(content))
		}
	}
	p.stop()
	// Another process, because this one must have no open files on the disk.
	if out, err := exec.Command(p.cmd.Path, "files", "check", "--hashes", "--data="+d.storage.Data).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	reportFigure(t, fmt.Sprintf("%d × power cut during uploads", cuts), "%d files of acknowledged responses, each unchanged", len(s.content))
}

// TestReadOnlyDisk: on a disk that became read-only, reads work and writes are refused.
// After a repair, everything is still there.
func TestReadOnlyDisk(t *testing.T) {
	d := newLoopDisk(t)
	f := d.form
	p := launch(t, d.storage)
	accepted := map[string]string{}
	for n := range 200 {
		note := fmt.Sprintf("before-%d", n)
		a := p.post(f.page, submission(note))
		accepted[a.ID] = note
	}
	device, err := exec.Command("findmnt", "-n", "-o", "SOURCE", d.storage.Data).Output()
	if err != nil {
		t.Fatal(err)
	}
	trigger := filepath.Join("/sys/fs/ext4", filepath.Base(strings.TrimSpace(string(device))), "trigger_fs_error")
	if err := os.WriteFile(trigger, []byte("1"), 0o200); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for n := range 100 {
		a := p.post(f.page, submission(fmt.Sprintf("during-%d", n)))
		if problem := a.unavailable(); problem != "" {
			t.Fatalf("on a disk that is read-only: %s", problem)
		}
		refused++
	}
	for _, path := range []string{"/healthz", f.page} {
		if a := p.get(path, ""); a.status != 200 {
			t.Errorf("%s on a disk that is read-only: %s", path, a)
		}
	}
	if storedNotes := p.readStored(f); len(storedNotes) != len(accepted) {
		t.Errorf("%d responses can be read, want %d", len(storedNotes), len(accepted))
	}
	p.kill()
	d.unmount()
	exec.Command("e2fsck", "-p", "-f", d.image).Run() // it exits with 1 if it repaired something
	d.mount()
	p = launch(t, d.storage)
	if storedNotes := p.readStored(f); !maps.Equal(storedNotes, accepted) {
		t.Errorf("after the repair %d responses are there, want %d", len(storedNotes), len(accepted))
	}
	p.stop()
	reportFigure(t, "disk becomes read-only", "%d refused with 503, all %d earlier responses readable meanwhile and after the repair", refused, len(accepted))
}
