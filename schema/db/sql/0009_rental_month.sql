-- Rental: money that comes in parts, steps of rent, recurring charges, late fees,
-- deposits, and several tenants of a lease.

-- Two tenants may have one name.
CREATE TABLE tenants_new (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  email TEXT,
  phone TEXT
) STRICT;
INSERT INTO tenants_new SELECT id, name, email, phone FROM tenants;

CREATE TABLE lease_tenants (
  lease_id INTEGER NOT NULL REFERENCES leases (id),
  position INTEGER NOT NULL,                              -- from 1; the first is who is written to
  tenant_id INTEGER NOT NULL REFERENCES tenants (id),
  PRIMARY KEY (lease_id, position),
  UNIQUE (lease_id, tenant_id)
) STRICT, WITHOUT ROWID;
INSERT INTO lease_tenants SELECT id, 1, tenant_id FROM leases;
CREATE INDEX lease_tenants_tenant ON lease_tenants (tenant_id);

DROP TABLE tenants;
ALTER TABLE tenants_new RENAME TO tenants;
CREATE INDEX tenants_name ON tenants (name);

-- rent_cents is the rent before the first of the rent_steps.
CREATE TABLE leases_new (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  unit_id INTEGER NOT NULL REFERENCES units (id),
  start_date INTEGER NOT NULL,
  end_date INTEGER CHECK (end_date >= start_date), -- the last day; NULL is open-ended
  rent_cents INTEGER NOT NULL CHECK (rent_cents BETWEEN 0 AND 1000000000000),
  frequency TEXT NOT NULL CHECK (frequency IN ('weekly', 'fortnightly', 'monthly', 'quarterly', 'yearly')),
  due_day INTEGER NOT NULL CHECK (due_day BETWEEN 1 AND 31),
  deposit_cents INTEGER NOT NULL CHECK (deposit_cents BETWEEN 0 AND 1000000000000),
  proration TEXT NOT NULL CHECK (proration IN ('actual', 'none')),
  -- The first day of the next period to be posted; NULL when no more will come.
  next_post_day INTEGER,
  -- The day on which looking at the lease posts something next: a period, a late fee, or
  -- credit that meets a charge. The index over it tells what is to be posted without a
  -- look at the other leases.
  next_event_day INTEGER,
  last_day INTEGER NOT NULL CHECK (last_day = coalesce(end_date, 2932896)), -- end_date, or the last of all days
  UNIQUE (unit_id, start_date)
) STRICT;
INSERT INTO leases_new SELECT id, unit_id, start_date, end_date, rent_cents, frequency, due_day, deposit_cents, proration,
  next_post_day, next_post_day, last_day FROM leases;
DROP TABLE leases;
ALTER TABLE leases_new RENAME TO leases;
CREATE INDEX leases_to_post ON leases (next_event_day) WHERE next_event_day IS NOT NULL;
CREATE INDEX leases_start ON leases (start_date);
CREATE INDEX leases_last ON leases (last_day, start_date);

CREATE TABLE rent_steps (
  lease_id INTEGER NOT NULL REFERENCES leases (id),
  from_day INTEGER NOT NULL,
  rent_cents INTEGER NOT NULL CHECK (rent_cents BETWEEN 0 AND 1000000000000),
  PRIMARY KEY (lease_id, from_day)
) STRICT, WITHOUT ROWID;

-- One charge with each billing period that starts on a day of from_day to to_day.
CREATE TABLE recurring_charges (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  lease_id INTEGER NOT NULL REFERENCES leases (id),
  type TEXT NOT NULL CHECK (type IN ('utility', 'repair', 'other')),
  label TEXT NOT NULL,
  amount_cents INTEGER NOT NULL CHECK (amount_cents BETWEEN 0 AND 1000000000000),
  from_day INTEGER NOT NULL,
  to_day INTEGER CHECK (to_day >= from_day - 1),          -- NULL is open-ended
  UNIQUE (lease_id, type, label, from_day)
) STRICT;

-- A property's late fee for rent that is due on or after from_day, until the next row's.
CREATE TABLE late_fees (
  property_id INTEGER NOT NULL REFERENCES properties (id),
  from_day INTEGER NOT NULL,
  grace_days INTEGER NOT NULL CHECK (grace_days BETWEEN 0 AND 365),
  cents INTEGER CHECK (cents BETWEEN 0 AND 1000000000000),
  percent INTEGER CHECK (percent BETWEEN 0 AND 10000),    -- hundredths of a percent
  CHECK ((cents IS NULL) <> (percent IS NULL)),
  PRIMARY KEY (property_id, from_day)
) STRICT, WITHOUT ROWID;

-- Late fees that were voided and do not come again, by the rent's due day.
CREATE TABLE late_fee_voids (
  lease_id INTEGER NOT NULL REFERENCES leases (id),
  rent_due INTEGER NOT NULL,
  PRIMARY KEY (lease_id, rent_due)
) STRICT, WITHOUT ROWID;

