-- What is let and what is due are read from the rows of their tables: nothing notes
-- which of them a change touched.
DROP TRIGGER unit_made;
DROP TRIGGER unit_removed;
DROP TRIGGER lease_made;
DROP TRIGGER lease_changed;
DROP TRIGGER lease_removed;
DROP TABLE unit_touched;
DROP TRIGGER pm_plan_made;
DROP TRIGGER pm_plan_changed;
DROP TRIGGER pm_plan_removed;
DROP TRIGGER pm_meter_moved;
DROP TRIGGER pm_asset_changed;
DROP TABLE pm_touched;
