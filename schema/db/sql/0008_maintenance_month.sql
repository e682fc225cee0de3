-- A month of a workshop's work: days, check lists, where an order came from, paused
-- plans, and requests without an account.

ALTER TABLE work_orders ADD COLUMN due_date INTEGER;
ALTER TABLE work_orders ADD COLUMN source TEXT CHECK (source IN ('api', 'agent', 'cli', 'web', 'request', 'import'));
-- A step a line, each after the sign of whether it is done: "1Drain the oil". NULL: none.
ALTER TABLE work_orders ADD COLUMN checklist TEXT;
-- Whether the job, done, served a plan, and the day on which that plan was due then: it
-- stays with the job when the plan goes.
ALTER TABLE work_orders ADD COLUMN pm_served INTEGER NOT NULL DEFAULT 0 CHECK (pm_served IN (0, 1));
ALTER TABLE work_orders ADD COLUMN pm_due_day INTEGER;
UPDATE work_orders SET pm_served = 1 WHERE status = 'done' AND pm_id IS NOT NULL;
CREATE INDEX work_orders_plan ON work_orders (pm_id) WHERE pm_id IS NOT NULL;
CREATE INDEX work_orders_due ON work_orders (due_date) WHERE due_date IS NOT NULL AND status IN ('open', 'in-progress');
CREATE INDEX work_orders_completed ON work_orders (completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX part_uses_part ON part_uses (part_id);

ALTER TABLE pm_plans ADD COLUMN checklist TEXT; -- a step a line; NULL: none
ALTER TABLE pm_plans ADD COLUMN paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1));

ALTER TABLE assets ADD COLUMN requests INTEGER NOT NULL DEFAULT 0 CHECK (requests IN (0, 1));
ALTER TABLE assets ADD COLUMN request_token TEXT; -- kept while requests are off, so that a label that hangs on the machine works again
CREATE UNIQUE INDEX assets_request ON assets (request_token) WHERE request_token IS NOT NULL;

-- What was accepted without an account in the last hour.
CREATE TABLE accepted_requests (
  id INTEGER PRIMARY KEY,
  address TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX accepted_requests_address ON accepted_requests (address, at);
CREATE INDEX accepted_requests_at ON accepted_requests (at);

-- A record's page shows what was done to it.
CREATE INDEX audit_subject ON audit (subject);

-- Which plans a change touched, so that who keeps what is due needs to look at those
-- alone. The newest 20,000 are kept; who is further behind looks at every plan.
CREATE TABLE pm_touched (seq INTEGER PRIMARY KEY, plan_id INTEGER NOT NULL) STRICT;
CREATE TRIGGER pm_touched_kept AFTER INSERT ON pm_touched BEGIN
  DELETE FROM pm_touched WHERE seq = new.seq - 20000;
END;
CREATE TRIGGER pm_plan_made AFTER INSERT ON pm_plans BEGIN
  INSERT INTO pm_touched (plan_id) VALUES (new.id);
END;
CREATE TRIGGER pm_plan_changed AFTER UPDATE ON pm_plans BEGIN
  INSERT INTO pm_touched (plan_id) VALUES (new.id);
END;
CREATE TRIGGER pm_plan_removed AFTER DELETE ON pm_plans BEGIN
  INSERT INTO pm_touched (plan_id) VALUES (old.id);
END;
CREATE TRIGGER pm_meter_moved AFTER UPDATE ON meters BEGIN
  INSERT INTO pm_touched (plan_id) SELECT id FROM pm_plans WHERE meter_id = new.id;
END;
CREATE TRIGGER pm_asset_changed AFTER UPDATE OF name, status ON assets BEGIN
  INSERT INTO pm_touched (plan_id) SELECT id FROM pm_plans WHERE asset_id = new.id;
END;
