package store

import (
	"context"
	"slices"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
)

// Marks are stored with the response, so that filters and exports read them with the answers.
// form_mark has their totals: changes of marks lock the form's row, so totals are exact.

const (
	marksSQL = `SELECT status, starred, tags, note_count FROM response WHERE account_id = $1 AND form_id = $2 AND id = $3`
	markSQL  = `UPDATE response SET status = $4, starred = $5, tags = $6 WHERE account_id = $1 AND form_id = $2 AND id = $3`
	// A restored response gets its number of notes back too.
	remarkSQL    = `UPDATE response SET status = $4, starred = $5, tags = $6, note_count = $7 WHERE account_id = $1 AND form_id = $2 AND id = $3`
	tagSQL       = `INSERT INTO response_tag (account_id, form_id, response_id, tag_key) VALUES ($1, $2, $3, $4) ON CONFLICT (account_id, form_id, tag_key, response_id) DO NOTHING`
	untagSQL     = `DELETE FROM response_tag WHERE account_id = $1 AND form_id = $2 AND tag_key = $3 AND response_id = $4`
	countMarkSQL = `INSERT INTO form_mark (account_id, form_id, kind, mark, name, responses) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (account_id, form_id, kind, mark) DO UPDATE SET responses = form_mark.responses + excluded.responses`
	unusedMarksSQL = `DELETE FROM form_mark WHERE account_id = $1 AND form_id = $2 AND responses <= 0`
	formMarksSQL   = `SELECT kind, mark, name, responses FROM form_mark WHERE account_id = $1 AND form_id = $2 ORDER BY kind, mark`
)

// Kinds of rows in form_mark.
const (
	statusMark = "status"
	starMark   = "star"
	tagMark    = "tag"
)

// MarkChange says what to change; what is empty stays.
type MarkChange struct {
	Status  form.ResponseStatus
	Opened  bool // a new response becomes read; a done one stays done
	Starred *bool
	Tags    *[]string // replace all tags
	Add     []string  // tags
	Remove  []string  // tags
	Seen    string    // AnswerTag that the responses must have; empty: any
}

// IsEmpty reports whether there is nothing to change.
func (c MarkChange) IsEmpty() bool {
	return c.Status == "" && !c.Opened && c.Starred == nil && c.Tags == nil && len(c.Add) == 0 && len(c.Remove) == 0
}

// normalize validates the change.
func (c *MarkChange) normalize() (err error) {
	if _, ok := form.ParseResponseStatus(string(c.Status)); c.Status != "" && !ok {
		return fault.InvalidField("status", "must be new, read or done")
	}
	// Each is compared with each tag of each response while the transaction is open.
	if len(c.Remove) > form.MaxTags {
		return fault.InvalidField("tags", "enter no more than %d tags", form.MaxTags)
	}
	if c.Add, err = form.NormalizeTags(c.Add); err != nil || c.Tags == nil {
		return err
	}
	tags, err := form.NormalizeTags(*c.Tags)
	c.Tags = &tags
	return err
}

// apply returns the marks after the change.
func (c MarkChange) apply(m form.Marks) (form.Marks, error) {
	if c.Opened && m.Status == form.ResponseNew {
		m.Status = form.ResponseRead
	}
	if c.Status != "" {
		m.Status = c.Status
	}
	if c.Starred != nil {
		m.Starred = *c.Starred
	}
	tags := m.TagList()
	if c.Tags != nil {
		tags = *c.Tags
	}
	for _, tag := range c.Add {
		if !hasTag(tags, tag) {
			tags = append(tags, tag)
		}
	}
	tags = slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return hasTag(c.Remove, tag) })
	if len(tags) > form.MaxTags {
		return m, fault.InvalidField("tags", "enter no more than %d tags", form.MaxTags)
	}
	var err error
	m.Tags, err = form.EncodeTags(tags)
	return m, err
}

func hasTag(list []string, tag string) bool {
	return slices.ContainsFunc(list, func(other string) bool { return form.TagKey(other) == form.TagKey(tag) })
}

// tagOverhead is the size of a row in response_tag.
const tagOverhead = 120

// tagBytes is what tags count for in the account's storage. They are stored twice.
func tagBytes(m form.Marks) int64 {
	var n int64
	if m.Tags != "" {
		for _, tag := range m.TagList() {
			n += 2*int64(len(tag)) + tagOverhead
		}
	}
	return n
}

// MaxMarked is how many responses one request may mark.
const MaxMarked = 200

