-- What each order and refund comes to by product. An order's discount and tax and each of its refunds are shared over
-- its lines in proportion to their amounts, over the first line if all are 0: each part is rounded down, and the cents
-- that are left go to the largest rests, the first of equal ones first. Void orders come to nothing.
--
-- orders is 1 on an order's first line of a product, firsts on its first line, refunds on each line of a refund.
-- TestDamageIsReported guards the view's name: where the engine's hash of names begins with a view, its integrity check
-- no longer finds pages that nothing leads to.
-- Amounts are below 2^40 and lines below 2^41: the products of two have up to 81 bits, and are divided in two steps.
CREATE VIEW store_sales AS
  SELECT i.order_id, i.product_id, o.paid_at AS at, o.currency, NOT EXISTS (SELECT 1 FROM store_order_lines e
      WHERE e.order_id = i.order_id AND e.line < i.line AND e.product_id = i.product_id) AS orders,
    i.line = 1 AS firsts, i.qty * i.unit_cents AS sold_cents, 0 AS tax_cents, 0 AS refunds, 0 AS refunded_cents
  FROM store_orders o CROSS JOIN store_order_lines i ON i.order_id = o.id WHERE o.status <> 'void'
  UNION ALL
  SELECT order_id, product_id, at, currency, 0, 0, sold * part, tax * part, refund > 0, (refund > 0) * part
  FROM (
    SELECT *, (high << 20) + low / whole + (sum(low % whole) OVER whose / whole >=
      row_number() OVER (PARTITION BY order_id, at, refund, tax ORDER BY low % whole DESC, line)) AS part
    FROM (
      SELECT *, cents * (weight >> 20) / whole AS high,
        (cents * (weight >> 20) % whole << 20) + cents * (weight & 1048575) AS low
      FROM (
        SELECT a.*, i.line, i.product_id, max(sum(i.qty * i.unit_cents) OVER whose, 1) AS whole,
          iif(sum(i.qty * i.unit_cents) OVER whose = 0, i.line = 1, i.qty * i.unit_cents) AS weight
        FROM (
          SELECT id AS order_id, paid_at AS at, currency, 0 AS refund, -1 AS sold, 0 AS tax, discount_cents AS cents
            FROM store_orders WHERE status <> 'void' AND discount_cents > 0
          UNION ALL SELECT id, paid_at, currency, 0, 1, 1, tax_cents
            FROM store_orders WHERE status <> 'void' AND tax_cents > 0
          UNION ALL SELECT o.id, r.at, o.currency, r.id, 0, 0, r.cents
            FROM store_refunds r CROSS JOIN store_orders o ON o.id = r.order_id WHERE o.status <> 'void' AND r.cents > 0
        ) a CROSS JOIN store_order_lines i ON i.order_id = a.order_id
        WINDOW whose AS (PARTITION BY a.order_id, a.at, a.refund, a.tax)))
    WINDOW whose AS (PARTITION BY order_id, at, refund, tax));
-- A change of an order's shares: sign is -1 before it, and 1 after.
CREATE VIEW store_reshared AS SELECT 0 AS order_id, 0 AS sign;
-- The sums of them by the day of UTC: the figures by product read all orders of a shop with 100,000 (130 ms). The few
-- orders of a day that is only in part in a range are read by themselves.
CREATE TABLE store_product_days (
  day INTEGER NOT NULL,                                   -- its first instant
  product_id INTEGER NOT NULL REFERENCES store_products (id),
  currency TEXT NOT NULL,
  orders INTEGER NOT NULL,
  firsts INTEGER NOT NULL,
  sold_cents INTEGER NOT NULL,
  tax_cents INTEGER NOT NULL,
  refunds INTEGER NOT NULL,
  refunded_cents INTEGER NOT NULL,
  PRIMARY KEY (day, product_id, currency)
) STRICT, WITHOUT ROWID;
INSERT INTO store_product_days SELECT at - at % 86400, product_id, currency, sum(orders), sum(firsts), sum(sold_cents),
  sum(tax_cents), sum(refunds), sum(refunded_cents) FROM store_sales GROUP BY 1, 2, 3;
-- Whatever changes an order's shares takes them out of the sums before, and adds them after. While an order is half
-- written, and its lines do not come to its subtotal, it is not in the sums.
CREATE TRIGGER store_sales_change INSTEAD OF INSERT ON store_reshared
  WHEN (SELECT sum(qty * unit_cents) FROM store_order_lines WHERE order_id = new.order_id)
    = (SELECT subtotal_cents FROM store_orders WHERE id = new.order_id) BEGIN
  INSERT INTO store_product_days SELECT at - at % 86400, product_id, currency, new.sign * orders, new.sign * firsts,
    new.sign * sold_cents, new.sign * tax_cents, new.sign * refunds, new.sign * refunded_cents FROM store_sales
    WHERE order_id = new.order_id ON CONFLICT DO UPDATE SET orders = orders + excluded.orders,
    firsts = firsts + excluded.firsts, sold_cents = sold_cents + excluded.sold_cents,
    tax_cents = tax_cents + excluded.tax_cents, refunds = refunds + excluded.refunds,
    refunded_cents = refunded_cents + excluded.refunded_cents;
END;
CREATE TRIGGER store_orders_unshare BEFORE UPDATE OF paid_at, currency, status, subtotal_cents, discount_cents,
  tax_cents ON store_orders
  WHEN (old.paid_at, old.currency, old.status = 'void', old.subtotal_cents, old.discount_cents, old.tax_cents)
    <> (new.paid_at, new.currency, new.status = 'void', new.subtotal_cents, new.discount_cents, new.tax_cents) BEGIN
  INSERT INTO store_reshared VALUES (old.id, -1);
END;
CREATE TRIGGER store_orders_share AFTER UPDATE OF paid_at, currency, status, subtotal_cents, discount_cents,
  tax_cents ON store_orders
  WHEN (old.paid_at, old.currency, old.status = 'void', old.subtotal_cents, old.discount_cents, old.tax_cents)
    <> (new.paid_at, new.currency, new.status = 'void', new.subtotal_cents, new.discount_cents, new.tax_cents) BEGIN
  INSERT INTO store_reshared VALUES (new.id, 1);
END;
CREATE TRIGGER store_order_lines_unshare BEFORE INSERT ON store_order_lines BEGIN
  INSERT INTO store_reshared VALUES (new.order_id, -1);
END;
CREATE TRIGGER store_order_lines_share AFTER INSERT ON store_order_lines BEGIN
  INSERT INTO store_reshared VALUES (new.order_id, 1);
END;
CREATE TRIGGER store_order_lines_unshare_old BEFORE UPDATE OF qty, unit_cents ON store_order_lines
  WHEN (old.qty, old.unit_cents) <> (new.qty, new.unit_cents) BEGIN
  INSERT INTO store_reshared VALUES (old.order_id, -1);
END;
CREATE TRIGGER store_order_lines_share_new AFTER UPDATE OF qty, unit_cents ON store_order_lines
  WHEN (old.qty, old.unit_cents) <> (new.qty, new.unit_cents) BEGIN
  INSERT INTO store_reshared VALUES (new.order_id, 1);
END;
CREATE TRIGGER store_refunds_unshare BEFORE INSERT ON store_refunds BEGIN
  INSERT INTO store_reshared VALUES (new.order_id, -1);
END;
CREATE TRIGGER store_refunds_share AFTER INSERT ON store_refunds BEGIN
  INSERT INTO store_reshared VALUES (new.order_id, 1);
END;
