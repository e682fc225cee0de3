-- The bank's side of a landlord's money: accounts, the statements that were read, and their lines, which stay
-- for good. What a line was settled by is in bank_links.
CREATE TABLE bank_accounts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  iban TEXT,                                    -- letters and digits alone
  number TEXT,                                  -- as the bank's files have it
  bic TEXT,
  holder TEXT,
  currency TEXT NOT NULL,
  property_id INTEGER REFERENCES properties (id),
  collects INTEGER NOT NULL DEFAULT 0 CHECK (collects IN (0, 1)) -- tenants pay here
) STRICT;
CREATE UNIQUE INDEX bank_accounts_collects ON bank_accounts (coalesce(property_id, 0)) WHERE collects = 1;

CREATE TABLE bank_statements (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL REFERENCES bank_accounts (id),
  kind TEXT NOT NULL,
  from_day INTEGER,
  to_day INTEGER,
  opening_cents INTEGER,
  closing_cents INTEGER,
  sum_cents INTEGER NOT NULL,                   -- of all its lines in the file
  state TEXT NOT NULL CHECK (state IN ('balanced', 'unbalanced', 'unchecked')),
  lines INTEGER NOT NULL,
  file TEXT NOT NULL,                           -- its name
  sha256 TEXT NOT NULL,
  imported_at INTEGER NOT NULL
) STRICT;
CREATE INDEX bank_statements_account ON bank_statements (account_id, to_day);

-- parent_id is the line that a part was split from. The two keys tell a line again of which the payer was
-- forgotten: codes made with the file's own secret.
CREATE TABLE bank_lines (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL REFERENCES bank_accounts (id),
  statement_id INTEGER NOT NULL REFERENCES bank_statements (id),
  parent_id INTEGER REFERENCES bank_lines (id),
  day INTEGER NOT NULL,
  amount_cents INTEGER NOT NULL,
  payer_name TEXT NOT NULL,
  payer_account TEXT NOT NULL,
  text TEXT NOT NULL,
  reference TEXT NOT NULL,
  bank_reference TEXT NOT NULL,
  returned INTEGER NOT NULL CHECK (returned IN (0, 1)),
  payer_key BLOB NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('free', 'booked', 'linked', 'returned', 'ignored', 'split')),
  reason TEXT                                   -- of an ignored one
) STRICT;
CREATE INDEX bank_lines_account ON bank_lines (account_id, day);
CREATE INDEX bank_lines_free ON bank_lines (day, id) WHERE state = 'free';
CREATE INDEX bank_lines_day ON bank_lines (day, id);
CREATE INDEX bank_lines_parent ON bank_lines (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX bank_lines_statement ON bank_lines (statement_id);
CREATE INDEX bank_lines_payer ON bank_lines (payer_account) WHERE payer_account <> '';

-- Several lines of one payment, or several payments of one line, are one link. made says that booking the line
-- made the payment: freeing the line reverses it.
CREATE TABLE bank_links (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  line_id INTEGER NOT NULL REFERENCES bank_lines (id),
  payment_id INTEGER REFERENCES payments (id),
  payout_id INTEGER REFERENCES payouts (id),
  made INTEGER NOT NULL CHECK (made IN (0, 1)),
  CHECK ((payment_id IS NULL) <> (payout_id IS NULL))
) STRICT;
CREATE INDEX bank_links_line ON bank_links (line_id);
CREATE INDEX bank_links_payment ON bank_links (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX bank_links_payout ON bank_links (payout_id) WHERE payout_id IS NOT NULL;
