-- What was sold in each hour of UTC by currency and provider, without void orders. The figures of most time zones are
-- sums of whole hours.
CREATE TABLE store_hours (
  hour INTEGER NOT NULL,                                  -- its first instant
  currency TEXT NOT NULL,
  provider TEXT NOT NULL,
  orders INTEGER NOT NULL,
  sold_cents INTEGER NOT NULL,
  tax_cents INTEGER NOT NULL,
  PRIMARY KEY (hour, currency, provider)
) STRICT, WITHOUT ROWID;
INSERT INTO store_hours SELECT paid_at - paid_at % 3600, currency, provider, count(*), sum(total_cents), sum(tax_cents)
  FROM store_orders WHERE status <> 'void' GROUP BY 1, 2, 3;
CREATE TRIGGER store_orders_hour AFTER INSERT ON store_orders WHEN new.status <> 'void' BEGIN
  INSERT INTO store_hours VALUES (new.paid_at - new.paid_at % 3600, new.currency, new.provider, 1, new.total_cents,
    new.tax_cents) ON CONFLICT DO UPDATE SET orders = orders + 1, sold_cents = sold_cents + excluded.sold_cents,
    tax_cents = tax_cents + excluded.tax_cents;
END;
CREATE TRIGGER store_orders_rehour AFTER UPDATE OF paid_at, currency, provider, status, total_cents, tax_cents
  ON store_orders BEGIN
  UPDATE store_hours SET orders = orders - 1, sold_cents = sold_cents - old.total_cents, tax_cents = tax_cents - old.tax_cents
    WHERE old.status <> 'void' AND hour = old.paid_at - old.paid_at % 3600 AND currency = old.currency
    AND provider = old.provider;
  INSERT INTO store_hours SELECT new.paid_at - new.paid_at % 3600, new.currency, new.provider, 1, new.total_cents,
    new.tax_cents WHERE new.status <> 'void' ON CONFLICT DO UPDATE SET orders = orders + 1,
    sold_cents = sold_cents + excluded.sold_cents, tax_cents = tax_cents + excluded.tax_cents;
END;
-- These sums made the wide index needless; the latest orders are read by the narrow one.
DROP INDEX store_orders_paid;
CREATE INDEX store_orders_paid ON store_orders (paid_at);
