-- The rental service. Days are day numbers, amounts cents.

CREATE TABLE properties (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  address TEXT
) STRICT;

CREATE TABLE units (
  id INTEGER PRIMARY KEY,
  property_id INTEGER NOT NULL REFERENCES properties (id),
  name TEXT NOT NULL,
  market_rent_cents INTEGER NOT NULL CHECK (market_rent_cents BETWEEN 0 AND 1000000000000),
  notes TEXT,
  UNIQUE (property_id, name)
) STRICT;

CREATE TABLE tenants (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  email TEXT,
  phone TEXT
) STRICT;

CREATE TABLE leases (
  id INTEGER PRIMARY KEY,
  unit_id INTEGER NOT NULL REFERENCES units (id),
  tenant_id INTEGER NOT NULL REFERENCES tenants (id),
  start_date INTEGER NOT NULL,
  end_date INTEGER CHECK (end_date >= start_date), -- the last day; NULL is open-ended
  rent_cents INTEGER NOT NULL CHECK (rent_cents BETWEEN 0 AND 1000000000000),
  frequency TEXT NOT NULL CHECK (frequency IN ('weekly', 'fortnightly', 'monthly', 'quarterly', 'yearly')),
  due_day INTEGER NOT NULL CHECK (due_day BETWEEN 1 AND 31),
  deposit_cents INTEGER NOT NULL CHECK (deposit_cents BETWEEN 0 AND 1000000000000),
  proration TEXT NOT NULL CHECK (proration IN ('actual', 'none')),
  -- The first day of the next period to be posted; NULL when no more will come. The
  -- index over it tells what is to be posted without a look at the other leases.
  next_post_day INTEGER,
  last_day INTEGER NOT NULL CHECK (last_day = coalesce(end_date, 2932896)), -- end_date, or the last of all days
  UNIQUE (unit_id, start_date)
) STRICT;
CREATE INDEX leases_to_post ON leases (next_post_day) WHERE next_post_day IS NOT NULL;
CREATE INDEX leases_start ON leases (start_date);
CREATE INDEX leases_last ON leases (last_day, start_date);

-- A charge is paid when it has a paid_date. Billing periods (type rent) have
-- period_start, period_end and the rent that they were computed from; other charges
-- have none of the three. AUTOINCREMENT, so that the id of a withdrawn charge never
-- comes to mean another one.
CREATE TABLE charges (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  lease_id INTEGER NOT NULL REFERENCES leases (id),
  type TEXT NOT NULL CHECK (type IN ('rent', 'deposit', 'late_fee', 'utility', 'repair', 'other')),
  label TEXT NOT NULL,
  due_date INTEGER NOT NULL,
  amount_cents INTEGER NOT NULL CHECK (amount_cents BETWEEN 0 AND 1000000000000),
  period_start INTEGER CHECK (period_start IS due_date OR type <> 'rent'),
  period_end INTEGER CHECK (period_end >= period_start),
  rent_cents INTEGER,
  posted_at INTEGER NOT NULL,
  paid_date INTEGER,
  method TEXT CHECK ((method IS NULL) = (paid_date IS NULL))
) STRICT;
CREATE UNIQUE INDEX charges_posting ON charges (lease_id, type, period_start);
CREATE UNIQUE INDEX charges_single ON charges (lease_id, type, due_date, label) WHERE period_start IS NULL;
CREATE INDEX charges_unpaid ON charges (lease_id, due_date, amount_cents, paid_date) WHERE paid_date IS NULL;
CREATE INDEX charges_due ON charges (due_date);

-- Every payment ever recorded. One that was reversed stays, voided; a charge has at
-- most one that stands. charge_id is NULL when the charge of a voided payment was
-- withdrawn later.
CREATE TABLE payments (
  id INTEGER PRIMARY KEY,
  lease_id INTEGER NOT NULL REFERENCES leases (id),
  charge_id INTEGER REFERENCES charges (id) ON DELETE SET NULL CHECK (charge_id IS NOT NULL OR voided_at IS NOT NULL),
  amount_cents INTEGER NOT NULL,
  method TEXT NOT NULL CHECK (method IN ('cash', 'bank_transfer', 'card', 'check', 'direct_debit', 'online', 'other')),
  paid_date INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  voided_at INTEGER,
  void_reason TEXT CHECK ((void_reason IS NULL) = (voided_at IS NULL))
) STRICT;
CREATE INDEX payments_charge ON payments (charge_id);
CREATE UNIQUE INDEX payments_standing ON payments (charge_id) WHERE voided_at IS NULL;
CREATE INDEX payments_received ON payments (paid_date) WHERE voided_at IS NULL;

CREATE TABLE tickets (
  id INTEGER PRIMARY KEY,
  unit_id INTEGER NOT NULL REFERENCES units (id),
  lease_id INTEGER REFERENCES leases (id),
  title TEXT NOT NULL,
  description TEXT,
  priority TEXT NOT NULL CHECK (priority IN ('low', 'medium', 'high', 'urgent')),
  status TEXT NOT NULL CHECK (status IN ('open', 'in_progress', 'resolved')),
  source TEXT NOT NULL CHECK (source IN ('api', 'agent', 'cli', 'portal')),
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  resolved_at INTEGER CHECK ((resolved_at IS NOT NULL) = (status = 'resolved'))
) STRICT;
CREATE INDEX tickets_status ON tickets (status, id);
