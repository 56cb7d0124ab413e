-- app_id comes first now. Every request looks up a grant by its primary key; while
-- PostgreSQL had no statistics, it used the index that also started with account_id
-- instead, and read all grants of the account.
DROP INDEX consent_by_app;
CREATE INDEX consent_by_app ON consent (app_id, account_id);
