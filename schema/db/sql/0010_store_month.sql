-- The store's month: orders of several lines, refunds by day, subscriptions, disputes,
-- and what finds an order or a customer by a part of a word.

-- What was bought moves from the order to its lines.
CREATE TABLE store_order_lines (
  order_id INTEGER NOT NULL REFERENCES store_orders (id),
  line INTEGER NOT NULL CHECK (line > 0),
  product_id INTEGER NOT NULL REFERENCES store_products (id),
  product_name TEXT NOT NULL,                             -- as it was called when it was sold
  tier TEXT,
  qty INTEGER NOT NULL CHECK (qty > 0),
  unit_cents INTEGER NOT NULL CHECK (unit_cents >= 0),
  PRIMARY KEY (order_id, line)
) STRICT, WITHOUT ROWID;
INSERT INTO store_order_lines SELECT id, 1, product_id, product_name, tier, qty, unit_cents FROM store_orders;

-- A subscription is known from the first event that names it; its checkout's order comes
-- with the checkout.
CREATE TABLE store_subscriptions (
  id INTEGER PRIMARY KEY,
  provider TEXT NOT NULL,
  ref TEXT NOT NULL,
  order_id INTEGER REFERENCES store_orders (id),          -- the checkout's; NULL until it comes
  ended_at INTEGER,
  UNIQUE (provider, ref)
) STRICT;
CREATE INDEX store_subscriptions_order ON store_subscriptions (order_id);

CREATE TABLE store_orders_new (
  id INTEGER PRIMARY KEY,
  order_ref TEXT NOT NULL UNIQUE,
  provider TEXT NOT NULL,
  provider_ref TEXT NOT NULL CHECK (provider_ref <> ''),
  status TEXT NOT NULL CHECK (status IN ('paid', 'refunded')),
  customer_id INTEGER NOT NULL REFERENCES store_customers (id),
  subtotal_cents INTEGER NOT NULL CHECK (subtotal_cents >= 0), -- of the lines
  discount_cents INTEGER NOT NULL CHECK (discount_cents >= 0),
  tax_cents INTEGER NOT NULL CHECK (tax_cents >= 0),
  total_cents INTEGER NOT NULL CHECK (total_cents >= 0 AND total_cents = subtotal_cents - discount_cents + tax_cents),
  refunded_cents INTEGER NOT NULL DEFAULT 0 CHECK (refunded_cents BETWEEN 0 AND total_cents),
  currency TEXT NOT NULL,
  paid_at INTEGER NOT NULL,
  refunded_at INTEGER,
  created_at INTEGER NOT NULL,
  subscription_id INTEGER REFERENCES store_subscriptions (id),
  renews INTEGER NOT NULL DEFAULT 0 CHECK (renews IN (0, 1)), -- 1: a later invoice of the subscription, which issues nothing
  UNIQUE (provider, provider_ref),
  CHECK (renews = 0 OR subscription_id IS NOT NULL)
) STRICT;
INSERT INTO store_orders_new (id, order_ref, provider, provider_ref, status, customer_id, subtotal_cents, discount_cents, tax_cents,
    total_cents, refunded_cents, currency, paid_at, refunded_at, created_at)
  SELECT id, order_ref, provider, provider_ref, status, customer_id, qty * unit_cents, discount_cents, tax_cents,
    total_cents, refunded_cents, currency, paid_at, refunded_at, created_at FROM store_orders;
DROP TABLE store_orders;
ALTER TABLE store_orders_new RENAME TO store_orders;
CREATE INDEX store_orders_status ON store_orders (status);
CREATE INDEX store_orders_provider ON store_orders (provider);
CREATE INDEX store_orders_provider_status ON store_orders (provider, status);
CREATE INDEX store_orders_customer ON store_orders (customer_id);
CREATE INDEX store_orders_paid ON store_orders (paid_at);
CREATE INDEX store_orders_subscription ON store_orders (subscription_id) WHERE subscription_id IS NOT NULL;

-- Refunds, each at its time. The audit trail has told of them all so far; where it does
-- not add up to what the order says, one refund at the order's own time stands for them.
CREATE TABLE store_refunds (
  id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES store_orders (id),
  at INTEGER NOT NULL,
  cents INTEGER NOT NULL CHECK (cents >= 0)               -- 0: an order that came to nothing
) STRICT;
CREATE INDEX store_refunds_order ON store_refunds (order_id);
CREATE INDEX store_refunds_at ON store_refunds (at);
INSERT INTO store_refunds (order_id, at, cents)
  SELECT o.id, a.at, json_extract(a.changes, '$.amount_cents') FROM audit a
  JOIN store_orders o ON o.order_ref = substr(a.subject, length('order:') + 1)
  WHERE a.service = 'store' AND a.action = 'order.refunded' AND json_type(a.changes, '$.amount_cents') = 'integer'
    AND json_extract(a.changes, '$.amount_cents') >= 0 ORDER BY a.id;
DELETE FROM store_refunds WHERE order_id IN (SELECT o.id FROM store_orders o
  WHERE o.refunded_cents <> (SELECT ifnull(sum(cents), 0) FROM store_refunds r WHERE r.order_id = o.id));
INSERT INTO store_refunds (order_id, at, cents)
  SELECT o.id, ifnull(o.refunded_at, o.paid_at), o.refunded_cents FROM store_orders o
  WHERE (o.refunded_cents > 0 OR o.status = 'refunded') AND NOT EXISTS (SELECT 1 FROM store_refunds r WHERE r.order_id = o.id);

