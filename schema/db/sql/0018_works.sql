-- How far acts came that take several transactions, and what came of them.
CREATE TABLE works (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  service TEXT NOT NULL,
  owner TEXT NOT NULL,        -- whose it is; '' for a work that anyone goes on with
  route TEXT NOT NULL,        -- what is done
  key TEXT NOT NULL,          -- which one: the request's idempotency key, or a digest of the file
  body BLOB NOT NULL,         -- SHA-256 of what was asked
  token TEXT NOT NULL,        -- what it was asked by; '' for the command line
  asked TEXT NOT NULL,        -- what is needed to go on
  position TEXT NOT NULL,     -- how far it came; '' is the beginning
  done INTEGER NOT NULL,      -- of total, as people are told
  total INTEGER NOT NULL,
  steps INTEGER NOT NULL,     -- transactions that moved it
  started_at INTEGER NOT NULL,
  moved_at INTEGER NOT NULL,
  answer TEXT,                -- NULL until the last transaction
  UNIQUE (owner, route, key)
) STRICT;
CREATE INDEX works_age ON works (moved_at);
CREATE INDEX works_service ON works (service);
CREATE INDEX works_token ON works (token) WHERE token <> '';

-- What each step found, for the answer.
CREATE TABLE work_notes (
  work INTEGER NOT NULL REFERENCES works (id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  note TEXT NOT NULL,
  PRIMARY KEY (work, step)
) STRICT, WITHOUT ROWID;
