package db

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// eachGenerations runs a test with the counters of this platform and with those of
// platforms that cannot map files.
func eachGenerations(t *testing.T, test func(t *testing.T, dir string, open func() generations)) {
	t.Helper()
	for name, open := range map[string]func(string) (generations, error){
		"platform": openGenerations,
		"file":     func(dir string) (generations, error) { return openFileGenerations(dir) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			test(t, dir, func() generations {
				t.Helper()
				m, err := open(dir)
				if err != nil {
					t.Fatal(err)
				}
				return m
			})
		})
	}
}

func TestGenerationsTellOtherProcesses(t *testing.T) {
	eachGenerations(t, func(t *testing.T, dir string, open func() generations) {
		server, command := open(), open()
		const ada, bob = "usr_ada", "usr_bob"
		if GenerationSlot(ada) == GenerationSlot(bob) {
			t.Fatal("choose owners that share no counter")
		}
		for i, step := range []struct {
			by       generations
			owner    string
			ada, bob bool // whose values become invalid
		}{
			{server, ada, true, false},
			{command, ada, true, false},
			{command, bob, false, true},
			{server, AllOwners, true, true},
			{command, AllOwners, true, true},
		} {
			for _, reader := range []generations{server, command} {
				adaBefore, bobBefore := reader.of(ada), reader.of(bob)
				if reader.of(ada) != adaBefore {
					t.Fatalf("step %d: a generation changed by itself", i)
				}
				step.by.invalidate(step.owner)
				if changed := reader.of(ada) != adaBefore; changed != step.ada {
					t.Errorf("step %d: changed for Ada: %t, not %t", i, changed, step.ada)
				}
				if changed := reader.of(bob) != bobBefore; changed != step.bob {
					t.Errorf("step %d: changed for Bob: %t, not %t", i, changed, step.bob)
				}
			}
		}
		before := server.of(ada)
		open() // another process starts
		if server.of(ada) != before {
			t.Error("opening the file changed a generation")
		}
	})
}

// A number that comes back would make an old value valid again.
func TestGenerationsNeverComeBack(t *testing.T) {
	eachGenerations(t, func(t *testing.T, dir string, open func() generations) {
		const writers, changes = 4, 500
		reader := open()
		var group sync.WaitGroup
		for range writers {
			m := open()
			group.Go(func() {
				for range changes {
					m.invalidate("usr_ada")
				}
			})
		}
		seen := map[uint64]bool{}
		last := reader.of("usr_ada")
		for range writers * changes {
			if now := reader.of("usr_ada"); now != last {
				if seen[now] {
					t.Fatalf("%d was there before", now)
				}
				seen[last], last = true, now
			}
		}
		group.Wait()
		if now := reader.of("usr_ada"); seen[now] {
			t.Fatalf("%d was there before", now)
		}
	})
}

func TestGenerationsFileIsExtendedNotReset(t *testing.T) {
	eachGenerations(t, func(t *testing.T, dir string, open func() generations) {
		name := filepath.Join(dir, generationsFile)
		if err := os.WriteFile(name, []byte("counters"), 0o600); err != nil {
			t.Fatal(err)
		}
		open()
		open()
		text, err := os.ReadFile(name)
		if err != nil || len(text) != generationsSize || string(text[:8]) != "counters" {
			t.Errorf("%d bytes that begin with %q: %v", len(text), text[:min(8, len(text))], err)
		}
	})
}

// Without the file, changes made elsewhere cannot be seen: nothing may be cached.
func TestFileGenerationsWithoutFile(t *testing.T) {
	m, err := openFileGenerations(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m.file.Close()
	before := m.of("usr_ada")
	if m.of("usr_ada") == before {
		t.Error("a generation stayed the same although the file cannot be read")
	}
	m.invalidate("usr_ada")
}

func BenchmarkGenerations(b *testing.B) {
	for name, open := range map[string]func(string) (generations, error){
		"platform": openGenerations,
		"file":     func(dir string) (generations, error) { return openFileGenerations(dir) },
	} {
		b.Run(name, func(b *testing.B) {
			m, err := open(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			owners := make([]string, 64)
			for i := range owners {
				owners[i] = fmt.Sprint("usr_", i)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				m.of(owners[i%len(owners)])
			}
		})
	}
}

// UseFileGenerations makes a database learn of changes as it does on platforms that
// cannot map files.
func UseFileGenerations(d DB) error {
	db := d.(*sqlite)
	g, err := openFileGenerations(filepath.Dir(db.path))
	db.generations = g
	return err
}
