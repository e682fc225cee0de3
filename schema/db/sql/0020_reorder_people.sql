-- Suppliers that SKUs name have records; the record is made when a SKU first names one.
INSERT INTO suppliers (name, email, phone, address, lead_time_days, min_order_cents, notes, created_at, updated_at)
  SELECT supplier, '', '', '', NULL, 0, '', min(created_at), min(created_at) FROM skus
  WHERE supplier <> '' AND supplier NOT IN (SELECT name FROM suppliers) GROUP BY supplier ORDER BY supplier;
