-- The state of a subscription, as queries spell it: each page of the store counts those past due.
CREATE INDEX store_subscriptions_state ON store_subscriptions (CASE WHEN id IS NULL THEN NULL
  WHEN told = 'ended' AND told_us >= paid_us THEN 'ended'
  WHEN failed_us > paid_us OR told = 'past_due' AND told_us > paid_us THEN 'past_due'
  WHEN told = 'cancelled' OR told = 'past_due' AND ends_on IS NOT NULL THEN 'cancelled' ELSE 'active' END);
