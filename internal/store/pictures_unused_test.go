package store_test

import (
	"errors"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
)

// Pictures that no form and no theme uses are deleted after 30 days.
func TestUnusedPictures(t *testing.T) {
	forEachFileFixture(t, func(t *testing.T, w *fileFixture) {
		now := time.Now()
		add := func() string {
			t.Helper()
			p := store.Picture{ID: id.New(id.File, now), Name: "a.png", Size: 10, Type: "image/png", SHA256: "x", Width: 1, Height: 1, CreatedAt: now}
			p.Object = "object of " + p.ID
			w.stored[p.Object] = true
			if err := w.AddPicture(ctx, w.owner, p); err != nil {
				t.Fatal(err)
			}
			return p.ID
		}
		unused, drafted, published, themed := add(), add(), add(), add()
		update := func(cover, logo string) {
			t.Helper()
			if _, err := w.UpdateForm(ctx, w.owner, store.FormRevision{ID: w.form.ID}, func(p *form.FormInput) error {
				p.Definition.Design.Cover, p.Definition.Design.Logo = cover, logo
				return nil
			}, now); err != nil {
				t.Fatal(err)
			}
		}
		update(published, "")
		if _, err := w.Publish(ctx, w.owner, store.FormRevision{ID: w.form.ID}, store.IdempotencyKey{}, now); err != nil {
			t.Fatal(err)
		}
		update("", drafted)
		if _, err := w.AddTheme(ctx, w.owner, form.Theme{Name: "Ours", Design: form.Design{Logo: themed}}, store.IdempotencyKey{}, now); err != nil {
			t.Fatal(err)
		}
		sweep := func(age time.Duration, want int) {
			t.Helper()
			if err := w.SweepFiles(ctx, now.Add(age)); err != nil {
				t.Fatal(err)
			}
			w.expectObjects(age.String(), want)
		}
		const month = 30 * 24 * time.Hour
		sweep(month-time.Minute, 4)
		sweep(2*month, 3)
		if _, err := w.Picture(ctx, unused); !errors.Is(err, fault.NotFound) {
			t.Errorf("the unused picture: %v", err)
		}
		for _, used := range []string{drafted, published, themed} {
			if _, err := w.Picture(ctx, used); err != nil {
				t.Errorf("a picture in use: %v", err)
			}
		}
		update("", "")
		sweep(3*month, 2)
	})
}
