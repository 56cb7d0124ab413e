-- When the owner closed a form; 0: it is open, or it was closed before this was recorded.
ALTER TABLE form ADD COLUMN closed_at BIGINT NOT NULL DEFAULT 0;
