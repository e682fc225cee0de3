-- Whether the average leaves out the days on which a SKU had no stock.
ALTER TABLE reorder_settings ADD COLUMN leave_out_empty INTEGER NOT NULL DEFAULT 0 CHECK (leave_out_empty IN (0, 1));
