package workspace

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"

	"formulary/internal/fault"
	"formulary/internal/web/page"
)

// Several people may have the settings of a form open at the same time. The controls of some
// settings therefore include what was stored when they were shown (seenControl), and saving them
// is refused if something else is stored by then. The page then shows what was typed, and what is
// stored now counts as seen: saving again replaces it knowingly.

// seenControl is the name of the control with what was stored.
const seenControl = "seen"

var errSettingsChanged = fault.New(fault.Conflict, "Someone else changed these settings while this page was open.")

// seenValue returns a short text that differs if the settings do.
func seenValue(settings ...any) string {
	text, _ := json.Marshal(settings) // of plain values, which have an encoding
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// checkSeen returns an error if the stored settings are neither those that the page showed nor
// those that were typed. Clients that do not say what they have seen replace everything.
func checkSeen(req *page.Request, stored, typed string) error {
	if seen := req.Field(seenControl); seen == "" || seen == stored || stored == typed {
		return nil
	}
	return errSettingsChanged
}

// seenSettings are settings on a page, for the template "seen".
type seenSettings struct {
	*page.Layout
	Stored  string
	Changed bool   // somebody else changed them
	Path    string // of the page that shows what is stored
}

// statusOf returns the status of a page with settings that were not saved.
func statusOf(changed bool) int {
	if changed {
		return http.StatusConflict
	}
	return http.StatusUnprocessableEntity
}

// settingsProblems is page.NewProblems that also reports whether somebody else changed the
// settings.
func settingsProblems(err error) (problems page.Problems, changed bool, _ error) {
	if errors.Is(err, errSettingsChanged) {
		return nil, true, nil
	}
	problems, err = page.NewProblems(err)
	return problems, false, err
}
