-- What records keep of mail. Nothing is mailed for the past: all is empty.

-- The highest step of reminders that was mailed for a charge; those below count as mailed.
CREATE TABLE late_marks (
  charge_id INTEGER PRIMARY KEY REFERENCES charges (id) ON DELETE CASCADE,
  step INTEGER NOT NULL CHECK (step BETWEEN 1 AND 3)
) STRICT;

-- The due days of which the tenants of a lease were reminded before.
CREATE TABLE due_marks (
  lease_id INTEGER NOT NULL REFERENCES leases (id) ON DELETE CASCADE,
  due_day INTEGER NOT NULL,
  PRIMARY KEY (lease_id, due_day)
) STRICT, WITHOUT ROWID;

-- No reminders go to the tenants of a lease until after a day; when its newest late message was made.
ALTER TABLE leases ADD COLUMN paused_until INTEGER;
ALTER TABLE leases ADD COLUMN late_mailed_on INTEGER;

-- Who asked for a work order and is told when it is closed.
ALTER TABLE work_orders ADD COLUMN requester_email TEXT;
