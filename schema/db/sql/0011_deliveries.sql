-- Deliveries of several events at a time, and examples to try a receiver with.

-- What the event is about, as the audit trail names it: a receiver that takes several at
-- a time still gets those of one subject in order.
ALTER TABLE events ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN test INTEGER NOT NULL DEFAULT 0 CHECK (test IN (0, 1));

ALTER TABLE endpoints ADD COLUMN parallel INTEGER NOT NULL DEFAULT 1 CHECK (parallel BETWEEN 1 AND 16);

-- As before, with the kind test.
CREATE TABLE deliveries_new (
  id INTEGER PRIMARY KEY,
  endpoint_id INTEGER NOT NULL REFERENCES endpoints (id),
  event_seq INTEGER NOT NULL REFERENCES events (seq),
  kind TEXT NOT NULL CHECK (kind IN ('auto', 'resend', 'test')),
  state TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'delivered', 'failed', 'interrupted')),
  response_code INTEGER,
  error TEXT,
  duration_ms INTEGER,
  created_at INTEGER NOT NULL,
  attempted_at INTEGER
) STRICT;
INSERT INTO deliveries_new (id, endpoint_id, event_seq, kind, state, response_code, error, duration_ms, created_at, attempted_at)
  SELECT id, endpoint_id, event_seq, kind, state, response_code, error, duration_ms, created_at, attempted_at FROM deliveries;
DROP TABLE deliveries;
ALTER TABLE deliveries_new RENAME TO deliveries;
CREATE INDEX deliveries_event ON deliveries (event_seq, endpoint_id);
CREATE INDEX deliveries_pending ON deliveries (endpoint_id, id) WHERE state = 'pending';
CREATE INDEX deliveries_sending ON deliveries (kind, attempted_at) WHERE state = 'sending';
CREATE INDEX deliveries_done ON deliveries (endpoint_id, id) WHERE state IN ('delivered', 'failed', 'interrupted');
CREATE INDEX deliveries_missed ON deliveries (endpoint_id, id) WHERE state IN ('failed', 'interrupted');
