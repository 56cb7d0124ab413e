package file

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Zip files with any number of parts are read by archive/zip and by Python.
func TestSplitZip(t *testing.T) {
	defer func(n int) { partEntries = n }(partEntries)
	partEntries = 3
	for _, count := range []int{0, 1, 3, 4, 6, 10} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			var out bytes.Buffer
			w := newSplitZip(&out)
			want := map[string]string{}
			for i := range count {
				name := fmt.Sprintf("folder/ü %d.txt", i)
				want[name] = fmt.Sprintf("%0*d", i*1000, i)
				entry, err := w.create(&zip.FileHeader{Name: name, Method: []uint16{zip.Store, zip.Deflate}[i%2]})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.WriteString(entry, want[name]); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.finish(); err != nil {
				t.Fatal(err)
			}
			w.close()
			if w.spool != nil {
				if _, err := os.Stat(w.spool.Name()); !os.IsNotExist(err) {
					t.Errorf("the temporary file: %v", err)
				}
			}
			r, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
			if err != nil {
				t.Fatal(err)
			}
			if len(r.File) != count {
				t.Errorf("%d entries", len(r.File))
			}
			for _, f := range r.File {
				content, err := f.Open()
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(content) // checks the checksum
				if err != nil || string(text) != want[f.Name] {
					t.Errorf("%s: %v, %d bytes, want %d", f.Name, err, len(text), len(want[f.Name]))
				}
			}
			if count > 3 {
				testWithPython(t, out.Bytes())
			}
		})
	}
}

// testWithPython reads a zip file with another implementation.
func testWithPython(t *testing.T, archive []byte) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(name, archive, 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("python3", "-m", "zipfile", "-t", name).CombinedOutput(); err != nil {
		t.Errorf("python: %v\n%s", err, text)
	}
}

// More entries or bytes than the end has room for are in a record with 64 bits, at the places
// where archive/zip writes them.
func TestDirectoryEnd(t *testing.T) {
	for _, n := range []int{0, 1, 65_534, 65_535, 70_000} {
		var out bytes.Buffer
		w := zip.NewWriter(&out)
		for i := range n {
			if _, err := w.CreateRaw(&zip.FileHeader{Name: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		offset := uint64(out.Len())
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		length := len(directoryEnd(uint64(n), 0, offset))
		size := uint64(out.Len()-length) - offset
		if got := directoryEnd(uint64(n), size, offset); !bytes.Equal(got, out.Bytes()[out.Len()-length:]) {
			t.Errorf("%d entries:\n% x, want\n% x", n, got, out.Bytes()[out.Len()-length:])
		}
	}
}
