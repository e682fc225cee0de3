-- What the shop decides for itself, by name: currency, timezone, the shop's name and
-- address, the services' public addresses. installation tells this shop's screens from
-- those of another one on the same machine.
CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO settings SELECT 'currency', currency FROM store_settings;
INSERT INTO settings VALUES ('installation', lower(hex(randomblob(4))));
DROP TABLE store_settings;
