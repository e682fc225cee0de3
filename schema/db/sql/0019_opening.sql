-- Leases that are taken over from another book on a day: nothing due before it is posted, and what
-- was owed, paid ahead and held then are entries of the day before.
ALTER TABLE leases ADD COLUMN opening_day INTEGER CHECK (opening_day >= start_date);
ALTER TABLE leases ADD COLUMN opening_cents INTEGER; -- owed on that day; below 0: paid ahead
ALTER TABLE leases ADD COLUMN opening_deposit_cents INTEGER CHECK (opening_deposit_cents >= 0);

-- As before, with the type opening; opening is 1 for the balance and the deposit that were taken over.
CREATE TABLE charges_new (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  lease_id INTEGER NOT NULL REFERENCES leases (id),
  type TEXT NOT NULL CHECK (type IN ('rent', 'deposit', 'late_fee', 'utility', 'repair', 'other', 'opening')),
  label TEXT NOT NULL,
  due_date INTEGER NOT NULL,
  amount_cents INTEGER NOT NULL CHECK (amount_cents BETWEEN 0 AND 1000000000000),
  period_start INTEGER CHECK (period_start IS due_date OR type <> 'rent'),
  period_end INTEGER CHECK (period_end >= period_start),
  rent_cents INTEGER,
  posted_at INTEGER NOT NULL,
  paid_date INTEGER,
  method TEXT CHECK ((method IS NULL) = (paid_date IS NULL)),
  paid_cents INTEGER NOT NULL DEFAULT 0 CHECK (paid_cents BETWEEN 0 AND amount_cents),
  recurring_id INTEGER REFERENCES recurring_charges (id) ON DELETE SET NULL,
  fee_of INTEGER REFERENCES charges (id) ON DELETE SET NULL, -- of a late fee: the rent
  fee_day INTEGER,                                           -- of rent: when its late fee is to be posted
  opening INTEGER NOT NULL DEFAULT 0 CHECK (opening IN (0, 1))
) STRICT;
INSERT INTO charges_new SELECT id, lease_id, type, label, due_date, amount_cents, period_start, period_end, rent_cents, posted_at,
  paid_date, method, paid_cents, recurring_id, fee_of, fee_day, 0 FROM charges;
DELETE FROM sqlite_sequence WHERE name = 'charges_new';
INSERT INTO sqlite_sequence SELECT 'charges_new', seq FROM sqlite_sequence WHERE name = 'charges';
DROP TABLE charges;
ALTER TABLE charges_new RENAME TO charges;
CREATE UNIQUE INDEX charges_posting ON charges (lease_id, type, period_start);
CREATE UNIQUE INDEX charges_single ON charges (lease_id, type, due_date, label) WHERE period_start IS NULL;
CREATE INDEX charges_unpaid ON charges (lease_id, due_date, amount_cents, paid_cents, paid_date) WHERE paid_date IS NULL;
CREATE INDEX charges_due ON charges (due_date);
CREATE UNIQUE INDEX charges_recurring ON charges (recurring_id, due_date) WHERE recurring_id IS NOT NULL;
CREATE UNIQUE INDEX charges_fee ON charges (fee_of) WHERE fee_of IS NOT NULL;
CREATE INDEX charges_fee_day ON charges (lease_id, fee_day) WHERE fee_day IS NOT NULL;

-- As before, with the method opening: what was paid ahead, and the deposit, of a lease that was taken over.
CREATE TABLE payments_new (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  lease_id INTEGER NOT NULL REFERENCES leases (id),
  amount_cents INTEGER NOT NULL CHECK (amount_cents >= 0),
  credit_cents INTEGER NOT NULL CHECK (credit_cents BETWEEN 0 AND amount_cents),
  method TEXT NOT NULL CHECK (method IN ('cash', 'bank_transfer', 'card', 'check', 'direct_debit', 'online', 'other', 'deposit', 'opening')),
  paid_date INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  voided_at INTEGER,
  void_reason TEXT CHECK ((void_reason IS NULL) = (voided_at IS NULL))
) STRICT;
INSERT INTO payments_new SELECT id, lease_id, amount_cents, credit_cents, method, paid_date, recorded_at, voided_at, void_reason FROM payments;
DELETE FROM sqlite_sequence WHERE name = 'payments_new';
INSERT INTO sqlite_sequence SELECT 'payments_new', seq FROM sqlite_sequence WHERE name = 'payments';
DROP TABLE payments;
ALTER TABLE payments_new RENAME TO payments;
CREATE INDEX payments_lease ON payments (lease_id);
CREATE INDEX payments_received ON payments (paid_date) WHERE voided_at IS NULL;
CREATE INDEX payments_credit ON payments (lease_id, paid_date) WHERE credit_cents > 0;
CREATE INDEX payments_opening ON payments (lease_id) WHERE method = 'opening';
CREATE INDEX charges_opening ON charges (lease_id) WHERE opening = 1;
