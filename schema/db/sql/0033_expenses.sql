-- Money that went out: expenses of a house, or of all of them, those that come back, and payments of closed years
-- that were taken back later.
CREATE TABLE recurring_expenses (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  property_id INTEGER REFERENCES properties (id),       -- NULL: of all houses
  unit_id INTEGER REFERENCES units (id) CHECK (unit_id IS NULL OR property_id IS NOT NULL),
  category TEXT NOT NULL,
  payee TEXT,
  amount_cents INTEGER NOT NULL CHECK (amount_cents <> 0),
  tax_note TEXT,
  frequency TEXT NOT NULL CHECK (frequency IN ('weekly', 'fortnightly', 'monthly', 'quarterly', 'yearly')),
  from_day INTEGER NOT NULL,
  to_day INTEGER CHECK (to_day >= from_day - 1),        -- NULL is open-ended
  next_day INTEGER                                      -- the first day that is not entered yet; NULL: no more will come
) STRICT;
CREATE INDEX recurring_expenses_next ON recurring_expenses (next_day) WHERE next_day IS NOT NULL;

CREATE TABLE expenses (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  property_id INTEGER REFERENCES properties (id),       -- NULL: of all houses
  unit_id INTEGER REFERENCES units (id) CHECK (unit_id IS NULL OR property_id IS NOT NULL),
  day INTEGER NOT NULL,
  category TEXT NOT NULL,
  payee TEXT,
  amount_cents INTEGER NOT NULL CHECK (amount_cents <> 0), -- below 0: money back
  tax_note TEXT,
  ticket_id INTEGER REFERENCES tickets (id),
  reverses_id INTEGER UNIQUE REFERENCES expenses (id),
  recurring_id INTEGER REFERENCES recurring_expenses (id),
  due_day INTEGER CHECK ((due_day IS NULL) = (recurring_id IS NULL)), -- the day of the recurring one that it is
  recorded_at INTEGER NOT NULL,
  UNIQUE (recurring_id, due_day)
) STRICT;
CREATE INDEX expenses_day ON expenses (day, id);
CREATE INDEX expenses_ticket ON expenses (ticket_id) WHERE ticket_id IS NOT NULL;
CREATE INDEX expenses_category ON expenses (category);

-- As before, with expenses.
CREATE TABLE bank_links_new (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  line_id INTEGER NOT NULL REFERENCES bank_lines (id),
  payment_id INTEGER REFERENCES payments (id),
  payout_id INTEGER REFERENCES payouts (id),
  expense_id INTEGER REFERENCES expenses (id),
  made INTEGER NOT NULL CHECK (made IN (0, 1)),
  CHECK ((payment_id IS NOT NULL) + (payout_id IS NOT NULL) + (expense_id IS NOT NULL) = 1)
) STRICT;
INSERT INTO bank_links_new SELECT id, line_id, payment_id, payout_id, NULL, made FROM bank_links;
DROP TABLE bank_links;
ALTER TABLE bank_links_new RENAME TO bank_links;
CREATE INDEX bank_links_line ON bank_links (line_id);
CREATE INDEX bank_links_payment ON bank_links (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX bank_links_payout ON bank_links (payout_id) WHERE payout_id IS NOT NULL;
CREATE INDEX bank_links_expense ON bank_links (expense_id) WHERE expense_id IS NOT NULL;

-- A payment of a closed year that was taken back: that year still counts it, by what it had paid then. The year of
-- day has it as returned. A part without a type was an advance; counted is the day from which a deposit was held.
CREATE TABLE payment_returns (
  payment_id INTEGER PRIMARY KEY REFERENCES payments (id),
  day INTEGER NOT NULL
) STRICT;
CREATE TABLE payment_return_parts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  payment_id INTEGER NOT NULL REFERENCES payment_returns (payment_id),
  type TEXT,
  counted INTEGER NOT NULL,
  amount_cents INTEGER NOT NULL
) STRICT;
CREATE INDEX payment_return_parts_payment ON payment_return_parts (payment_id);

-- counted is the day of an allocation that was made after the year of its payment was closed; before it the payment
-- was an advance, and stays one there.
ALTER TABLE allocations ADD COLUMN counted INTEGER;
CREATE INDEX payments_deposit ON payments (lease_id) WHERE method = 'deposit';
CREATE INDEX payouts_day ON payouts (day);