-- What a license's owner decided, beside which a dispute may hold it; how far staff
-- extended it; the subscription that it lives by.
ALTER TABLE store_licenses ADD COLUMN decided TEXT NOT NULL DEFAULT 'active' CHECK (decided IN ('active', 'suspended', 'revoked'));
ALTER TABLE store_licenses ADD COLUMN subscription_id INTEGER REFERENCES store_subscriptions (id);
ALTER TABLE store_licenses ADD COLUMN extended_until INTEGER;
UPDATE store_licenses SET decided = state WHERE state <> 'active';
CREATE INDEX store_licenses_subscription ON store_licenses (subscription_id) WHERE subscription_id IS NOT NULL;
CREATE INDEX store_licenses_suspended ON store_licenses (id) WHERE state = 'suspended';
CREATE INDEX store_licenses_revoked ON store_licenses (id) WHERE state = 'revoked';

-- When a buyer gave a seat up by the buyer's page: once a seat and hour.
CREATE TABLE store_releases (
  license_id INTEGER NOT NULL REFERENCES store_licenses (id),
  fingerprint TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (license_id, fingerprint)
) STRICT, WITHOUT ROWID;

CREATE INDEX store_codes_order ON store_codes (order_id) WHERE order_id IS NOT NULL;

-- What a provider told of a payment, under all the names that it gave it (payment
-- intent, charge, invoice, session). An order that only ever had its provider_ref for
-- a name has none here.
CREATE TABLE store_payments (
  id INTEGER PRIMARY KEY,
  provider TEXT NOT NULL,
  order_id INTEGER UNIQUE REFERENCES store_orders (id),   -- NULL: it waits for its order
  refunded_cents INTEGER NOT NULL DEFAULT 0,              -- the largest running total that was told
  refund_currency TEXT,
  refund_event TEXT,
  at INTEGER NOT NULL
) STRICT;

CREATE TABLE store_payment_names (
  provider TEXT NOT NULL,
  name TEXT NOT NULL,
  payment_id INTEGER NOT NULL REFERENCES store_payments (id),
  PRIMARY KEY (provider, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX store_payment_names_payment ON store_payment_names (payment_id);

INSERT INTO store_payments (id, provider, refunded_cents, refund_currency, refund_event, at)
  SELECT row_number() OVER (ORDER BY at, provider_ref), provider, refunded_cents, currency, event_id, at FROM store_early_refunds;
INSERT INTO store_payment_names (provider, name, payment_id)
  SELECT provider, provider_ref, row_number() OVER (ORDER BY at, provider_ref) FROM store_early_refunds;
DROP TABLE store_early_refunds;

-- Paid invoices of subscriptions. The order of one is its payment's: the checkout's for
-- the first, one of its own for each later.
CREATE TABLE store_invoices (
  id INTEGER PRIMARY KEY,
  provider TEXT NOT NULL,
  ref TEXT NOT NULL,
  subscription_id INTEGER NOT NULL REFERENCES store_subscriptions (id),
  payment_id INTEGER NOT NULL REFERENCES store_payments (id),
  payment_ref TEXT NOT NULL,                              -- what its order's provider_ref is or would be
  opens INTEGER NOT NULL CHECK (opens IN (0, 1)),         -- 1: the checkout's own
  period_end INTEGER,                                     -- NULL: it does not tell
  total_cents INTEGER NOT NULL CHECK (total_cents >= 0),
  tax_cents INTEGER NOT NULL CHECK (tax_cents >= 0),
  currency TEXT NOT NULL,
  event_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (provider, ref)
) STRICT;
CREATE INDEX store_invoices_subscription ON store_invoices (subscription_id);
CREATE INDEX store_invoices_payment ON store_invoices (payment_id);

CREATE TABLE store_disputes (
  id INTEGER PRIMARY KEY,
  provider TEXT NOT NULL,
  ref TEXT NOT NULL,
  payment_id INTEGER NOT NULL REFERENCES store_payments (id),
  state TEXT NOT NULL CHECK (state IN ('open', 'won', 'lost')),
  cents INTEGER NOT NULL CHECK (cents >= 0),
  currency TEXT NOT NULL,
  booked INTEGER NOT NULL DEFAULT 0 CHECK (booked IN (0, 1)), -- 1: the order has taken it in, as it stands
  event_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (provider, ref)
) STRICT;
CREATE INDEX store_disputes_payment ON store_disputes (payment_id);

-- The licenses that an open dispute suspends.
CREATE TABLE store_holds (
  license_id INTEGER NOT NULL REFERENCES store_licenses (id),
  dispute_id INTEGER NOT NULL REFERENCES store_disputes (id),
  PRIMARY KEY (license_id, dispute_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX store_holds_dispute ON store_holds (dispute_id);

ALTER TABLE store_unclear RENAME TO store_unbooked;

-- Words to find by: the trigrams of an order's references, buyer and SKUs, and of a
-- customer's address and name. They hold no text: what is found is compared with the rows.
CREATE VIRTUAL TABLE store_find_orders USING fts5(words, tokenize='trigram', content='', contentless_delete=1, detail=none);
INSERT INTO store_find_orders (rowid, words)
  SELECT o.id, o.order_ref || char(10) || o.provider_ref || char(10) || c.email || char(10) || c.name || char(10) ||
    (SELECT group_concat(p.sku, char(10)) FROM store_order_lines l JOIN store_products p ON p.id = l.product_id WHERE l.order_id = o.id)
  FROM store_orders o JOIN store_customers c ON c.id = o.customer_id ORDER BY o.id;
CREATE VIRTUAL TABLE store_find_customers USING fts5(words, tokenize='trigram', content='', contentless_delete=1, detail=none);
INSERT INTO store_find_customers (rowid, words) SELECT id, email || char(10) || name FROM store_customers ORDER BY id;
