-- Keys that came from elsewhere, and limits of a license's own.
ALTER TABLE store_licenses ADD COLUMN own_limit INTEGER CHECK (own_limit >= -1); -- NULL is the product's, -1 is unlimited
ALTER TABLE store_licenses ADD COLUMN loose_hash BLOB; -- of a key in another form than ours: what several spellings of it have in common
ALTER TABLE store_licenses ADD COLUMN origin TEXT NOT NULL DEFAULT 'issued'
  CHECK (origin IN ('issued', 'history', 'placed', 'moved')); -- history: by an import of orders; placed: a key on one of those; moved: a key with its order
CREATE INDEX store_licenses_loose ON store_licenses (loose_hash) WHERE loose_hash IS NOT NULL;

-- The product's number at the till, beside the variant that is mapped; of several variants the one mapped last counts.
ALTER TABLE store_links ADD COLUMN their_product INTEGER;
ALTER TABLE store_links ADD COLUMN mapped_at INTEGER NOT NULL DEFAULT 0;
