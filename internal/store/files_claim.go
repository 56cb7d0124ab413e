package store

import (
	"context"
	"strings"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
)

// answeredFiles are the files of a set of answers.
type answeredFiles struct {
	claims []fileClaim // files that the response does not have yet
	size   int64       // of all files
	taken  bool        // one of them belongs to another response
	hashes []string    // IDs of all files, each followed by the hash of its bytes
}

// identify returns encoded answers with the hashes of files instead of their IDs. A browser
// that posts a page again uploads its files again, which then have other IDs.
func (f answeredFiles) identify(answers string) string {
	if f.hashes == nil {
		return answers
	}
	return strings.NewReplacer(f.hashes...).Replace(answers)
}

// fileClaim is a file that a response takes.
type fileClaim struct{ id, key string }

// answerer is whose answers contain files.
type answerer struct {
	owner      string
	formID     string
	responseID string // empty: a new response
	definition *form.Definition
	at         time.Time
}

// fileError is the error about a file that cannot be claimed.
func fileError(key string) error { return fault.InvalidFields(fault.DetailOf(key, form.ErrFileGone)) }

// resolveFiles looks up the files in answers and returns the answers as stored, with names and
// sizes instead of IDs.
func (s *Store) resolveFiles(ctx context.Context, a answerer, answers map[string]any) (map[string]any, answeredFiles, error) {
	var found answeredFiles
	listed := a.definition.Files(answers)
	if len(listed) == 0 {
		return answers, found, nil
	}
	byID := map[string]File{}
	var statements []db.Statement
	for _, answer := range listed {
		for _, fileID := range answer.IDs {
			if !areFileIDs(a.formID, fileID) {
				return nil, found, fileError(answer.Field)
			}
			statements = append(statements, db.Statement{SQL: fileSQL, Args: []any{a.owner, a.formID, fileID}, Scan: func(r db.Row) error {
				var f File
				err := scanFile(r, &f)
				byID[f.ID] = f
				return err
			}})
		}
	}
	if err := s.db.QueryBatch(attributed(ctx, a.owner), statements...); err != nil {
		return nil, found, err
	}
	shown := map[string]form.File{}
	for _, answer := range listed {
		field := a.definition.Field(answer.Field)
		for _, fileID := range answer.IDs {
			f, ok := byID[fileID]
			_, isTwice := shown[fileID]
			if !ok || isTwice || f.FieldID != field.ID {
				return nil, found, fileError(answer.Field)
			}
			shown[fileID] = f.File
			found.size += f.Size
			found.hashes = append(found.hashes, fileID, f.SHA256)
			switch {
			case f.ResponseID == a.responseID && f.ResponseID != "":
			case f.ResponseID != "":
				found.taken = true
				fallthrough
			default:
				found.claims = append(found.claims, fileClaim{fileID, answer.Field})
			}
		}
	}
	return a.definition.WithFiles(answers, shown), found, nil
}

// claimFiles gives files to a response. Of two responses that claim the same file at once,
// one gets it.
func claimFiles(t db.Tx, a answerer, claims []fileClaim) error {
	for _, c := range claims {
		n, err := t.Exec(claimFileSQL, a.owner, a.formID, c.id, a.responseID, toMillis(a.at))
		if err != nil || n == 0 {
			return errorWhen(err, n == 0, fileError(c.key))
		}
	}
	return nil
}

// missingFiles returns the IDs of files that are in had and not in has.
func missingFiles(had, has []form.FileAnswer) []string {
	kept := map[string]bool{}
	for _, a := range has {
		for _, id := range a.IDs {
			kept[id] = true
		}
	}
	var missing []string
	for _, a := range had {
		for _, id := range a.IDs {
			if !kept[id] {
				missing = append(missing, id)
			}
		}
	}
	return missing
}

// moveFiles claims the files that a change adds, and deletes those that it removes.
func (e *responseEdit) moveFiles(t db.Tx, owner string, now time.Time) error {
	a := answerer{owner: owner, formID: e.before.FormID, responseID: e.before.ID, at: now}
	if err := claimFiles(t, a, e.claims); err != nil {
		return err
	}
	for _, id := range e.dropped {
		if _, err := dropFiles(t, now, dropFileSQL, owner, e.before.FormID, id, e.before.ID); err != nil {
			return err
		}
	}
	return nil
}
