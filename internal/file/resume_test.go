package file

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/store"
)

// start begins an upload to a form that is not open.
func start(s *Service, name string) error {
	const content = "content"
	in := Upload{Form: &store.PublicForm{}, Field: "cv", Body: strings.NewReader(content), Size: int64(len(content))}
	_, err := s.UploadPart(context.Background(), UploadName{Name: name}, in, &Part{Body: in.Body, Stop: func() {}})
	return err
}

// An upload has its first part when it is read. Otherwise it would count as lost, and fail if
// too many are.
func TestFirstPartIsAttached(t *testing.T) {
	var s *Service
	name, missing := "", 0
	s = New(Config{Now: func() time.Time { // the first thing that an upload calls
		u, err := s.pending.find(UploadName{Name: name})
		if err != nil {
			t.Error(err)
			return time.Time{}
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.part == nil {
			missing++
		}
		return time.Time{}
	}})
	for i := range 5000 {
		name = strconv.Itoa(i)
		if err := start(s, name); fault.Wrap(err).Code != fault.FormNotOpen {
			t.Fatal(err)
		}
	}
	if missing > 0 {
		t.Errorf("%d uploads had no part", missing)
	}
}

// If too many uploads have a name, others are accepted as if they had none.
func TestManyPendingUploads(t *testing.T) {
	s := New(Config{Now: time.Now})
	for i := range maxPending {
		if err := s.pending.add(UploadName{Name: strconv.Itoa(i)}, &pendingUpload{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := start(s, "7"); !errors.Is(err, errUploadExists) {
		t.Errorf("the name of another upload: %v", err)
	}
	if err := start(s, "one more"); fault.Wrap(err).Code != fault.FormNotOpen {
		t.Errorf("one more: %v", err)
	}
}
