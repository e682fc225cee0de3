-- Expired licenses are counted by their index.
DROP TABLE store_expiry;
