"""Reads the messages of a month back with Python's email: well formed, complete, to one person, each once."""
import email
import email.policy
import pathlib
import re
import sys

failed = []
ids = set()
files = sorted(pathlib.Path(sys.argv[1]).glob("*.eml"))
for f in files:
    raw = f.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    m = email.message_from_bytes(raw, policy=email.policy.default)
    parts = list(m.walk())
    text, html = (p.get_content() for p in parts[1:])
    person = "orders@" in f.name  # to a supplier, as a person writes
    for what, is_so in {
        "no defect": not any(p.defects for p in parts),
        "text, then HTML": [p.get_content_type() for p in parts] == ["multipart/alternative", "text/plain", "text/html"],
        "to one": [a.addr_spec for a in m["To"].addresses] == [f.stem.split(" ")[1]],
        "from the shop": m["From"].addresses[0].addr_spec == "shop@example.com",
        "an id of its own": re.fullmatch(r"<[0-9a-f]{32}@example\.com>", m["Message-ID"]) and m["Message-ID"] not in ids,
        "the marks of a machine": (m["Auto-Submitted"] == "auto-generated" and m["X-Auto-Response-Suppress"] == "All") != person,
        "no list, no copy": not any(m[h] for h in ("Cc", "Bcc", "Precedence", "List-Unsubscribe", "DKIM-Signature")),
        "a subject, nothing left to fill in": m["Subject"] and not re.search(r"[{}•]", m["Subject"] + text + html),
        "the same words in both": set(re.findall(r"\w{3,}", text)) <= set(re.findall(r"\w{3,}", html)),
    }.items():
        if not is_so:
            failed.append(f"{f.name}: {what}\n{raw.decode()}")
    ids.add(m["Message-ID"])
print(f"{len(files)} messages of a month read well" if files and not failed else "\n".join(failed) or "no message")
sys.exit(bool(failed) or not files)
