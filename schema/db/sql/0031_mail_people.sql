-- Who a message is to, where several people are told of one thing: the tenants of a lease.
ALTER TABLE mails ADD COLUMN person TEXT NOT NULL DEFAULT ''; -- as the audit trail names them: 'tenant:3'; '' is who the subject tells
CREATE INDEX mails_person ON mails (person) WHERE person <> '';
