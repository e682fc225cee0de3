-- The board's most urgent jobs and the unfinished jobs of plans are read without the others.
CREATE INDEX work_orders_urgency ON work_orders (status,
  CASE priority WHEN 'urgent' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END, coalesce(due_date, 4000000))
  WHERE status IN ('open', 'in-progress');
CREATE INDEX work_orders_plan_open ON work_orders (pm_id)
  WHERE pm_id IS NOT NULL AND status IN ('open', 'in-progress');
