//go:build faults

package cli_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"formulary/internal/store/storetest"
)

// ownDisk is an ext4 of its own in a file, mounted over a data folder; this takes
// root and a loop device.
type ownDisk struct {
	t     *testing.T
	image string
	place storetest.Place
	form  survey // that is there at first
}

func newOwnDisk(t *testing.T) *ownDisk {
	t.Helper()
	d := &ownDisk{t: t, image: filepath.Join(t.TempDir(), "disk"), place: storetest.SQLite(t)}
	// Made elsewhere: this process must hold nothing of the disk.
	seed := storetest.SQLite(t)
	d.form = openSurvey(t, seed, 0)
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.image, 512<<20); err != nil {
		t.Fatal(err)
	}
	d.run("mkfs.ext4", "-q", "-F", d.image)
	d.mount()
	d.run("cp", "-a", seed.Data+"/.", d.place.Data)
	d.run("sync")
	t.Cleanup(func() { exec.Command("umount", d.place.Data).Run() })
	return d
}

func (d *ownDisk) run(words ...string) {
	d.t.Helper()
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		d.t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
	}
}

func (d *ownDisk) mount() {
	d.t.Helper()
	d.run("mount", "-o", "loop,errors=remount-ro", d.image, d.place.Data)
}
func (d *ownDisk) unmount() { d.t.Helper(); d.run("umount", d.place.Data) }

// cut takes the power away: what the file system has not brought to its disk is
// lost, as `xfs_io -x -c shutdown` does it.
func (d *ownDisk) cut() {
	d.t.Helper()
	folder, err := os.Open(d.place.Data)
	if err != nil {
		d.t.Fatal(err)
	}
	defer folder.Close()
	const goingDown, withoutLog = 0x8004587d, 2
	how := uint32(withoutLog)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, folder.Fd(), goingDown, uintptr(unsafe.Pointer(&how))); errno != 0 {
		d.t.Fatalf("shut the file system down: %v", errno)
	}
}

// After a power cut, everything that was acknowledged is on the disk.
func TestPowerCut(t *testing.T) {
	d := newOwnDisk(t)
	f := d.form
	acknowledged := map[string]string{}
	const cuts = 20
	for round := range cuts {
		p := launch(t, d.place)
		p.beforeKill = d.cut
		maps.Copy(acknowledged, p.submitUntilKilled(f, round))
		d.unmount()
		d.mount()
	}
	p := launch(t, d.place)
	found := p.stored(f)
	for id, note := range acknowledged {
		if found[id] != note {
			t.Errorf("%s was acknowledged for %s, what is there is %q", id, note, found[id])
		}
	}
	p.stop()
	figure(t, fmt.Sprintf("%d × power cut (ext4 shut down without its log)", cuts), "%d acknowledged, none lost; %d stored", len(acknowledged), len(found))
}

// On a disk that has turned read-only, reading goes on and writing is refused;
// once it is repaired, everything is there.
func TestReadOnlyDisk(t *testing.T) {
	d := newOwnDisk(t)
	f := d.form
	p := launch(t, d.place)
	taken := map[string]string{}
	for n := range 200 {
		note := fmt.Sprintf("before-%d", n)
		a := p.post(f.page, submission(note))
		taken[a.ID] = note
	}
	device, err := exec.Command("findmnt", "-n", "-o", "SOURCE", d.place.Data).Output()
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
		if wrong := a.unavailable(); wrong != "" {
			t.Fatalf("on a disk that is read-only: %s", wrong)
		}
		refused++
	}
	for _, path := range []string{"/healthz", f.page} {
		if a := p.get(path, ""); a.status != 200 {
			t.Errorf("%s on a disk that is read-only: %s", path, a)
		}
	}
	if found := p.stored(f); len(found) != len(taken) {
		t.Errorf("%d responses can be read, want %d", len(found), len(taken))
	}
	p.kill()
	d.unmount()
	exec.Command("e2fsck", "-p", "-f", d.image).Run() // it ends with 1 when it mended something
	d.mount()
	p = launch(t, d.place)
	if found := p.stored(f); !maps.Equal(found, taken) {
		t.Errorf("after the repair %d responses are there, want %d", len(found), len(taken))
	}
	p.stop()
	figure(t, "disk turned read-only", "%d refused with 503, all %d earlier ones readable meanwhile and there after the repair", refused, len(taken))
}
