-- The reorder service. Quantities are thousandths, money cents, days day numbers.

CREATE TABLE reorder_settings (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  forecast_window_days INTEGER NOT NULL CHECK (forecast_window_days BETWEEN 1 AND 365),
  target_cover_days INTEGER NOT NULL CHECK (target_cover_days BETWEEN 1 AND 365),
  standing_day INTEGER NOT NULL         -- skus.sold is over the window that ends on this day
) STRICT;
INSERT INTO reorder_settings VALUES (1, 30, 30, 0);

CREATE TABLE skus (
  id INTEGER PRIMARY KEY,
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  current_stock INTEGER NOT NULL CHECK (current_stock BETWEEN 0 AND 1000000000000),
  on_order INTEGER NOT NULL DEFAULT 0 CHECK (on_order >= 0), -- not yet received of ordered and partial purchase orders
  sold INTEGER NOT NULL DEFAULT 0 CHECK (sold >= 0),         -- in the standing window
  first_sold INTEGER,                   -- first day with a quantity above 0
  is_below INTEGER NOT NULL CHECK (is_below IN (0, 1)),
  judged_on INTEGER NOT NULL,           -- the day as of which is_below was decided
  lead_time_days INTEGER NOT NULL CHECK (lead_time_days BETWEEN 0 AND 3650),
  safety_stock_days INTEGER NOT NULL CHECK (safety_stock_days BETWEEN 0 AND 3650),
  pack_size INTEGER NOT NULL CHECK (pack_size BETWEEN 1 AND 1000000000),
  moq INTEGER NOT NULL CHECK (moq BETWEEN 0 AND 1000000000000),
  unit_cost_cents INTEGER NOT NULL CHECK (unit_cost_cents BETWEEN 0 AND 10000000000),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  sku TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  supplier TEXT NOT NULL,
  supplier_sku TEXT NOT NULL,
  barcode TEXT NOT NULL,
  unit TEXT NOT NULL
) STRICT;
CREATE INDEX skus_supplier ON skus (supplier, sku);
CREATE INDEX skus_inactive ON skus (sku) WHERE active = 0;

-- One total per SKU and day, day first: a day's sales lie together, so that an upload
-- of some days, and the days that enter and leave the window, are runs of the table.
-- No foreign key: with one, every stored row would look its SKU up again and could not
-- be written in one step. SKUs are never deleted, and doctor checks the reference.
CREATE TABLE sales (
  day INTEGER NOT NULL,
  sku_id INTEGER NOT NULL,
  qty INTEGER NOT NULL CHECK (qty >= 0),
  PRIMARY KEY (day, sku_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE purchase_orders (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- a number that was given once is not given again
  number TEXT NOT NULL UNIQUE,
  supplier TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('draft', 'ordered', 'partial', 'received', 'cancelled')),
  expected_date INTEGER,
  suggested INTEGER NOT NULL CHECK (suggested IN (0, 1)), -- made by suggest and not touched since
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX purchase_orders_suggested ON purchase_orders (id) WHERE suggested = 1 AND status = 'draft';

CREATE TABLE purchase_order_lines (
  order_id INTEGER NOT NULL REFERENCES purchase_orders (id) ON DELETE CASCADE,
  sku_id INTEGER NOT NULL REFERENCES skus (id),
  ordered INTEGER NOT NULL CHECK (ordered > 0),
  received INTEGER NOT NULL CHECK (received BETWEEN 0 AND ordered),
  unit_cost_cents INTEGER NOT NULL CHECK (unit_cost_cents BETWEEN 0 AND 10000000000),
  PRIMARY KEY (order_id, sku_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX purchase_order_lines_sku ON purchase_order_lines (sku_id);
