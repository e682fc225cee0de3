-- Lists whose cost is what they give, not what is stored.

-- How many work orders of each assignee there are and what they cost, so that totals
-- need no walk through them. '' is nobody. Orders that are not closed cost today's rate
-- of labor, half up to the cent.
CREATE TABLE work_order_sums (
  assigned_to TEXT NOT NULL,
  status TEXT NOT NULL,
  priority TEXT NOT NULL,
  n INTEGER NOT NULL CHECK (n >= 0),
  cents INTEGER NOT NULL,
  PRIMARY KEY (assigned_to, status, priority)
) STRICT, WITHOUT ROWID;
INSERT INTO work_order_sums SELECT coalesce(assigned_to, ''), status, priority, count(*),
  sum((labor_minutes * coalesce(labor_rate_cents, (SELECT labor_rate_cents FROM maintenance_settings)) + 30) / 60 + typed_cents + used_cents)
  FROM work_orders GROUP BY 1, 2, 3;
CREATE TRIGGER work_orders_summed AFTER INSERT ON work_orders BEGIN
  INSERT INTO work_order_sums VALUES (coalesce(new.assigned_to, ''), new.status, new.priority, 1,
    (new.labor_minutes * coalesce(new.labor_rate_cents, (SELECT labor_rate_cents FROM maintenance_settings)) + 30) / 60 + new.typed_cents + new.used_cents)
    ON CONFLICT (assigned_to, status, priority) DO UPDATE SET n = n + 1, cents = cents + excluded.cents;
END;
CREATE TRIGGER work_orders_resummed AFTER UPDATE OF assigned_to, status, priority, labor_minutes, labor_rate_cents, typed_cents, used_cents ON work_orders BEGIN
  UPDATE work_order_sums SET n = n - 1, cents = cents -
    (old.labor_minutes * coalesce(old.labor_rate_cents, (SELECT labor_rate_cents FROM maintenance_settings)) + 30) / 60 - old.typed_cents - old.used_cents
    WHERE assigned_to = coalesce(old.assigned_to, '') AND status = old.status AND priority = old.priority;
  INSERT INTO work_order_sums VALUES (coalesce(new.assigned_to, ''), new.status, new.priority, 1,
    (new.labor_minutes * coalesce(new.labor_rate_cents, (SELECT labor_rate_cents FROM maintenance_settings)) + 30) / 60 + new.typed_cents + new.used_cents)
    ON CONFLICT (assigned_to, status, priority) DO UPDATE SET n = n + 1, cents = cents + excluded.cents;
END;
CREATE TRIGGER work_orders_rerated AFTER UPDATE OF labor_rate_cents ON maintenance_settings BEGIN
  DELETE FROM work_order_sums WHERE status IN ('open', 'in-progress');
  INSERT INTO work_order_sums SELECT coalesce(assigned_to, ''), status, priority, count(*),
    sum((labor_minutes * new.labor_rate_cents + 30) / 60 + typed_cents + used_cents)
    FROM work_orders WHERE status IN ('open', 'in-progress') GROUP BY 1, 2, 3;
END;
CREATE INDEX work_orders_assigned_status ON work_orders (assigned_to, status) WHERE assigned_to IS NOT NULL;

-- Which units a change touched: whether they are let, and in which state their leases
-- are. The newest 20,000 are kept; who is further behind looks at every unit.
CREATE TABLE unit_touched (seq INTEGER PRIMARY KEY, unit_id INTEGER NOT NULL) STRICT;
CREATE TRIGGER unit_touched_kept AFTER INSERT ON unit_touched BEGIN
  DELETE FROM unit_touched WHERE seq = new.seq - 20000;
END;
CREATE TRIGGER unit_made AFTER INSERT ON units BEGIN
  INSERT INTO unit_touched (unit_id) VALUES (new.id);
END;
CREATE TRIGGER unit_removed AFTER DELETE ON units BEGIN
  INSERT INTO unit_touched (unit_id) VALUES (old.id);
END;
CREATE TRIGGER lease_made AFTER INSERT ON leases BEGIN
  INSERT INTO unit_touched (unit_id) VALUES (new.unit_id);
END;
CREATE TRIGGER lease_changed AFTER UPDATE OF unit_id, start_date, last_day ON leases BEGIN
  INSERT INTO unit_touched (unit_id) VALUES (old.unit_id);
  INSERT INTO unit_touched (unit_id) SELECT new.unit_id WHERE new.unit_id <> old.unit_id;
END;
CREATE TRIGGER lease_removed AFTER DELETE ON leases BEGIN
  INSERT INTO unit_touched (unit_id) VALUES (old.unit_id);
END;

-- The three letters in a row that codes and names of SKUs hold, for what is looked for
-- anywhere in them. Letters that the tokenizer does not fold are folded here.
CREATE VIRTUAL TABLE sku_texts USING fts5 (text, content = '', contentless_delete = 1, detail = 'none', tokenize = 'trigram');
INSERT INTO sku_texts (rowid, text) SELECT id, replace(replace(sku || char(10) || name, 'ı', 'i'), 'İ', 'i') FROM skus;
CREATE TRIGGER sku_text_made AFTER INSERT ON skus BEGIN
  INSERT INTO sku_texts (rowid, text) VALUES (new.id, replace(replace(new.sku || char(10) || new.name, 'ı', 'i'), 'İ', 'i'));
END;
CREATE TRIGGER sku_text_changed AFTER UPDATE OF sku, name ON skus WHEN new.sku <> old.sku OR new.name <> old.name BEGIN
  DELETE FROM sku_texts WHERE rowid = old.id;
  INSERT INTO sku_texts (rowid, text) VALUES (new.id, replace(replace(new.sku || char(10) || new.name, 'ı', 'i'), 'İ', 'i'));
END;

-- A service's part of the trail, newest first.
CREATE INDEX audit_service ON audit (service);
