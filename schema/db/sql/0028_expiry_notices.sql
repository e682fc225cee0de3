-- Which end of a license its customer was told of, and by which message: each is told once.
CREATE TABLE store_expiry_notices (
  license_id INTEGER NOT NULL REFERENCES store_licenses (id),
  expires_at INTEGER NOT NULL,
  mail_id INTEGER NOT NULL,
  PRIMARY KEY (license_id, expires_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX store_expiry_notices_mail ON store_expiry_notices (mail_id);
