package export

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"formulary/internal/form"
)

// numbered yields n responses whose answer is their number. From index broken on, their
// JSON is invalid.
func numbered(n, broken int) func(func(form.Response) error) error {
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

func TestPrefetch(t *testing.T) {
	for _, n := range []int{0, 1, blockSize - 1, blockSize, blockSize + 1, 5*blockSize + 7} {
		var got []int64
		err := prefetch(numbered(n, n), func(r form.Response, answers map[string]any) error {
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

func TestPrefetchErrors(t *testing.T) {
	written := 0
	count := func(form.Response, map[string]any) error { written++; return nil }
	if err := prefetch(numbered(3*blockSize, 2*blockSize+5), count); err == nil || written < blockSize || written > 2*blockSize+5 {
		t.Errorf("invalid answers: error %v after %d rows", err, written)
	}
	errFull := errors.New("full")
	if err := prefetch(numbered(10*blockSize, 10*blockSize), func(form.Response, map[string]any) error { return errFull }); err != errFull {
		t.Errorf("write error: got %v", err)
	}
	errSource := errors.New("gone")
	err := prefetch(func(fn func(form.Response) error) error { fn(form.Response{JSON: "{}"}); return errSource }, count)
	if err != errSource {
		t.Errorf("error of the source: got %v", err)
	}
}
