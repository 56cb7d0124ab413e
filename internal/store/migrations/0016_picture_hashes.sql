-- SHA-256 of the bytes, in hexadecimal; empty: the picture was stored before hashes were.
ALTER TABLE picture ADD COLUMN sha256 TEXT NOT NULL DEFAULT '';
