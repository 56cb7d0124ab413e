package blob_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"formulary/internal/blob"
	"formulary/internal/blob/blobtest"
)

// smallDiskVariable tells a test process that it runs with a disk of 1 MB in a folder.
const smallDiskVariable = "FORMULARY_TEST_SMALL_DISK"

// TestDisk: on a full disk and on one that is read-only, Put and Delete fail with a clear
// error, leave nothing, and objects can be read. Once that ends, everything works again.
func TestDisk(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv(smallDiskVariable); dir != "" {
		testSmallDisk(t, dir)
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const script = `mount -t tmpfs -o size=1m formulary-test "$1" && exec "$2" -test.run='^TestDisk$' -test.v`
	var output strings.Builder
	for _, namespace := range []string{"--mount", "--mount --map-root-user"} {
		dir := t.TempDir()
		args := append(strings.Fields(namespace), "sh", "-c", script, "sh", dir, program)
		cmd := exec.Command("unshare", args...)
		cmd.Env = append(os.Environ(), smallDiskVariable+"="+dir)
		out, err := cmd.CombinedOutput()
		switch {
		case err == nil && strings.Contains(string(out), "--- PASS: TestDisk"):
			return
		case strings.Contains(string(out), "--- FAIL"):
			t.Fatalf("%s", out)
		}
		output.Write(out)
	}
	t.Fatalf("this test needs a small disk, and no file system can be mounted here: run it as root, "+
		"or where user namespaces are allowed.\n%s", output.String())
}

func testSmallDisk(t *testing.T, dir string) {
	p := open(t, blob.Config{URL: dir}, dir)
	small := random(t, 1000)
	kept := p.put(small)

	err := p.Put(t.Context(), blob.NewKey(), blobtest.Random(1, 2<<20), 2<<20)
	mustBeUnavailable(t, "an object larger than the disk", err)
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the cause is missing: %v", err)
	}
	if files := blobtest.Files(t, dir); len(files) != 1 {
		t.Errorf("a full disk has the files %v", files)
	}
	if err := p.Put(t.Context(), blob.NewKey(), blobtest.Random(2, 100_000), -1); err != nil {
		t.Errorf("what was half written still takes space: %v", err)
	}

	remount := func(option string) {
		t.Helper()
		if out, err := exec.Command("mount", "-o", "remount,"+option, dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	remount("ro")
	mustBeUnavailable(t, "put on a read-only disk", p.Put(t.Context(), blob.NewKey(), strings.NewReader("x"), 1))
	mustBeUnavailable(t, "delete on a read-only disk", p.Delete(t.Context(), kept))
	if got := p.read(kept, 0, -1); string(got) != string(small) {
		t.Errorf("%d bytes were read on a read-only disk", len(got))
	}
	remount("rw")
	if err := p.Delete(t.Context(), kept); err != nil {
		t.Error(err)
	}
	if err := p.Put(t.Context(), blob.NewKey(), io.LimitReader(strings.NewReader("xyz"), 2), 2); err != nil {
		t.Error(err)
	}
}
