-- A month's work of the reorder service: sales by channel, suppliers, what moved the
-- stock. Quantities are thousandths, money cents, days day numbers.

CREATE TABLE sales_channels (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE CHECK (name <> '')
) STRICT;

-- What of a SKU-day's total in sales belongs to a named channel; the rest was sold
-- without one. So sales stays one total per SKU and day, which every figure reads, and
-- an upload without a channel costs what it did.
CREATE TABLE channel_sales (
  day INTEGER NOT NULL,
  sku_id INTEGER NOT NULL,
  channel_id INTEGER NOT NULL,
  qty INTEGER NOT NULL CHECK (qty >= 0),
  PRIMARY KEY (day, sku_id, channel_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE suppliers (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE CHECK (name <> ''),
  email TEXT NOT NULL,
  phone TEXT NOT NULL,
  address TEXT NOT NULL,
  lead_time_days INTEGER CHECK (lead_time_days BETWEEN 0 AND 3650), -- of its SKUs that say nothing else; NULL is the usual 7
  min_order_cents INTEGER NOT NULL CHECK (min_order_cents >= 0),
  notes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- Every change of a SKU's stock from this version on, for its page.
CREATE TABLE stock_movements (
  id INTEGER PRIMARY KEY,
  sku_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('count', 'adjustment', 'receipt', 'return', 'edit')),
  qty INTEGER NOT NULL,                 -- added, or with a minus removed
  current_stock INTEGER NOT NULL,       -- afterwards
  reason TEXT NOT NULL,
  number TEXT NOT NULL,                 -- the purchase order, or ''
  actor TEXT NOT NULL,
  via TEXT NOT NULL
) STRICT;
CREATE INDEX stock_movements_sku ON stock_movements (sku_id, id);

-- Purchase orders by supplier and by status, for lists and for what drafts hold.
CREATE INDEX purchase_orders_status ON purchase_orders (status, id);
