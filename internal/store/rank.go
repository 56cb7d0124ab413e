package store

// A list is read by page number, and page 500 must not cost 500 times page 1.
// So each member of a list has a serial number, given once and never reused,
// and list_block counts the members in blocks of 128 serials, of 128² and of
// 128³. The member at offset n is found by adding up counts from the newest
// block on: three short scans, whatever the length of the list.

const (
	rankBits   = 7
	rankBlock  = 1 << rankBits
	rankLevels = 3
)

const (
	countInBlockSQL = `INSERT INTO list_block (account_id, list, level, block, n) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (account_id, list, level, block) DO UPDATE SET n = list_block.n + excluded.n`
	dropEmptyBlockSQL = `DELETE FROM list_block WHERE account_id = $1 AND list = $2 AND level = $3 AND block = $4 AND n = 0`
	blocksSQL         = `SELECT block, n FROM list_block
		WHERE account_id = $1 AND list = $2 AND level = $3 AND block >= $4 AND block <= $5 ORDER BY block DESC`
)

// rankAdd counts a member in (n = 1) or out (n = -1).
func rankAdd(t tx, owner, list string, serial, n int64) error {
	for level := int64(1); level <= rankLevels; level++ {
		block := serial >> (rankBits * level)
		if _, err := t.Exec(countInBlockSQL, owner, list, level, block, n); err != nil {
			return err
		}
		if n < 0 {
			if _, err := t.Exec(dropEmptyBlockSQL, owner, list, level, block); err != nil {
				return err
			}
		}
	}
	return nil
}

// rankSeek finds where the member at the offset is, counted from the newest:
// skip that many members, fewer than rankBlock, going down from serial.
// found is false past the end of the list.
func rankSeek(t tx, owner, list string, offset int64) (serial, skip int64, found bool, err error) {
	low, high := int64(0), int64(1)<<62
	for level := int64(rankLevels); level >= 1; level-- {
		found = false
		var chosen int64
		err = t.Query(blocksSQL, func(r row) error {
			var block, n int64
			if err := r.Scan(&block, &n); err != nil {
				return err
			}
			if offset < n {
				chosen, found = block, true
				return errStop
			}
			offset -= n
			return nil
		}, owner, list, level, low, high)
		if err != nil || !found {
			return 0, 0, false, err
		}
		low, high = chosen<<rankBits, chosen<<rankBits+rankBlock-1
	}
	return high, offset, true, nil
}
