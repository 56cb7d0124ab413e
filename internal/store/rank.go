package store

import "formulary/internal/db"

// Lists are read by page number, and page 500 must not cost 500 times as much as page
// 1. So the members of a list have serial numbers, which are increasing and never
// reused. If none is missing, subtraction finds the member at any offset. Deleted
// members are counted in list_block, in blocks of 128, 128² and 128³ serials; with
// these, three short steps find the member in a list of any length. Adding a member
// costs nothing.

const (
	rankBits   = 7
	rankBlock  = 1 << rankBits
	rankLevels = 3
)

const (
	missSQL = `INSERT INTO list_block (account_id, list, level, block, missing) VALUES ($1, $2, $3, $4, 1)
		ON CONFLICT (account_id, list, level, block) DO UPDATE SET missing = list_block.missing + 1`
	missingSQL = `SELECT block, missing FROM list_block
		WHERE account_id = $1 AND list = $2 AND level = $3 AND block >= $4 AND block <= $5`
)

// rankMiss records that a serial has no member.
func rankMiss(t db.Tx, owner, list string, serial int64) error {
	for level := int64(1); level <= rankLevels; level++ {
		if _, err := t.Exec(missSQL, owner, list, level, serial>>(rankBits*level)); err != nil {
			return err
		}
	}
	return nil
}

const foundSQL = `UPDATE list_block SET missing = missing - 1 WHERE account_id = $1 AND list = $2 AND level = $3 AND block = $4`

// rankFound undoes rankMiss.
func rankFound(t db.Tx, owner, list string, serial int64) error {
	for level := int64(1); level <= rankLevels; level++ {
		if _, err := t.Exec(foundSQL, owner, list, level, serial>>(rankBits*level)); err != nil {
			return err
		}
	}
	return nil
}

// rankSeek finds the member at the offset, counted from the newest, whose serial is at
// most top: skip that many members (fewer than rankBlock), descending from serial.
// found is false past the end of the list.
func rankSeek(t db.Tx, owner, list string, top, offset int64) (serial, skip int64, found bool, err error) {
	low, high := int64(1), top
	for level := int64(rankLevels); level >= 1; level-- {
		shift := rankBits * level
		missing := map[int64]int64{}
		if err := t.Query(missingSQL, func(r db.Row) error {
			var block, n int64
			err := r.Scan(&block, &n)
			missing[block] = n
			return err
		}, owner, list, level, low>>shift, high>>shift); err != nil {
			return 0, 0, false, err
		}
		found = false
		for block := high >> shift; block >= low>>shift && !found; block-- {
			from, to := max(low, block<<shift), min(high, block<<shift+1<<shift-1)
			if n := to - from + 1 - missing[block]; offset >= n {
				offset -= n
				continue
			}
			low, high, found = from, to, true
		}
		if !found {
			return 0, 0, false, nil
		}
	}
	return high, offset, true, nil
}
