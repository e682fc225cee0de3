-- More than one till: what a provider told of a subscription's state, the day to answer a dispute, what an unbooked
-- payment was of. Times in _us are the provider's, in microseconds.

ALTER TABLE store_subscriptions ADD COLUMN told TEXT NOT NULL DEFAULT 'active' CHECK (told IN ('active', 'past_due', 'cancelled', 'ended'));
ALTER TABLE store_subscriptions ADD COLUMN told_us INTEGER NOT NULL DEFAULT 0;   -- when it told so
ALTER TABLE store_subscriptions ADD COLUMN ends_on INTEGER;                      -- NULL: no end was told
ALTER TABLE store_subscriptions ADD COLUMN renews_on INTEGER;
ALTER TABLE store_subscriptions ADD COLUMN paid_us INTEGER NOT NULL DEFAULT 0;   -- of the latest payment
ALTER TABLE store_subscriptions ADD COLUMN failed_us INTEGER NOT NULL DEFAULT 0; -- of the latest payment that failed
ALTER TABLE store_subscriptions ADD COLUMN failed_cents INTEGER;
ALTER TABLE store_subscriptions ADD COLUMN failed_currency TEXT;
ALTER TABLE store_subscriptions ADD COLUMN next_try_at INTEGER;
ALTER TABLE store_subscriptions ADD COLUMN told_order TEXT;                      -- the provider's name for the order it began with
UPDATE store_subscriptions SET paid_us = 1000000 * ifnull((SELECT max(o.paid_at) FROM store_orders o WHERE o.subscription_id = store_subscriptions.id), 0);
UPDATE store_subscriptions SET told = 'ended', told_us = max(1000000 * ended_at, paid_us) WHERE ended_at IS NOT NULL;
ALTER TABLE store_subscriptions DROP COLUMN ended_at;
CREATE INDEX store_subscriptions_told_order ON store_subscriptions (provider, told_order) WHERE told_order IS NOT NULL;

-- When a subscription renews, as a till told it that does not tell it with the payment.
CREATE TABLE store_told_periods (
  subscription_id INTEGER NOT NULL REFERENCES store_subscriptions (id),
  ends_at INTEGER NOT NULL,
  PRIMARY KEY (subscription_id, ends_at)
) STRICT, WITHOUT ROWID;

ALTER TABLE store_payments ADD COLUMN paid_at INTEGER;                           -- by the provider's clock; NULL: not told
ALTER TABLE store_invoices ADD COLUMN plan_change INTEGER NOT NULL DEFAULT 0 CHECK (plan_change IN (0, 1));
ALTER TABLE store_orders ADD COLUMN plan_change INTEGER NOT NULL DEFAULT 0 CHECK (plan_change IN (0, 1));

ALTER TABLE store_disputes ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE store_disputes ADD COLUMN answer_by INTEGER;                         -- NULL: the provider does not tell
ALTER TABLE store_disputes ADD COLUMN opened_at INTEGER;
ALTER TABLE store_disputes ADD COLUMN closed_at INTEGER;
ALTER TABLE store_disputes ADD COLUMN told_us INTEGER NOT NULL DEFAULT 0;
UPDATE store_disputes SET opened_at = at, closed_at = CASE WHEN state <> 'open' THEN at END;
DROP INDEX store_disputes_open;
CREATE INDEX store_disputes_open ON store_disputes (answer_by) WHERE state = 'open';

-- body: the event, kept until it is booked or dismissed.
ALTER TABLE store_unbooked ADD COLUMN cause TEXT NOT NULL DEFAULT 'unreadable';
ALTER TABLE store_unbooked ADD COLUMN buyer_email TEXT;
ALTER TABLE store_unbooked ADD COLUMN buyer_name TEXT;
ALTER TABLE store_unbooked ADD COLUMN amount_cents INTEGER;
ALTER TABLE store_unbooked ADD COLUMN currency TEXT;
ALTER TABLE store_unbooked ADD COLUMN qty INTEGER;
ALTER TABLE store_unbooked ADD COLUMN their_product TEXT;                        -- what map_provider takes
ALTER TABLE store_unbooked ADD COLUMN their_name TEXT;                           -- what they call it
ALTER TABLE store_unbooked ADD COLUMN subscription_ref TEXT;
ALTER TABLE store_unbooked ADD COLUMN order_ref TEXT;
ALTER TABLE store_unbooked ADD COLUMN body BLOB;
