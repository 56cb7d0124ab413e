//go:build screenshots

package e2e

import (
	"strconv"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
)

// countVisits counts a visit that finishes the form, and sometimes one that does not.
func (w demoData) countVisits(f *store.PublicForm, at time.Time) {
	screens := f.Definition.Screens()
	w.countVisit(f, at, len(screens))
	if w.rng.IntN(4) == 0 {
		w.countVisit(f, at, w.rng.IntN(len(screens)))
	}
}

// countVisit counts a visit that passes some screens.
func (w demoData) countVisit(f *store.PublicForm, at time.Time, passed int) {
	screens := f.Definition.Screens()
	id := func(n int) string { return f.Definition.ScreenID(screens[n]) }
	list := []store.Visit{{Kind: store.VisitOpened, Part: id(0)}}
	for n := range passed {
		if list = append(list, store.Visit{Kind: store.VisitPassed, Part: id(n)}); n+1 < len(screens) {
			list = append(list, store.Visit{Kind: store.VisitReached, Part: id(n + 1)})
		}
	}
	if passed == len(screens) {
		took := time.Duration(90+w.rng.IntN(260)) * time.Second
		list = append(list, store.Visit{Kind: store.VisitFinished}, store.Visit{Kind: store.VisitTime, Part: strconv.Itoa(form.FillTimeBucket(took))})
	}
	w.db.CountVisit(f, at, list...)
}
