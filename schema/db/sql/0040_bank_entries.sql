-- Of a line that came as a part of a booking, in a notice that was read before its statement: the booking's reference
-- and amount, by which the statement's line is found to be it.
ALTER TABLE bank_lines ADD COLUMN entry_reference TEXT NOT NULL DEFAULT '';
ALTER TABLE bank_lines ADD COLUMN entry_cents INTEGER NOT NULL DEFAULT 0;
