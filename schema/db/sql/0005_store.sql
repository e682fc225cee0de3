-- The store: what is sold, to whom, and the licenses and codes that came of it.

CREATE TABLE store_settings (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  currency TEXT NOT NULL
) STRICT;
INSERT INTO store_settings VALUES (1, 'USD');

CREATE TABLE store_products (
  id INTEGER PRIMARY KEY,
  sku TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('license', 'other')),
  price_cents INTEGER NOT NULL CHECK (price_cents >= 0),
  activation_limit INTEGER CHECK (activation_limit >= 0), -- NULL is unlimited
  license_days INTEGER CHECK (license_days > 0),          -- NULL is forever
  tiers TEXT NOT NULL,                                    -- names separated by |
  active INTEGER NOT NULL CHECK (active IN (0, 1))
) STRICT;

CREATE TABLE store_customers (
  id INTEGER PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,                             -- case-folded
  name TEXT NOT NULL,
  paid_orders INTEGER NOT NULL DEFAULT 0 CHECK (paid_orders >= 0),
  first_order_at INTEGER,
  last_order_at INTEGER
) STRICT;

CREATE TABLE store_orders (
  id INTEGER PRIMARY KEY,
  order_ref TEXT NOT NULL UNIQUE,
  provider TEXT NOT NULL,
  provider_ref TEXT NOT NULL CHECK (provider_ref <> ''),
  status TEXT NOT NULL CHECK (status IN ('paid', 'refunded')),
  customer_id INTEGER NOT NULL REFERENCES store_customers (id),
  product_id INTEGER NOT NULL REFERENCES store_products (id),
  product_name TEXT NOT NULL,                             -- as it was called when it was sold
  tier TEXT,
  qty INTEGER NOT NULL CHECK (qty > 0),
  unit_cents INTEGER NOT NULL CHECK (unit_cents >= 0),
  discount_cents INTEGER NOT NULL CHECK (discount_cents >= 0),
  tax_cents INTEGER NOT NULL CHECK (tax_cents >= 0),
  total_cents INTEGER NOT NULL CHECK (total_cents >= 0 AND total_cents = qty * unit_cents - discount_cents + tax_cents),
  refunded_cents INTEGER NOT NULL DEFAULT 0 CHECK (refunded_cents BETWEEN 0 AND total_cents),
  currency TEXT NOT NULL,
  paid_at INTEGER NOT NULL,
  refunded_at INTEGER,
  created_at INTEGER NOT NULL,
  UNIQUE (provider, provider_ref)
) STRICT;
CREATE INDEX store_orders_status ON store_orders (status);
CREATE INDEX store_orders_provider ON store_orders (provider);
CREATE INDEX store_orders_provider_status ON store_orders (provider, status);
CREATE INDEX store_orders_customer ON store_orders (customer_id, status);

-- A license's seats are limited by its product; expired is a matter of the clock and
-- not stored.
CREATE TABLE store_licenses (
  id INTEGER PRIMARY KEY,
  key_hash BLOB NOT NULL UNIQUE,                          -- SHA-256 of the key without separators
  license_key TEXT NOT NULL,
  product_id INTEGER NOT NULL REFERENCES store_products (id),
  tier TEXT,
  order_id INTEGER NOT NULL REFERENCES store_orders (id),
  order_ref TEXT NOT NULL,                                -- the order's, so that a check need not look there
  state TEXT NOT NULL CHECK (state IN ('active', 'suspended', 'revoked')),
  activation_count INTEGER NOT NULL DEFAULT 0 CHECK (activation_count >= 0),
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  last_checked_at INTEGER
) STRICT;
CREATE INDEX store_licenses_product ON store_licenses (product_id);
CREATE INDEX store_licenses_order ON store_licenses (order_id);
CREATE INDEX store_licenses_expiring ON store_licenses (expires_at) WHERE state = 'active';

