-- What trying a file that waits for its import gave: the page shows it as often as it is asked.

CREATE TABLE import_trials (
  file_id INTEGER PRIMARY KEY REFERENCES import_files (id) ON DELETE CASCADE,
  how BLOB NOT NULL,                 -- SHA-256 of the options and of the last audit entry before
  outcome TEXT NOT NULL              -- JSON
) STRICT;
