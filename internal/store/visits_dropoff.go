package store

import (
	"context"
	"time"

	"formulary/internal/form"
)

// DropOff is how far the visits of some days got.
type DropOff struct {
	Counted  bool // visits are counted now
	Opened   int64
	Finished int64
	Median   time.Duration // from opening to finishing; 0: none finished
	// Screens are those of the published version, with the visits of all versions that have
	// the same screens.
	Screens []ScreenDropOff
	// OtherScreens are the visits of versions with other screens.
	OtherScreens int64
}

// ScreenDropOff is how many visits reached a screen, and how many ended there.
type ScreenDropOff struct {
	Field   *form.Field // its question, or the page break that starts it; nil: the first page, or the welcome screen
	Welcome bool        // title and description before the first question
	Reached int64
	Share   float64 // of all visits
	Left    int64
}

// DropOff returns the visits of a form. Visits explains the days.
func (s *Store) DropOff(ctx context.Context, owner, formID string, since, until time.Time) (_ DropOff, err error) {
	defer wrap(&err, "read drop-off")
	f, err := s.Form(ctx, owner, formID)
	if err != nil || f.Version == 0 {
		return DropOff{Counted: true}, err
	}
	byVersion, err := s.Visits(ctx, owner, formID, since, until)
	if err != nil {
		return DropOff{}, err
	}
	definitions, err := s.Definitions(ctx, owner, formID)
	if err != nil {
		return DropOff{}, err
	}
	published, err := s.Definition(ctx, owner, formID, f.Version)
	if err != nil {
		return DropOff{}, err
	}
	same, all := NewVisitTotals(), NewVisitTotals()
	for version, visits := range byVersion {
		all.Add(visits)
		if version <= int64(len(definitions)) && definitions[version-1].HasScreensOf(published) {
			same.Add(visits)
		}
	}
	out := DropOff{Counted: !published.Settings.ForgetVisits, Opened: all.Opened, Finished: all.Finished, Median: all.Times.Median(), OtherScreens: all.Opened - same.Opened}
	out.Screens = dropOffScreens(published, same)
	return out, nil
}

func dropOffScreens(d *form.Definition, visits *VisitTotals) []ScreenDropOff {
	var list []ScreenDropOff
	add := func(screen ScreenDropOff, id string) {
		counts := visits.Screens[id]
		screen.Reached, screen.Left = counts.Reached, max(0, counts.Reached-counts.Passed)
		if visits.Opened > 0 {
			screen.Share = min(1, float64(screen.Reached)/float64(visits.Opened))
		}
		list = append(list, screen)
	}
	oneAtATime := d.Design.Layout == form.OneAtATime
	if oneAtATime && visits.Screens[""].Reached > 0 {
		add(ScreenDropOff{Welcome: true}, "")
	}
	for _, screen := range d.Screens() {
		out, id := ScreenDropOff{Field: screen.Break}, d.ScreenID(screen)
		if oneAtATime {
			out.Field = nil
			for _, f := range screen.Fields {
				if f.ID == id {
					out.Field = f
				}
			}
		}
		add(out, id)
	}
	return list
}
