-- Sums of orders by day and of charges by month are read from the index alone.
DROP INDEX store_orders_paid;
CREATE INDEX store_orders_paid ON store_orders (paid_at, status, currency, total_cents, tax_cents, provider);
DROP INDEX charges_due;
CREATE INDEX charges_due ON charges (due_date, opening, amount_cents, paid_cents);
