-- License files: what a machine without a net reads in place of asking, signed by the shop's key.

ALTER TABLE store_products ADD COLUMN offline_days INTEGER NOT NULL DEFAULT 30 CHECK (offline_days BETWEEN 0 AND 3650); -- 0: no files

CREATE TABLE store_signing_keys (
  id INTEGER PRIMARY KEY,
  key_id TEXT NOT NULL UNIQUE,        -- the first 16 hexadecimal digits of SHA-256 of the public key
  seed BLOB NOT NULL,                 -- the private key
  public BLOB NOT NULL,
  signs INTEGER NOT NULL CHECK (signs IN (0, 1)),
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX store_signing_keys_signs ON store_signing_keys (signs) WHERE signs = 1;

CREATE TABLE store_license_files (
  id INTEGER PRIMARY KEY,
  license_id INTEGER NOT NULL REFERENCES store_licenses (id),
  jti TEXT NOT NULL UNIQUE,
  key_id TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  issued_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL
) STRICT;
CREATE INDEX store_license_files_license ON store_license_files (license_id, id);