// MarkResponses changes the marks of responses, and returns how many changed. It is no event:
// feeds, live streams and webhooks do not tell of it, and the time of the last edit stays.
func (s *Store) MarkResponses(ctx context.Context, owner, formID string, ids []string, change MarkChange) (_ int64, err error) {
	defer wrap(&err, "mark responses")
	if err := change.normalize(); err != nil {
		return 0, err
	}
	if ids, err = responseIDs(formID, ids); err != nil {
		return 0, err
	}
	if len(ids) > MaxMarked {
		return 0, fault.InvalidField("response", "select no more than %d responses", MaxMarked)
	}
	if done, err := s.isMarked(ctx, owner, formID, ids, change); err != nil || done {
		return 0, err
	}
	if err := s.reserveTags(ctx, owner, len(ids), change); err != nil {
		return 0, err
	}
	if err := s.tryMarks(ctx, owner, formID, ids, change); err != nil {
		return 0, err
	}
	var all int64
	for part := range slices.Chunk(ids, markBatch) {
		n, err := s.markSome(ctx, owner, formID, part, change)
		if err != nil {
			return all, err
		}
		all += n
	}
	return all, nil
}

// markBatch is how many responses one transaction marks. They may be large, and each is written
// as a whole: submissions do not wait for more of them.
const markBatch = 25

