-- Which SKUs a change touched: so who keeps the report of a day looks at those alone. The
-- service notes them (reorder/ranking.go), not triggers, since an upload of 10,000 SKUs notes
-- them in one statement. A number that is left out means that all were touched. The newest
-- 20,000 are kept; who is further behind looks at every SKU.
CREATE TABLE sku_touched (seq INTEGER PRIMARY KEY, sku_id INTEGER NOT NULL) STRICT;
