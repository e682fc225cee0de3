-- Orders and customers are found without diacritics: the index of words holds them folded. Those of
-- plain ASCII are folded by the index itself.
DELETE FROM store_find_customers WHERE rowid IN (SELECT id FROM store_customers WHERE email || name GLOB '*[^ -~]*');
INSERT INTO store_find_customers (rowid, words)
  SELECT id, folded(email || char(10) || name) FROM store_customers WHERE email || name GLOB '*[^ -~]*' ORDER BY id;
DELETE FROM store_find_orders WHERE rowid IN (SELECT o.id FROM store_orders o JOIN store_customers c ON c.id = o.customer_id
  WHERE o.provider_ref || c.email || c.name GLOB '*[^ -~]*' OR EXISTS
    (SELECT 1 FROM store_order_lines l JOIN store_products p ON p.id = l.product_id WHERE l.order_id = o.id AND p.sku GLOB '*[^ -~]*'));
INSERT INTO store_find_orders (rowid, words)
  SELECT o.id, folded(o.order_ref || char(10) || o.provider_ref || char(10) || c.email || char(10) || c.name || char(10) ||
    (SELECT group_concat(p.sku, char(10)) FROM store_order_lines l JOIN store_products p ON p.id = l.product_id WHERE l.order_id = o.id))
  FROM store_orders o JOIN store_customers c ON c.id = o.customer_id
  WHERE o.id NOT IN (SELECT rowid FROM store_find_orders) ORDER BY o.id;
