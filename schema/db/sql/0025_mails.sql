-- What the shop mails: the queue, the shop's own texts, and addresses to which nothing goes.

-- A message. It holds no text, key, code or link: all are read at each try.
CREATE TABLE mails (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  service TEXT NOT NULL,                -- '' is the appliance
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,                -- what it is about, as the audit trail names it: 'order:12'
  record TEXT NOT NULL,                 -- the same as people call it
  note TEXT NOT NULL DEFAULT '',        -- what belongs to this message alone, such as the day on which a license ends
  address TEXT NOT NULL,                -- of the newest try, or as it was when the row was made
  state TEXT NOT NULL CHECK (state IN ('held', 'queued', 'sending', 'sent', 'refused', 'failed', 'cancelled')),
  link INTEGER NOT NULL CHECK (link IN (0, 1)), -- a link that a person asked for: it goes first, and lives one hour
  message_id TEXT NOT NULL,             -- 32 hexadecimal digits, the same in all tries
  tries INTEGER NOT NULL DEFAULT 0,
  code INTEGER,                         -- the server's answer
  reply TEXT,                           -- its words, or why there was none
  created_at INTEGER NOT NULL,
  next_try_at INTEGER,                  -- NULL when it is finished
  tried_at INTEGER                      -- the newest try's begin
) STRICT;
CREATE INDEX mails_queue ON mails (link DESC, id) WHERE state = 'queued';
CREATE INDEX mails_state ON mails (state, created_at);
CREATE INDEX mails_subject ON mails (subject);
CREATE INDEX mails_service ON mails (service, id);
CREATE INDEX mails_tried ON mails (tried_at);

CREATE TABLE mail_texts (
  kind TEXT PRIMARY KEY,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT;

CREATE TABLE blocked_addresses (
  address TEXT PRIMARY KEY,             -- in lower case
  reason TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- A link that a message holds. One that was used ends all of that person's.
CREATE TABLE mail_links (
  hash BLOB PRIMARY KEY,                -- SHA-256 of the token in the link
  kind TEXT NOT NULL CHECK (kind IN ('staff', 'tenant', 'customer')),
  subject INTEGER NOT NULL,             -- the user's, the tenant's or the customer's id
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_links_subject ON mail_links (kind, subject);
CREATE INDEX mail_links_age ON mail_links (expires_at);
