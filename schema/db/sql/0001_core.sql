-- What all four services share: people and keys, the audit trail, events with their
-- deliveries, and the answers kept for idempotency keys.

CREATE TABLE users (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE roles (
  user_id INTEGER NOT NULL REFERENCES users (id),
  service TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'member', 'admin')),
  PRIMARY KEY (user_id, service)
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  label TEXT NOT NULL,
  service TEXT NOT NULL,
  user_id INTEGER NOT NULL REFERENCES users (id),
  scope TEXT NOT NULL CHECK (scope IN ('read', 'full')),
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX keys_user ON keys (user_id);

-- One number that moves whenever a credential may have lost its power, so that a
-- server that remembers keys can tell with one look whether it remembers rightly.
CREATE TABLE credential_stamp (only INTEGER PRIMARY KEY CHECK (only = 1), stamp INTEGER NOT NULL) STRICT;
INSERT INTO credential_stamp VALUES (1, 0);
CREATE TRIGGER stamp_user AFTER UPDATE OF disabled, name ON users BEGIN
  UPDATE credential_stamp SET stamp = stamp + 1;
END;
CREATE TRIGGER stamp_role_new AFTER INSERT ON roles BEGIN
  UPDATE credential_stamp SET stamp = stamp + 1;
END;
CREATE TRIGGER stamp_role AFTER UPDATE ON roles BEGIN
  UPDATE credential_stamp SET stamp = stamp + 1;
END;
CREATE TRIGGER stamp_role_gone AFTER DELETE ON roles BEGIN
  UPDATE credential_stamp SET stamp = stamp + 1;
END;
CREATE TRIGGER stamp_key AFTER UPDATE OF hash, service, user_id, scope, revoked_at ON keys BEGIN
  UPDATE credential_stamp SET stamp = stamp + 1;
END;
CREATE TRIGGER stamp_key_gone AFTER DELETE ON keys BEGIN
  UPDATE credential_stamp SET stamp = stamp + 1;
END;

-- Every write of business data adds an entry, so there is no index of its services:
-- one service's entries are found by walking back from the newest.
CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  service TEXT NOT NULL,
  actor TEXT NOT NULL,
  via TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  changes TEXT NOT NULL
) STRICT;
CREATE INDEX audit_clock ON audit (id) WHERE action IN ('clock.accepted', 'clock.doubted', 'clock.believed');

CREATE TABLE endpoints (
  id INTEGER PRIMARY KEY,
  service TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL DEFAULT '',      -- comma-separated; '' is all of the service's
  secret TEXT NOT NULL,
  old_secret TEXT,                      -- signs along until old_until
  old_until INTEGER,
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  removed_at INTEGER,                   -- a removed receiver keeps its log, and gets nothing
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX endpoints_service ON endpoints (service) WHERE removed_at IS NULL;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY,              -- the newest is never dropped, so none comes twice
  id TEXT NOT NULL,                     -- 128 random bits; nothing looks for it, so no index is kept up
  service TEXT NOT NULL,
  event TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  body BLOB NOT NULL                    -- the bytes that are signed and sent, now and at a resend
) STRICT;

-- A delivery that is owed touches this table and two indexes in the commit of its event.
-- A receiver's newest deliveries are never dropped, so no number comes twice.
CREATE TABLE deliveries (
  id INTEGER PRIMARY KEY,
  endpoint_id INTEGER NOT NULL REFERENCES endpoints (id),
  event_seq INTEGER NOT NULL REFERENCES events (seq),
  kind TEXT NOT NULL CHECK (kind IN ('auto', 'resend')),
  state TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'delivered', 'failed', 'interrupted')),
  response_code INTEGER,
  error TEXT,
  duration_ms INTEGER,
  created_at INTEGER NOT NULL,
  attempted_at INTEGER
) STRICT;
CREATE INDEX deliveries_event ON deliveries (event_seq, endpoint_id);
CREATE INDEX deliveries_pending ON deliveries (endpoint_id, id) WHERE state = 'pending';
CREATE INDEX deliveries_sending ON deliveries (kind, attempted_at) WHERE state = 'sending';
CREATE INDEX deliveries_done ON deliveries (endpoint_id, id) WHERE state IN ('delivered', 'failed', 'interrupted');
CREATE INDEX deliveries_missed ON deliveries (endpoint_id, id) WHERE state IN ('failed', 'interrupted');

CREATE TABLE answers (
  key_id INTEGER NOT NULL,
  idempotency_key TEXT NOT NULL,
  route TEXT NOT NULL,
  request BLOB NOT NULL,                -- SHA-256 of the request's body
  status INTEGER NOT NULL,
  body BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (key_id, idempotency_key, route)
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_age ON answers (created_at);
