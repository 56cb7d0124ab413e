package store

import (
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
)

// slugHold is how long other accounts cannot claim a released custom link: respondents
// who still have it must not reach a form of another owner.
const slugHold = 30 * 24 * time.Hour

// maxHeldSlugs limits how many links an account can release within slugHold.
const maxHeldSlugs = 100

const (
	// The last owner can claim a released address immediately, others after slugHold.
	claimSlugSQL = `INSERT INTO form_address (address, account_id, form_id) VALUES ($1, $2, $3)
		ON CONFLICT (address) DO UPDATE SET account_id = excluded.account_id, form_id = excluded.form_id, released_at = 0
		WHERE form_address.account_id = excluded.account_id AND form_address.form_id = excluded.form_id
		OR form_address.released_at > 0 AND (form_address.account_id = excluded.account_id OR form_address.released_at < $4)`
	slugTakenSQL = `SELECT COUNT(*) FROM form_address WHERE address = $1 AND NOT (account_id = $2 AND (form_id = $3 OR released_at > 0))
		AND (released_at = 0 OR released_at >= $4)`
	dropSlugSQL    = `DELETE FROM form_address WHERE address = $1 AND account_id = $2 AND form_id = $3`
	heldSlugsSQL   = `SELECT COUNT(*) FROM form_address WHERE account_id = $1 AND released_at > 0`
	releaseSlugSQL = `UPDATE form_address SET released_at = $4 WHERE address = $1 AND account_id = $2 AND form_id = $3 AND released_at = 0`
	// The form's ID is an address too. No other form ever gets it.
	releaseSlugsSQL    = `UPDATE form_address SET released_at = $3 WHERE account_id = $1 AND form_id = $2 AND address <> $2 AND released_at = 0`
	dropIDAddressSQL   = `DELETE FROM form_address WHERE account_id = $1 AND form_id = $2 AND address = $2`
	releaseAccountSQL  = `UPDATE form_address SET released_at = $2 WHERE account_id = $1 AND address <> form_id AND released_at = 0`
	dropIDAddressesSQL = `DELETE FROM form_address WHERE account_id = $1 AND address = form_id`
	cleanupSlugsSQL    = `DELETE FROM form_address WHERE address IN (SELECT address FROM form_address WHERE released_at > 0 AND released_at < $1 LIMIT $2)`
)

func errSlugTaken(slug string) error {
	return fault.InvalidField("slug", "%q is already used by another form", slug)
}

// changeSlug changes the custom link of a form. For a form that was never published it
// only checks the link: drafts claim none, so that links cannot be hoarded.
func changeSlug(t db.Tx, owner string, f form.Form, to string, now time.Time) error {
	if f.Slug == to {
		return nil
	}
	if f.Version == 0 {
		// A draft from an earlier version may have claimed one.
		if _, err := t.Exec(dropSlugSQL, f.Slug, owner, f.ID); err != nil {
			return err
		}
		return checkSlug(t, owner, f.ID, to, now)
	}
	if f.Slug != "" {
		var held int64
		if err := queryOne(t.Query, heldSlugsSQL, []any{owner}, &held); err != nil {
			return err
		}
		if held >= maxHeldSlugs {
			return fault.New(fault.QuotaReached, "The account has changed or removed %d custom links in the last 30 days. Keep this one for now.", maxHeldSlugs)
		}
		if _, err := t.Exec(releaseSlugSQL, f.Slug, owner, f.ID, toMillis(now)); err != nil {
			return err
		}
	}
	return claimSlug(t, owner, f.ID, to, now)
}

// claimSlug assigns a custom link to the form.
func claimSlug(t db.Tx, owner, id, slug string, now time.Time) error {
	if slug == "" {
		return nil
	}
	n, err := t.Exec(claimSlugSQL, slug, owner, id, toMillis(now.Add(-slugHold)))
	return errorWhen(err, n == 0, errSlugTaken(slug))
}

// checkSlug returns an error if a form cannot claim a custom link.
func checkSlug(t db.Tx, owner, id, slug string, now time.Time) error {
	if slug == "" {
		return nil
	}
	var n int64
	err := queryOne(t.Query, slugTakenSQL, []any{slug, owner, id, toMillis(now.Add(-slugHold))}, &n)
	return errorWhen(err, n > 0, errSlugTaken(slug))
}

// releaseAddresses releases the addresses of a deleted form.
func releaseAddresses(t db.Tx, owner, id string, now time.Time) error {
	if _, err := t.Exec(releaseSlugsSQL, owner, id, toMillis(now)); err != nil {
		return err
	}
	_, err := t.Exec(dropIDAddressSQL, owner, id)
	return err
}
