-- Files that wait for their import on the pages, in pieces, and what was chosen for the
-- columns of files of a shape.

CREATE TABLE import_files (
  id INTEGER PRIMARY KEY,
  token_hash BLOB NOT NULL UNIQUE,   -- SHA-256 of the token in the page's address
  session INTEGER NOT NULL,          -- whose it is: nobody else sees it
  service TEXT NOT NULL,
  table_name TEXT NOT NULL,
  name TEXT NOT NULL,                -- as the browser called it
  bytes INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX import_files_age ON import_files (created_at);

CREATE TABLE import_pieces (
  file_id INTEGER NOT NULL REFERENCES import_files (id) ON DELETE CASCADE,
  piece INTEGER NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (file_id, piece)
) STRICT, WITHOUT ROWID;

CREATE TABLE import_choices (
  service TEXT NOT NULL,
  table_name TEXT NOT NULL,
  header_hash BLOB NOT NULL,         -- SHA-256 of the header's names
  reading TEXT NOT NULL,             -- JSON
  used_at INTEGER NOT NULL,
  PRIMARY KEY (service, table_name, header_hash)
) STRICT, WITHOUT ROWID;
