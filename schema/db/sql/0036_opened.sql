-- The board counts the jobs opened in each of the last twelve weeks.
CREATE INDEX work_orders_created ON work_orders (created_at);
