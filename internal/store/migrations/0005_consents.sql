-- Turned around: a consent is looked up by its id before every request, and an index
-- that begins like the key tempted PostgreSQL, before it has statistics, to read all
-- consents of an account instead.
DROP INDEX consent_by_app;
CREATE INDEX consent_by_app ON consent (app_id, account_id);