CREATE TABLE store_activations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  license_id INTEGER NOT NULL REFERENCES store_licenses (id),
  fingerprint TEXT NOT NULL,
  label TEXT NOT NULL,
  allowed INTEGER,                                        -- the limit when the seat was taken; NULL is unlimited
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  UNIQUE (license_id, fingerprint)
) STRICT;
CREATE INDEX store_activations_license ON store_activations (license_id);

CREATE TABLE store_batches (
  id INTEGER PRIMARY KEY,
  batch TEXT NOT NULL UNIQUE,
  product_id INTEGER NOT NULL REFERENCES store_products (id),
  tier TEXT,
  unused INTEGER NOT NULL DEFAULT 0 CHECK (unused >= 0),
  redeemed INTEGER NOT NULL DEFAULT 0 CHECK (redeemed >= 0),
  void INTEGER NOT NULL DEFAULT 0 CHECK (void >= 0),
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX store_batches_unused ON store_batches (id) WHERE unused > 0;
CREATE INDEX store_batches_redeemed ON store_batches (id) WHERE redeemed > 0;
CREATE INDEX store_batches_void ON store_batches (id) WHERE void > 0;

CREATE TABLE store_codes (
  hash BLOB NOT NULL PRIMARY KEY,                         -- SHA-256 of the code without separators
  batch_id INTEGER NOT NULL REFERENCES store_batches (id),
  status TEXT NOT NULL CHECK (status IN ('unused', 'redeemed', 'void')),
  order_id INTEGER REFERENCES store_orders (id),
  redeemed_at INTEGER,
  CHECK ((status = 'redeemed') = (order_id IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX store_codes_batch ON store_codes (batch_id, status);

-- What GET /api/stats tells, kept in the transactions that change it: a sum a kind,
-- and for money a kind and currency.
CREATE TABLE store_totals (
  kind TEXT NOT NULL,
  currency TEXT NOT NULL,                                 -- '' for what is no money
  n INTEGER NOT NULL,
  PRIMARY KEY (kind, currency)
) STRICT, WITHOUT ROWID;

-- How many licenses in the state active run out in each hour, in each 64 hours, and in
-- each 4,096: so that those of many years are added up from few rows.
CREATE TABLE store_expiry (
  span INTEGER NOT NULL,                                  -- 3600, 230400 or 14745600 seconds
  start INTEGER NOT NULL,                                 -- an instant that span divides
  licenses INTEGER NOT NULL,
  PRIMARY KEY (span, start)
) STRICT, WITHOUT ROWID;

CREATE TABLE store_providers (
  provider TEXT PRIMARY KEY,
  secret TEXT NOT NULL                                    -- signs what the provider sends
) STRICT, WITHOUT ROWID;

CREATE TABLE store_links (
  provider TEXT NOT NULL,
  link TEXT NOT NULL,
  product_id INTEGER NOT NULL REFERENCES store_products (id),
  tier TEXT,
  PRIMARY KEY (provider, link)
) STRICT, WITHOUT ROWID;

CREATE TABLE store_provider_events (
  provider TEXT NOT NULL,
  event_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (provider, event_id)
) STRICT, WITHOUT ROWID;

-- Refunds that came before their payment.
CREATE TABLE store_early_refunds (
  provider TEXT NOT NULL,
  provider_ref TEXT NOT NULL,
  refunded_cents INTEGER NOT NULL,
  currency TEXT NOT NULL,
  event_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (provider, provider_ref)
) STRICT, WITHOUT ROWID;

-- Payments that came in and could not be booked: doctor lists them until an order
-- with their reference is there.
CREATE TABLE store_unclear (
  provider TEXT NOT NULL,
  provider_ref TEXT NOT NULL,
  event_id TEXT NOT NULL,
  refund INTEGER NOT NULL CHECK (refund IN (0, 1)),       -- 1: what cannot be booked is a refund of it
  reason TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (provider, provider_ref, refund)
) STRICT, WITHOUT ROWID;
