-- The payments of a lease with all that a year's sums need, so that they are added up from the index.
DROP INDEX payments_lease;
CREATE INDEX payments_lease ON payments (lease_id, paid_date, voided_at, method, amount_cents, credit_cents);
CREATE INDEX allocations_payout ON allocations (payout_id) WHERE payout_id IS NOT NULL;
