package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"io"
	"os"
	"runtime/pprof"
	"testing"
	"time"
)

// A profile says nothing of the machine that it was made on, and is one still.
func TestWithoutPaths(t *testing.T) {
	var made bytes.Buffer
	if err := pprof.StartCPUProfile(&made); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(nil)
	for start := time.Now(); time.Since(start) < 300*time.Millisecond; {
		sum = sha256.Sum256(sum[:])
	}
	pprof.StopCPUProfile()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if text := unzipped(t, made.Bytes()); !bytes.Contains(text, []byte(program)) {
		t.Fatal("a profile does not name its program any more")
	}
	clean, err := withoutPaths(made.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	text := unzipped(t, clean)
	if bytes.Contains(text, []byte(program)) {
		t.Error("the profile names the program's file")
	}
	if !bytes.Contains(text, []byte("crypto/sha256.Sum256")) {
		t.Error("the profile has lost its functions")
	}
	again, err := withoutPaths(clean)
	if err != nil || !bytes.Equal(unzipped(t, again), text) {
		t.Errorf("a clean profile is no longer the same: %v", err)
	}

	var broken bytes.Buffer
	zip := gzip.NewWriter(&broken)
	zip.Write([]byte{profileText<<3 | 2, 200, 'x'}) // says that it is longer than it is
	zip.Close()
	for _, wrong := range [][]byte{nil, []byte("no zip"), broken.Bytes()} {
		if _, err := withoutPaths(wrong); err == nil {
			t.Errorf("%q is taken for a profile", wrong)
		}
	}
}

func unzipped(t *testing.T, zipped []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
