#!/usr/bin/env bash
# Starts postfix (STARTTLS, TLS, and one that takes small messages) with dovecot's SASL, LMTP and IMAP in the folder of $1.
set -euo pipefail
dir=$1
read -r start tls small imap < <(python3 -c '
import socket
open = [socket.create_server(("127.0.0.1", 0)) for _ in range(4)]
print(*(s.getsockname()[1] for s in open))')
mkdir -p "$dir"/{postfix,spool,data,boxes,dovecot-run}
chown postfix "$dir/data"
mkdir -p "$dir"/boxes/full@example.com/{cur,new,tmp}
echo "Subject: more than the box may hold" >"$dir/boxes/full@example.com/cur/1.1.here:2,S"
chown -R mail:mail "$dir/boxes"

printf '%s:{PLAIN}sesame::::::%s\n' shop '' ann@example.com '' full@example.com 'userdb_quota_rule=*:bytes=1' >"$dir/users"
cat >"$dir/dovecot.conf" <<C
base_dir = $dir/dovecot-run
state_dir = $dir/dovecot-run
log_path = $dir/dovecot.log
protocols = imap lmtp
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_mechanisms = plain login cram-md5
mail_location = maildir:$dir/boxes/%u
first_valid_uid = 1
passdb {
  driver = passwd-file
  args = scheme=plain $dir/users
}
userdb {
  driver = passwd-file
  args = username_format=%u $dir/users
  default_fields = uid=mail gid=mail home=$dir/boxes/%u
}
mail_plugins = quota
plugin {
  quota = maildir:box
  quota_rule = *:storage=1G
  quota_grace = 0
  quota_status_success = DUNNO
  quota_status_nouser = DUNNO
  quota_status_overquota = 552 5.2.2 the mailbox is full
}
service quota-status {
  executable = quota-status -p postfix
  unix_listener $dir/quota {
    mode = 0666
  }
  client_limit = 1
}
service auth {
  unix_listener $dir/auth {
    mode = 0666
  }
}
service lmtp {
  unix_listener $dir/lmtp {
    mode = 0666
  }
}
service imap-login {
  inet_listener imap {
    port = $imap
  }
}
C
dovecot -c "$dir/dovecot.conf"

cat >"$dir/postfix/main.cf" <<C
compatibility_level = 3.6
queue_directory = $dir/spool
data_directory = $dir/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
myhostname = localhost
mydestination =
mynetworks =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
maillog_file_prefixes = $dir
maillog_file = $dir/postfix.log
smtputf8_enable = yes
alias_maps =
virtual_mailbox_domains = example.com
virtual_mailbox_maps = texthash:$dir/postfix/boxes
virtual_transport = lmtp:unix:$dir/lmtp
smtpd_sasl_type = dovecot
smtpd_sasl_path = $dir/auth
smtpd_sasl_auth_enable = yes
smtpd_tls_cert_file = $dir/cert.pem
smtpd_tls_key_file = $dir/key.pem
smtpd_tls_auth_only = yes
smtpd_relay_restrictions = reject_unauth_destination
smtpd_recipient_restrictions = reject_unauth_destination, check_recipient_access texthash:$dir/postfix/later, check_policy_service unix:$dir/quota, permit_sasl_authenticated, reject
C
printf 'ann@example.com ok\nlater@example.com ok\nfull@example.com ok\n' >"$dir/postfix/boxes"
printf 'later@example.com 450 4.7.1 greylisted, come again\n' >"$dir/postfix/later"
cat >"$dir/postfix/master.cf" <<C
127.0.0.1:$start inet n - n - - smtpd -o smtpd_tls_security_level=encrypt
127.0.0.1:$tls inet n - n - - smtpd -o smtpd_tls_wrappermode=yes
127.0.0.1:$small inet n - n - - smtpd -o smtpd_tls_wrappermode=yes -o message_size_limit=500
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
proxymap unix - - n - - proxymap
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
lmtp unix - - n - - lmtp
smtp unix - - n - - smtp
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
C
postfix -c "$dir/postfix" start >/dev/null 2>&1
echo "{\"starttls\": $start, \"wrapped\": $tls, \"limited\": $small, \"imap\": $imap}" >"$dir/postfix.ports"
