package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"formulary/internal/account"
)

// TestBuilderEditors: the builder shows who else edits the form, loads what they save, and tells
// them when it is closed.
func TestBuilderEditors(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Fruit", fruitForm)
	const email = "grace@example.com"
	s.AddUser(email)
	ctx, db, owner := context.Background(), b.ownerDB.db, b.ownerDB.owner
	grace, err := db.UserByEmail(ctx, email)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.ShareForm(ctx, owner, b.id, grace.ID, account.Editor, time.Now()); err != nil {
		t.Fatal(err)
	}
	others := func() []string {
		names, err := db.NoteEditor(ctx, owner, b.id, grace.ID, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	if names := others(); len(names) != 0 {
		t.Errorf("a form that is not shared has the editors %v", names)
	}
	b.wantStatus(b.open("/forms/"+b.id+"/build"), 200)
	b.wait(`document.querySelector(".editors li")?.textContent === "GE` + email + `"`)
	b.wait(`document.querySelector("[role=status]").textContent === "` + email + ` is editing too"`)
	if names := others(); len(names) != 1 {
		t.Errorf("grace sees the editors %v", names)
	}
	// The next sign is sent early: nothing here waits ten seconds.
	sign := chromedp.Evaluate[chromedp.Void](`document.dispatchEvent(new Event("visibilitychange"))`)
	b.changeElsewhere("Theirs")
	b.do(sign)
	b.wait(`document.querySelector(".outline").textContent.includes("From Theirs")`)
	b.wantShown("First", "Second", "Third", "Fourth", "From Theirs")
	b.fill(labelInput(1), "Mine")
	b.waitLabels("Mine", "Second", "Third", "Fourth", "From Theirs")
	if err := db.DropEditor(ctx, owner, b.id, grace.ID); err != nil {
		t.Fatal(err)
	}
	b.do(sign)
	b.wait(`document.querySelectorAll(".editors li").length === 0`)
	b.open("/forms/" + b.id + "/flow")
	wait, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	if err := waitUntil(wait, func() bool { return len(others()) == 0 }); err != nil {
		t.Errorf("the builder was closed: %v", err)
	}
}
