-- The maintenance service. Readings and quantities are thousandths, money cents, days
-- day numbers. The numbers in the checks are the bounds of maintenance/cost.go.

CREATE TABLE maintenance_settings (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  labor_rate_cents INTEGER NOT NULL CHECK (labor_rate_cents BETWEEN 0 AND 100000000) -- an hour
) STRICT;
INSERT INTO maintenance_settings VALUES (1, 0);

CREATE TABLE assets (
  id INTEGER PRIMARY KEY,
  asset_tag TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  category TEXT,
  location TEXT,
  manufacturer TEXT,
  model TEXT,
  serial_number TEXT,
  status TEXT NOT NULL CHECK (status IN ('operational', 'needs-attention', 'down', 'retired')),
  notes TEXT
) STRICT;
CREATE INDEX assets_status ON assets (status);

CREATE TABLE meters (
  id INTEGER PRIMARY KEY,
  asset_id INTEGER NOT NULL REFERENCES assets (id),
  name TEXT NOT NULL,
  unit TEXT NOT NULL,
  reading INTEGER NOT NULL CHECK (reading BETWEEN 0 AND 1000000000000000),
  read_date INTEGER,                    -- never goes back; NULL: not read yet
  epoch INTEGER NOT NULL DEFAULT 0,     -- how often it was corrected
  corrected_day INTEGER,                -- the date of the last correction
  last_day INTEGER,                     -- the latest reading by date since the last correction,
  last_value INTEGER,                   -- and what it said: the end of the line that use per day is taken from
  posted INTEGER NOT NULL DEFAULT 0,    -- how many readings it has
  UNIQUE (asset_id, name)
) STRICT;

