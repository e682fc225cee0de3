-- What the reorder service's pages need of a year of sales, kept beside the rows by the
-- function that stores sales (reorder/ingest_days.go), instead of a cache that everybody
-- who writes a SKU has to know of.
DROP TABLE sku_touched;

ALTER TABLE skus ADD COLUMN sold_year INTEGER NOT NULL DEFAULT 0 CHECK (sold_year >= 0); -- in the 365 days to the standing day
ALTER TABLE skus ADD COLUMN last_sold INTEGER; -- last day with a quantity above 0

-- On how many SKUs there are sales a day.
CREATE TABLE sales_days (day INTEGER PRIMARY KEY, skus INTEGER NOT NULL CHECK (skus >= 0)) STRICT;
INSERT INTO sales_days SELECT day, count(*) FROM sales GROUP BY day;

UPDATE skus SET sold_year = s.year, last_sold = s.last FROM (
  SELECT sku_id, max(day) FILTER (WHERE qty > 0) AS last,
    coalesce(sum(qty) FILTER (WHERE day BETWEEN standing_day - 364 AND standing_day), 0) AS year
  FROM sales CROSS JOIN reorder_settings GROUP BY sku_id) AS s
WHERE skus.id = s.sku_id;