-- A charge is paid when it has a paid_date; paid_cents is the sum of its allocations.
ALTER TABLE charges ADD COLUMN paid_cents INTEGER NOT NULL DEFAULT 0 CHECK (paid_cents BETWEEN 0 AND amount_cents);
ALTER TABLE charges ADD COLUMN recurring_id INTEGER REFERENCES recurring_charges (id) ON DELETE SET NULL;
ALTER TABLE charges ADD COLUMN fee_of INTEGER REFERENCES charges (id) ON DELETE SET NULL; -- of a late fee: the rent
ALTER TABLE charges ADD COLUMN fee_day INTEGER;           -- of rent: when its late fee is to be posted
UPDATE charges SET paid_cents = amount_cents WHERE paid_date IS NOT NULL;
DROP INDEX charges_unpaid;
CREATE INDEX charges_unpaid ON charges (lease_id, due_date, amount_cents, paid_cents, paid_date) WHERE paid_date IS NULL;
CREATE UNIQUE INDEX charges_recurring ON charges (recurring_id, due_date) WHERE recurring_id IS NOT NULL;
CREATE UNIQUE INDEX charges_fee ON charges (fee_of) WHERE fee_of IS NOT NULL;
CREATE INDEX charges_fee_day ON charges (lease_id, fee_day) WHERE fee_day IS NOT NULL;

-- Every payment ever recorded, and every use of a deposit (method deposit), which brings
-- no money in. credit_cents is what no allocation has taken; one that was reversed
-- stays, voided, and has none.
CREATE TABLE payments_new (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  lease_id INTEGER NOT NULL REFERENCES leases (id),
  amount_cents INTEGER NOT NULL CHECK (amount_cents >= 0),
  credit_cents INTEGER NOT NULL CHECK (credit_cents BETWEEN 0 AND amount_cents),
  method TEXT NOT NULL CHECK (method IN ('cash', 'bank_transfer', 'card', 'check', 'direct_debit', 'online', 'other', 'deposit')),
  paid_date INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  voided_at INTEGER,
  void_reason TEXT CHECK ((void_reason IS NULL) = (voided_at IS NULL))
) STRICT;
INSERT INTO payments_new SELECT id, lease_id, amount_cents, 0, method, paid_date, recorded_at, voided_at, void_reason FROM payments;

-- Money that went out again: credit or a deposit that was returned.
CREATE TABLE payouts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  lease_id INTEGER NOT NULL REFERENCES leases (id),
  kind TEXT NOT NULL CHECK (kind IN ('credit', 'deposit')),
  day INTEGER NOT NULL,
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  method TEXT NOT NULL,
  recorded_at INTEGER NOT NULL
) STRICT;
CREATE INDEX payouts_lease ON payouts (lease_id);

-- What a payment went to: a charge, or credit that was returned.
CREATE TABLE allocations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  payment_id INTEGER NOT NULL REFERENCES payments (id),
  charge_id INTEGER REFERENCES charges (id),
  payout_id INTEGER REFERENCES payouts (id),
  amount_cents INTEGER NOT NULL CHECK (amount_cents >= 0),
  CHECK ((charge_id IS NULL) <> (payout_id IS NULL)),
  UNIQUE (payment_id, charge_id)
) STRICT;
INSERT INTO allocations (payment_id, charge_id, amount_cents) SELECT id, charge_id, amount_cents FROM payments WHERE voided_at IS NULL ORDER BY id;
CREATE INDEX allocations_charge ON allocations (charge_id) WHERE charge_id IS NOT NULL;

DROP TABLE payments;
ALTER TABLE payments_new RENAME TO payments;
CREATE INDEX payments_lease ON payments (lease_id);
CREATE INDEX payments_received ON payments (paid_date) WHERE voided_at IS NULL;
CREATE INDEX payments_credit ON payments (lease_id, paid_date) WHERE credit_cents > 0;

CREATE TABLE tickets_new (
  id INTEGER PRIMARY KEY,
  unit_id INTEGER NOT NULL REFERENCES units (id),
  lease_id INTEGER REFERENCES leases (id),
  title TEXT NOT NULL,
  description TEXT,
  priority TEXT NOT NULL CHECK (priority IN ('low', 'medium', 'high', 'urgent')),
  status TEXT NOT NULL CHECK (status IN ('open', 'in_progress', 'resolved')),
  source TEXT NOT NULL CHECK (source IN ('api', 'agent', 'cli', 'portal', 'web')),
  created_by TEXT NOT NULL,
  assigned_to TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  resolved_at INTEGER CHECK ((resolved_at IS NOT NULL) = (status = 'resolved'))
) STRICT;
INSERT INTO tickets_new SELECT id, unit_id, lease_id, title, description, priority, status, source, created_by, NULL,
  created_at, updated_at, resolved_at FROM tickets;
DROP TABLE tickets;
ALTER TABLE tickets_new RENAME TO tickets;
CREATE INDEX tickets_status ON tickets (status, id);
CREATE INDEX tickets_unit ON tickets (unit_id, id);
CREATE INDEX tickets_lease ON tickets (lease_id) WHERE lease_id IS NOT NULL;

CREATE TABLE ticket_notes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  ticket_id INTEGER NOT NULL REFERENCES tickets (id),
  at INTEGER NOT NULL,
  author TEXT NOT NULL,
  tenant INTEGER NOT NULL CHECK (tenant IN (0, 1)),       -- 1: written at the portal
  text TEXT NOT NULL
) STRICT;
CREATE INDEX ticket_notes_ticket ON ticket_notes (ticket_id, id);

CREATE TABLE ticket_photos (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  ticket_id INTEGER NOT NULL REFERENCES tickets (id),
  at INTEGER NOT NULL,
  type TEXT NOT NULL,                                     -- the media type
  image BLOB NOT NULL
) STRICT;
CREATE INDEX ticket_photos_ticket ON ticket_photos (ticket_id, id);