-- One tree that holds a meter's readings since its last correction together and in the
-- order of their dates, so that where its use per day begins is one step into it.
CREATE TABLE readings (
  meter_id INTEGER NOT NULL REFERENCES meters (id),
  epoch INTEGER NOT NULL,               -- of the meter when it was posted; a correction begins a new one
  day INTEGER NOT NULL,
  seq INTEGER NOT NULL,                 -- the order of posting: the meter's first is 1
  value INTEGER NOT NULL CHECK (value BETWEEN 0 AND 1000000000000000),
  correction INTEGER NOT NULL CHECK (correction IN (0, 1)),
  PRIMARY KEY (meter_id, epoch, day, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE parts (
  id INTEGER PRIMARY KEY,
  part_number TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  unit TEXT,
  quantity INTEGER NOT NULL CHECK (quantity BETWEEN 0 AND 1000000000000),
  min_quantity INTEGER NOT NULL CHECK (min_quantity BETWEEN 0 AND 1000000000000),
  unit_cost_cents INTEGER NOT NULL CHECK (unit_cost_cents BETWEEN 0 AND 10000000000),
  supplier TEXT,
  location TEXT
) STRICT;

-- Orders refer to plans, so restarted_by is no foreign key: it would make every new
-- order look for plans that wait for it. doctor checks it.
CREATE TABLE pm_plans (
  id INTEGER PRIMARY KEY,
  asset_id INTEGER NOT NULL REFERENCES assets (id),
  title TEXT NOT NULL,
  interval_days INTEGER CHECK (interval_days BETWEEN 1 AND 36500),
  interval_usage INTEGER CHECK (interval_usage BETWEEN 1 AND 1000000000000000),
  meter_id INTEGER REFERENCES meters (id),
  start_date INTEGER NOT NULL,
  last_done_date INTEGER,               -- NULL: never done
  baseline INTEGER,                     -- below zero after a meter was replaced
  due_soon_days INTEGER CHECK (due_soon_days BETWEEN 0 AND 36500),
  due_soon_usage INTEGER CHECK (due_soon_usage BETWEEN 0 AND 1000000000000000),
  restarted_by INTEGER,                 -- the work order that set last done and baseline; NULL: something else did
  UNIQUE (asset_id, title),
  CHECK (interval_days IS NOT NULL OR interval_usage IS NOT NULL),
  CHECK ((interval_usage IS NULL) = (meter_id IS NULL) AND (meter_id IS NULL) = (baseline IS NULL))
) STRICT;
CREATE INDEX pm_plans_meter ON pm_plans (meter_id) WHERE meter_id IS NOT NULL;

CREATE TABLE work_orders (
  id INTEGER PRIMARY KEY,
  asset_id INTEGER NOT NULL REFERENCES assets (id),
  description TEXT NOT NULL,
  priority TEXT NOT NULL CHECK (priority IN ('low', 'medium', 'high', 'urgent')),
  wo_type TEXT NOT NULL CHECK (wo_type IN ('corrective', 'preventive')),
  status TEXT NOT NULL CHECK (status IN ('open', 'in-progress', 'done', 'cancelled')),
  assigned_to TEXT,
  labor_minutes INTEGER NOT NULL CHECK (labor_minutes BETWEEN 0 AND 10000000),
  labor_rate_cents INTEGER,             -- fixed when it is closed; NULL before: today's counts
  typed_cents INTEGER NOT NULL CHECK (typed_cents BETWEEN 0 AND 10000000000),
  used_cents INTEGER NOT NULL DEFAULT 0 CHECK (used_cents BETWEEN 0 AND 100000000000000), -- the sum of its part_uses
  downtime_minutes INTEGER NOT NULL CHECK (downtime_minutes BETWEEN 0 AND 10000000),
  resolution TEXT,
  pm_id INTEGER REFERENCES pm_plans (id),
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  completed_at INTEGER,
  updated_at INTEGER NOT NULL,
  pm_before_done INTEGER,               -- what the plan held before this job restarted it,
  pm_before_baseline INTEGER,           -- so that reopening can put it back
  pm_before_by INTEGER,
  CHECK ((status IN ('done', 'cancelled')) = (labor_rate_cents IS NOT NULL)),
  CHECK ((status = 'done') = (completed_at IS NOT NULL)),
  CHECK (status <> 'done' OR resolution IS NOT NULL)
) STRICT;
-- Each index ends with the id, so that the newest of any kind are read off its end.
CREATE INDEX work_orders_status ON work_orders (status);
CREATE INDEX work_orders_priority ON work_orders (priority);
CREATE INDEX work_orders_asset ON work_orders (asset_id);
CREATE INDEX work_orders_assigned ON work_orders (assigned_to) WHERE assigned_to IS NOT NULL;

-- How many there are of each kind, so that a total needs no count of the orders.
CREATE TABLE work_order_counts (
  status TEXT NOT NULL,
  priority TEXT NOT NULL,
  n INTEGER NOT NULL CHECK (n >= 0),
  PRIMARY KEY (status, priority)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER work_orders_counted AFTER INSERT ON work_orders BEGIN
  INSERT INTO work_order_counts VALUES (new.status, new.priority, 1)
    ON CONFLICT (status, priority) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER work_orders_recounted AFTER UPDATE OF status, priority ON work_orders BEGIN
  UPDATE work_order_counts SET n = n - 1 WHERE status = old.status AND priority = old.priority;
  INSERT INTO work_order_counts VALUES (new.status, new.priority, 1)
    ON CONFLICT (status, priority) DO UPDATE SET n = n + 1;
END;

CREATE TABLE part_uses (
  id INTEGER PRIMARY KEY,
  work_order_id INTEGER NOT NULL REFERENCES work_orders (id),
  part_id INTEGER NOT NULL REFERENCES parts (id),
  qty INTEGER NOT NULL CHECK (qty > 0),
  unit_cost_cents INTEGER NOT NULL,     -- on the day of use
  cost_cents INTEGER NOT NULL,
  used_at INTEGER NOT NULL
) STRICT;
CREATE INDEX part_uses_order ON part_uses (work_order_id);

CREATE TABLE photos (
  id INTEGER PRIMARY KEY,
  work_order_id INTEGER NOT NULL REFERENCES work_orders (id),
  filename TEXT NOT NULL,
  caption TEXT,
  media_type TEXT NOT NULL CHECK (media_type IN ('image/jpeg', 'image/png', 'image/webp')),
  added_at INTEGER NOT NULL,
  data BLOB NOT NULL                    -- last, so that a list does not read it
) STRICT;
CREATE INDEX photos_order ON photos (work_order_id);