// tryMarks checks that the change is possible for all responses, before the first one is changed.
func (s *Store) tryMarks(ctx context.Context, owner, formID string, ids []string, change MarkChange) error {
	return s.db.Read(ctx, func(t db.Tx) error {
		for _, responseID := range ids {
			before, err := readMarks(t.Query, owner, ResponseKey{formID, responseID})
			if err == nil {
				_, err = change.apply(before)
			}
			if err = replaceNotFound(err, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// markSome changes the marks of responses in one transaction, and returns how many changed.
func (s *Store) markSome(ctx context.Context, owner, formID string, ids []string, change MarkChange) (n int64, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		n = 0
		// Lock the form's row first, as everywhere, so that transactions cannot deadlock.
		if err := checkAffected(t.Exec(dropCountSQL, owner, formID, 0, 0)); err != nil {
			return err
		}
		counts := markCounts{}
		for _, responseID := range ids {
			if err := checkSeen(t, owner, ResponseKey{formID, responseID}, change.Seen); err != nil {
				return err
			}
			changed, err := markOne(t, owner, ResponseKey{formID, responseID}, change, counts)
			if err != nil {
				return err
			}
			if changed {
				n++
			}
		}
		return counts.store(t, owner, formID)
	})
	return n, err
}

// reserveTags checks that the account may store the tags of a change in n responses.
func (s *Store) reserveTags(ctx context.Context, owner string, n int, change MarkChange) error {
	tags := change.Add
	if change.Tags != nil {
		tags = append(slices.Clone(tags), *change.Tags...)
	}
	text, err := form.EncodeTags(tags)
	if err != nil {
		return err
	}
	return s.reserve(ctx, owner, int64(n)*tagBytes(form.Marks{Tags: text}))
}

// isMarked reports whether the change changes nothing, as when a response is opened again. Only
// single responses are checked, because each needs a query.
func (s *Store) isMarked(ctx context.Context, owner, formID string, ids []string, change MarkChange) (bool, error) {
	if len(ids) != 1 || change.Seen != "" {
		return len(ids) == 0, nil
	}
	before, err := readMarks(s.query(ctx), owner, ResponseKey{formID, ids[0]})
	if err != nil {
		return false, replaceNotFound(err, nil)
	}
	after, err := change.apply(before)
	return after == before, err
}

func readMarks(q querier, owner string, key ResponseKey) (m form.Marks, err error) {
	var status string
	err = queryOne(q, marksSQL, []any{owner, key.FormID, key.ID}, &status, &m.Starred, &m.Tags, &m.Notes)
	m.Status = form.ResponseStatus(status)
	return m, err
}

// checkSeen fails if the answers of a response are not those that the caller saw.
func checkSeen(t db.Tx, owner string, key ResponseKey, seen string) error {
	if seen == "" {
		return nil
	}
	r, err := readResponse(t.Query, owner, key.FormID, key.ID)
	return errorWhen(err, err == nil && r.AnswerTag() != seen, errResponseChanged)
}

// markOne changes the marks of a response, if it still exists.
func markOne(t db.Tx, owner string, key ResponseKey, change MarkChange, counts markCounts) (changed bool, err error) {
	before, err := readMarks(t.Query, owner, key)
	if err != nil {
		return false, replaceNotFound(err, nil)
	}
	after, err := change.apply(before)
	if err != nil || after == before {
		return false, err
	}
	if after.Tags != before.Tags {
		if after.Tags, err = spellTags(t, owner, key.FormID, after, counts); err != nil {
			return false, err
		}
		if err := storeTags(t, owner, key, before.TagList(), after.TagList()); err != nil {
			return false, err
		}
		if _, err := t.Exec(addStoredSQL, owner, key.FormID, tagBytes(after)-tagBytes(before)); err != nil {
			return false, err
		}
	}
	if _, err := t.Exec(markSQL, owner, key.FormID, key.ID, string(after.Status), after.Starred, after.Tags); err != nil {
		return false, err
	}
	counts.add(before, -1)
	counts.add(after, 1)
	return true, nil
}

// storeTags updates the index of tags.
func storeTags(t db.Tx, owner string, key ResponseKey, before, after []string) error {
	for _, tag := range before {
		if hasTag(after, tag) {
			continue
		}
		if _, err := t.Exec(untagSQL, owner, key.FormID, form.TagKey(tag), key.ID); err != nil {
			return err
		}
	}
	var rows [][]any
	for _, tag := range after {
		if !hasTag(before, tag) {
			rows = append(rows, []any{key.ID, form.TagKey(tag)})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	for _, row := range rows {
		if _, err := t.Exec(tagSQL, owner, key.FormID, row[0], row[1]); err != nil {
			return err
		}
	}
	return nil
}

// spellTags writes tags as the form's other responses do, and limits how many a form has.
func spellTags(t db.Tx, owner, formID string, m form.Marks, counts markCounts) (string, error) {
	known := map[string]string{} // by key
	for key, count := range counts {
		if key.kind == tagMark && count.n > 0 {
			known[key.mark] = count.name
		}
	}
	err := t.Query(formMarksSQL, func(r db.Row) error {
		var kind, mark, name string
		var n int64
		err := r.Scan(&kind, &mark, &name, &n)
		if kind == tagMark {
			known[mark] = name
		}
		return err
	}, owner, formID)
	if err != nil {
		return "", err
	}
	tags := m.TagList()
	for i, tag := range tags {
		key := form.TagKey(tag)
		if known[key] == "" {
			known[key] = tag
		}
		tags[i] = known[key]
	}
	if len(known) > form.MaxFormTags {
		return "", fault.New(fault.QuotaReached, "The form has reached its limit of %d different tags. Use one of them, or remove one from all responses first.", form.MaxFormTags)
	}
	return form.EncodeTags(tags)
}

// dropMarks removes the marks of deleted responses. Notes are deleted only if the responses
// cannot be restored. It returns what their notes count for.
func dropMarks(t db.Tx, owner, formID string, removed []form.Response, forGood bool) (size int64, err error) {
	counts := markCounts{}
	for _, r := range removed {
		counts.add(r.Marks, -1)
		if err := storeTags(t, owner, ResponseKey{formID, r.ID}, r.Marks.TagList(), nil); err != nil {
			return 0, err
		}
		n, err := noteBytes(t, owner, formID, r)
		if err != nil {
			return 0, err
		}
		if size += n; !forGood || r.Marks.Notes == 0 {
			continue
		}
		if _, err := t.Exec(dropNotesSQL, owner, formID, r.ID); err != nil {
			return 0, err
		}
	}
	return size, counts.store(t, owner, formID)
}

// restoreMarks gives restored responses their marks back, and returns what their notes count for.
func restoreMarks(t db.Tx, owner, formID string, restored []form.Response) (size int64, err error) {
	counts := markCounts{}
	for _, r := range restored {
		m := r.Marks
		if m.Status == "" || m == (form.Marks{Status: form.ResponseNew}) {
			continue // deleted by an earlier version, or it has no marks
		}
		if _, err := t.Exec(remarkSQL, owner, formID, r.ID, string(m.Status), m.Starred, m.Tags, m.Notes); err != nil {
			return 0, err
		}
		if err := storeTags(t, owner, ResponseKey{formID, r.ID}, nil, m.TagList()); err != nil {
			return 0, err
		}
		n, err := noteBytes(t, owner, formID, r)
		if err != nil {
			return 0, err
		}
		size += n
		counts.add(m, 1)
	}
	return size, counts.store(t, owner, formID)
}
