-- Mail to users: their addresses and notices, and the digest that a held message went into.

ALTER TABLE users ADD COLUMN email TEXT;
-- {"tickets": "digest"}: what is not there is as at first.
ALTER TABLE users ADD COLUMN notices TEXT NOT NULL DEFAULT '{}';
-- The message that a held one was put into.
ALTER TABLE mails ADD COLUMN digest INTEGER;
CREATE INDEX mails_digest ON mails (digest) WHERE digest IS NOT NULL;
-- For the buyer: how to install, where to download.
ALTER TABLE store_products ADD COLUMN note TEXT NOT NULL DEFAULT '';
