package store

import (
	"context"
	"time"

	"formulary/internal/db"
)

// Unscanned is a file that waits for its scan.
type Unscanned struct{ Owner, FormID, ID, Object string }

const (
	unscannedFilesSQL = `SELECT account_id, form_id, id, object FROM file WHERE scan = 'not_scanned' AND scan_at <= $1 ORDER BY scan_at LIMIT $2`
	leaseScanSQL      = `UPDATE file SET scan_at = $5 WHERE account_id = $1 AND form_id = $2 AND id = $3 AND scan = 'not_scanned' AND scan_at <= $4`
	postponeScanSQL   = `UPDATE file SET scan_at = $4 WHERE account_id = $1 AND form_id = $2 AND id = $3 AND scan = 'not_scanned'`
	rescanSQL         = `UPDATE file SET scan = 'not_scanned', scan_at = 0 WHERE account_id = $1 AND scan = 'too_large'`
	tooLargeOwnersSQL = `SELECT DISTINCT account_id FROM file WHERE scan = 'too_large'`
	setScanSQL        = `UPDATE file SET scan = $4, signature = $5 WHERE account_id = $1 AND form_id = $2 AND id = $3`
)

// UnscannedFiles lists files of all accounts whose scan may start.
func (s *Store) UnscannedFiles(ctx context.Context, now time.Time, limit int) (_ []Unscanned, err error) {
	defer wrap(&err, "list unscanned files")
	var list []Unscanned
	err = s.db.Query(ctx, unscannedFilesSQL, func(r db.Row) error {
		var f Unscanned
		err := r.Scan(&f.Owner, &f.FormID, &f.ID, &f.Object)
		list = append(list, f)
		return err
	}, toMillis(now), limit)
	return list, err
}

// LeaseScan reports whether the caller may scan the file, which nobody else does until the
// given time.
func (s *Store) LeaseScan(ctx context.Context, f Unscanned, now, until time.Time) (mine bool, err error) {
	defer wrap(&err, "lease scan")
	err = s.db.Write(ctx, func(t db.Tx) error {
		n, err := t.Exec(leaseScanSQL, f.Owner, f.FormID, f.ID, toMillis(now), toMillis(until))
		mine = n == 1
		return err
	})
	return mine, err
}

// PostponeScan sets when the scan is tried again.
func (s *Store) PostponeScan(ctx context.Context, f Unscanned, at time.Time) (err error) {
	defer wrap(&err, "postpone scan")
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(postponeScanSQL, f.Owner, f.FormID, f.ID, toMillis(at))
		return err
	})
}

// SetScan stores the result of a scan.
func (s *Store) SetScan(ctx context.Context, f Unscanned, state ScanState, signature string) (err error) {
	defer wrap(&err, "store scan")
	return s.write(ctx, responsesOf(f.Owner), func(t db.Tx) error {
		_, err := t.Exec(setScanSQL, f.Owner, f.FormID, f.ID, string(state), signature)
		return err
	})
}

// RescanFiles makes files wait for a scan again that were too large for the scanner, and returns
// their number.
func (s *Store) RescanFiles(ctx context.Context) (n int64, err error) {
	defer wrap(&err, "rescan files")
	var owners []string
	err = s.db.Query(ctx, tooLargeOwnersSQL, func(r db.Row) error {
		var owner string
		err := r.Scan(&owner)
		owners = append(owners, owner)
		return err
	})
	for _, owner := range owners {
		if err != nil {
			return n, err
		}
		err = s.write(ctx, responsesOf(owner), func(t db.Tx) error {
			reset, err := t.Exec(rescanSQL, owner)
			n += reset
			return err
		})
	}
	return n, err
}
