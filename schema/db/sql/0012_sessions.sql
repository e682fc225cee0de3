-- Signing in: passwords, sessions, invitations, and from where people have signed in.

ALTER TABLE users ADD COLUMN password TEXT;          -- argon2id, in the notation of the PHC; NULL is none yet
ALTER TABLE users ADD COLUMN signed_in_at INTEGER;   -- the newest time
ALTER TABLE users ADD COLUMN removed_at INTEGER;     -- the name stays in the trail, and is not given again
ALTER TABLE users ADD COLUMN theme TEXT NOT NULL DEFAULT 'auto' CHECK (theme IN ('auto', 'light', 'dark'));
ALTER TABLE users ADD COLUMN shortcuts INTEGER NOT NULL DEFAULT 1 CHECK (shortcuts IN (0, 1));

-- A signed-in browser. One that ended is gone from here.
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  hash BLOB NOT NULL UNIQUE,            -- SHA-256 of what the cookie holds
  kind TEXT NOT NULL CHECK (kind IN ('staff', 'tenant', 'buyer')),
  subject INTEGER NOT NULL,             -- the user's, the tenant's or the license's id
  device TEXT NOT NULL,
  address TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,             -- to the minute
  password_at INTEGER                   -- when the password was typed last; NULL: never in this session
) STRICT;
CREATE INDEX sessions_subject ON sessions (kind, subject);
CREATE INDEX sessions_age ON sessions (kind, created_at);
CREATE TRIGGER stamp_session_gone AFTER DELETE ON sessions BEGIN
  UPDATE credential_stamp SET stamp = stamp + 1;
END;
CREATE TRIGGER stamp_password AFTER UPDATE OF password, removed_at, theme, shortcuts ON users BEGIN
  UPDATE credential_stamp SET stamp = stamp + 1;
END;

-- An invitation stays after its end, so that whoever follows it is told so.
CREATE TABLE invitations (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,            -- SHA-256 of the token in the link
  code BLOB UNIQUE,                     -- SHA-256 of the code to type, of a tenant's
  kind TEXT NOT NULL CHECK (kind IN ('staff', 'tenant')),
  subject INTEGER NOT NULL,
  invited_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER                      -- used, or replaced by a later one
) STRICT;
CREATE INDEX invitations_open ON invitations (kind, subject) WHERE ended_at IS NULL;
CREATE INDEX invitations_age ON invitations (expires_at);

-- The addresses from which a name is not slowed when others guess its password.
CREATE TABLE sign_ins (
  user_id INTEGER NOT NULL REFERENCES users (id),
  network TEXT NOT NULL,                -- an IPv4 address, or an IPv6 one cut to 64 bits
  at INTEGER NOT NULL,
  PRIMARY KEY (user_id, network)
) STRICT, WITHOUT ROWID;
