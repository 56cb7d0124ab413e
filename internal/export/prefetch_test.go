package export

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"formulary/internal/form"
)

// some goes through n responses, each with its number as the answer; from broken
// on they cannot be read.
func some(n, broken int) func(func(form.Response) error) error {
	return func(fn func(form.Response) error) error {
		for i := range n {
			text := fmt.Sprintf(`{"n": %d}`, i)
			if i >= broken {
				text = `{"n": `
			}
			if err := fn(form.Response{Serial: int64(i), JSON: text}); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestReadAhead(t *testing.T) {
	for _, n := range []int{0, 1, blockSize - 1, blockSize, blockSize + 1, 5*blockSize + 7} {
		var got []int64
		err := prefetch(some(n, n), func(r form.Response, answers map[string]any) error {
			if len(answers) != 1 || answers["n"] != float64(r.Serial) {
				t.Fatalf("response %d has the answers %v", r.Serial, answers)
			}
			got = append(got, r.Serial)
			return nil
		})
		if err != nil || len(got) != n || !slices.IsSorted(got) {
			t.Errorf("%d responses: wrote %d, %v", n, len(got), err)
		}
	}
}

func TestReadAheadFails(t *testing.T) {
	wrote := 0
	count := func(form.Response, map[string]any) error { wrote++; return nil }
	if err := prefetch(some(3*blockSize, 2*blockSize+5), count); err == nil || wrote < blockSize || wrote > 2*blockSize+5 {
		t.Errorf("what cannot be read: %v after %d", err, wrote)
	}
	full := errors.New("full")
	if err := prefetch(some(10*blockSize, 10*blockSize), func(form.Response, map[string]any) error { return full }); err != full {
		t.Errorf("what cannot be written: %v", err)
	}
	gone := errors.New("gone")
	err := prefetch(func(fn func(form.Response) error) error { fn(form.Response{JSON: "{}"}); return gone }, count)
	if err != gone {
		t.Errorf("what cannot be gone through: %v", err)
	}
}
