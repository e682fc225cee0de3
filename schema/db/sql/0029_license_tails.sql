-- A license is found by the last four characters of its key.
CREATE INDEX store_licenses_tail ON store_licenses (upper(substr(license_key, -4)));

-- Open disputes are listed by when they were told.
CREATE INDEX store_disputes_open ON store_disputes (at) WHERE state = 'open';
