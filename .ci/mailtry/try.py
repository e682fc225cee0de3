"""Sends through each server with the real program, and reads the messages back with Python's email and over IMAP."""
import email
import email.policy
import imaplib
import json
import os
import subprocess
import sys
import time

folder = sys.argv[1]
program = os.path.join(folder, "quartermaster")
ports = {}
for name in ("npm.ports", "go.ports", "postfix.ports"):
    ports.update(json.load(open(os.path.join(folder, name))))
failed = []
keys = {}  # by address, those that were sold


def check(what, is_so, seen=""):
    print(("ok    " if is_so else "WRONG ") + what, "" if is_so else seen, flush=True)
    if not is_so:
        failed.append(what)


class Shop:
    """A shop of its own, served while it sends."""

    def __init__(self, name, port, security, password="sesame"):
        self.dir = os.path.join(folder, "shop-" + name)
        os.mkdir(self.dir)
        self.run("init", "--admin", "vera")
        self.run("store", "product", "save", "ECHO", "--name", 'Größe <script>alert("1")</script> & Co. ' + "ß" * 60, "--price-cents", "4900",
                 "--note", "Install it.\n.\nFrom the end: a line with a dot.\n" + "x" * 1200)
        self.run("mail", "set", "--host", "localhost", "--port", str(ports[port]), "--security", security, "--user", "shop", "--password", password,
                 "--from", "shop@example.com", "--from-name", "Bäckerei Größe & Søn", "--rate", "600")
        off = [x for s in ("store", "maintenance", "rental", "reorder") for x in ("--" + s + "-addr", "127.0.0.1:0")]
        self.server = subprocess.Popen([program, "serve", *off], cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self, *args):
        done = subprocess.run([program, *args], cwd=self.dir, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{args}: {done.stderr}")
        return done.stdout

    def mail(self, to, until, seconds=20):
        """Records an order of to, and waits until its message is in one of the states."""
        order = json.loads(self.run("store", "order", "record", "--email", to, "--sku", "ECHO", "--json"))
        keys.setdefault(to, []).append(order["licenses"][0]["license_key"])
        end = time.time() + seconds
        while True:
            row = json.loads(self.run("mail", "list", "--json"))["mails"][0]
            if until(row) or time.time() > end:
                return row
            time.sleep(0.2)

    def end(self):
        self.server.terminate()
        self.server.wait()


def sent(row):
    return row["state"] == "sent"


def ended(row):
    return row["state"] in ("sent", "refused", "failed")


def read(raw, what):
    """Checks a message as it arrived."""
    m = email.message_from_bytes(raw, policy=email.policy.default)
    parts = list(m.walk())
    check(what + ": no defect", not any(p.defects for p in parts), [p.defects for p in parts])
    head = raw.split(b"\r\n\r\n" if b"\r\n\r\n" in raw else b"\n\n")[0]
    check(what + ": one of each header", all(len(m.get_all(h, [])) == 1 for h in ("From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Auto-Submitted")), head)
    check(what + ": the sender", m["From"].addresses[0].display_name == "Bäckerei Größe & Søn" and m["From"].addresses[0].addr_spec == "shop@example.com", m["From"])
    check(what + ": lines of at most 998", max(map(len, raw.splitlines())) <= 998)
    check(what + ": ASCII alone, but for addresses", raw.isascii() or b"j\xc3\xb6rg" in head)
    check(what + ": text, then HTML", [p.get_content_type() for p in parts] == ["multipart/alternative", "text/plain", "text/html"], [p.get_content_type() for p in parts])
    text, html = parts[1].get_content(), parts[2].get_content()
    to = m["To"].addresses[0].addr_spec.encode("utf-8", "surrogateescape").decode()
    check(what + ": the key", any(k in text and k in html for k in keys[to]), text)
    check(what + ": the words", 'Größe <script>alert("1")</script> & Co. ' + "ß" * 60 in text and "\n.\n" in text.replace("\r", ""), text)
    check(what + ": no script in the HTML", "<script" not in html.lower())


def files(name):
    return [os.path.join(folder, name, f) for f in os.listdir(os.path.join(folder, name))]


for name, security, way in (("tls", "tls", "TLS and LOGIN"), ("cram", "starttls", "STARTTLS and CRAM-MD5")):
    shop = Shop(name, name, security)
    row = shop.mail(name + "@example.com", ended)
    check("smtp-server, " + way, sent(row), row)
    shop.end()

shop = Shop("small", "small", "starttls")
row = shop.mail("ann@example.com", ended)
check("smtp-server, too large: refused", row["state"] == "refused" and row["code"] == 552, row)
shop.end()

shop = Shop("wrong", "tls", "tls", password="open")
row = shop.mail("ann@example.com", lambda r: False, 4)
check("a wrong password counts for no message", row["state"] == "queued" and row["tries"] == 0, row)
shop.run("mail", "set", "--password", "sesame")
row = shop.mail("wrong@example.com", ended)
check("the right password sends what waited", sent(row), row)
shop.end()

grey = Shop("grey", "grey", "tls")
first = grey.mail("grey@example.com", lambda r: r["tries"] == 1)
check("greylisted: again in a minute", first["state"] == "queued" and first["code"] == 451 and first["next_try_at"], first)

shop = Shop("go", "go", "starttls")
row = shop.mail("jörg@example.com", ended)
check("go-smtp, STARTTLS, PLAIN and SMTPUTF8", sent(row), row)
shop.end()

for name, security in (("starttls", "starttls"), ("wrapped", "tls")):
    shop = Shop(name, name, security)
    row = shop.mail("ann@example.com", ended)
    check("postfix, " + security, sent(row), row)
    row = shop.mail("nobody@example.com", ended)
    check("postfix knows nobody of that name: refused, with its reply", row["state"] == "refused" and row["code"] == 550 and "5.1.1" in row["reply"] and "nobody@" not in row["reply"], row)
    row = shop.mail("nobody@example.com", ended)
    check("and the address is blocked", row["state"] == "refused" and row["tries"] == 0, row)
    row = shop.mail("ann@other.example", ended)
    check("postfix relays not: refused", row["state"] == "refused" and row["code"] == 554 and "5.7.1" in row["reply"], row)
    row = shop.mail("ann@other.example", ended)
    check("and the address is not blocked", row["state"] == "refused" and row["tries"] == 1, row)
    row = shop.mail("later@example.com", lambda r: r["tries"] == 1)
    check("postfix defers: queued", row["state"] == "queued" and row["code"] == 450, row)
    row = shop.mail("full@example.com", lambda r: r["tries"] == 1)
    check("dovecot's mailbox is full: queued", row["state"] == "queued" and row["code"] == 552 and "5.2.2" in row["reply"], row)
    row = shop.mail("ann@example.com", ended)
    check("those after them are sent", sent(row), row)
    shop.end()
shop = Shop("limited", "limited", "tls")
row = shop.mail("ann@example.com", ended)
check("postfix, too large: refused", row["state"] == "refused" and row["code"] == 552, row)
shop.end()

end = time.time() + 90
while time.time() < end:
    row = json.loads(grey.run("mail", "list", "--json"))["mails"][0]
    if ended(row):
        break
    time.sleep(1)
check("greylisted: sent at the second try", sent(row) and row["tries"] == 2, row)
grey.end()

for path in files("npm-in") + files("go-in"):
    read(open(path, "rb").read(), os.path.basename(path))
box = imaplib.IMAP4("127.0.0.1", ports["imap"])
box.login("ann@example.com", "sesame")
end = time.time() + 30
while True:
    box.select("INBOX")
    numbers = box.search(None, "ALL")[1][0].split()
    if len(numbers) == 4 or time.time() > end:
        break
    time.sleep(0.3)
check("dovecot has the four messages", len(numbers) == 4, numbers)
for n in numbers:
    read(box.fetch(n, "(RFC822)")[1][0][1], "over IMAP")
sys.exit(1 if failed else 0)
