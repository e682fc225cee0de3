-- The shop's logo, for prints and for the pages of customers and tenants. The setting shop_logo names its bytes.
CREATE TABLE logo (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    type  TEXT NOT NULL CHECK (type IN ('image/png', 'image/jpeg', 'image/webp', 'image/gif')),
    image BLOB NOT NULL
) STRICT;
