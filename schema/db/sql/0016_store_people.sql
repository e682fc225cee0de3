-- Orders that were recorded by mistake can be void, products can be downloads, and refunds and
-- disputes that wait for their order say since when.

CREATE TABLE store_orders_new (
  id INTEGER PRIMARY KEY,
  order_ref TEXT NOT NULL UNIQUE,
  provider TEXT NOT NULL,
  provider_ref TEXT NOT NULL CHECK (provider_ref <> ''),
  status TEXT NOT NULL CHECK (status IN ('paid', 'refunded', 'void')),
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
INSERT INTO store_orders_new SELECT id, order_ref, provider, provider_ref, status, customer_id, subtotal_cents, discount_cents, tax_cents,
  total_cents, refunded_cents, currency, paid_at, refunded_at, created_at, subscription_id, renews FROM store_orders;
DROP TABLE store_orders;
ALTER TABLE store_orders_new RENAME TO store_orders;
CREATE INDEX store_orders_status ON store_orders (status);
CREATE INDEX store_orders_provider ON store_orders (provider);
CREATE INDEX store_orders_provider_status ON store_orders (provider, status);
CREATE INDEX store_orders_customer ON store_orders (customer_id);
CREATE INDEX store_orders_paid ON store_orders (paid_at);
CREATE INDEX store_orders_subscription ON store_orders (subscription_id) WHERE subscription_id IS NOT NULL;

CREATE TABLE store_products_new (
  id INTEGER PRIMARY KEY,
  sku TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('license', 'other', 'download')),
  price_cents INTEGER NOT NULL CHECK (price_cents >= 0),
  activation_limit INTEGER CHECK (activation_limit >= 0), -- NULL is unlimited
  license_days INTEGER CHECK (license_days > 0),          -- NULL is forever
  tiers TEXT NOT NULL,                                    -- names separated by |
  active INTEGER NOT NULL CHECK (active IN (0, 1))
) STRICT;
INSERT INTO store_products_new SELECT id, sku, name, kind, price_cents, activation_limit, license_days, tiers, active FROM store_products;
DROP TABLE store_products;
ALTER TABLE store_products_new RENAME TO store_products;

-- NULL: nothing that was told of the payment waits for its order, or a person dismissed it.
ALTER TABLE store_payments ADD COLUMN waits_from INTEGER;
UPDATE store_payments SET waits_from = at WHERE order_id IS NULL
  AND (refunded_cents > 0 OR EXISTS (SELECT 1 FROM store_disputes d WHERE d.payment_id = store_payments.id));
CREATE INDEX store_payments_waiting ON store_payments (waits_from) WHERE order_id IS NULL AND waits_from IS NOT NULL;
