"""Web configuration files with users whose passwords the tests know."""

import base64

# bcrypt of the password beside it: at cost 10, as Prometheus' documentation has it, or at 4, which is quick.
ALICE = ("alice", "secret", "$2y$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u")
ALICE_CHANGED = ("alice", "changed", "$2y$04$bbcdefghijklmnopqrstuu6XhCZ06k9OQJQVMfrDHiw0Y9P922IlO")
BOB = ("bob", "bobpw", "$2a$04$cbcdefghijklmnopqrstuuQNogLf3lvEtfFVd4XjrHwPzt965yaWu")
OPS = ("ops", "opspw", "$2b$04$dbcdefghijklmnopqrstuuqvpN/KWzLQSG0Iq9PQf/SxY4nK.hCRC")
LONG = ("long", "p" * 72, "$2y$04$ebcdefghijklmnopqrstuuyD2jXOMSvnDUdSsPIUXtBQw9Hck1/PO")
EMPTY = ("empty", "", "$2y$04$fbcdefghijklmnopqrstuuNc3PTdYVeE5QpWMAPBhqk8KuV6b.qte")
ODD = ("odd", "pä:ss", "$2y$04$gbcdefghijklmnopqrstuu3PvYcA1CRz2THOlzKoqLCtllsjCrzaO")


def users(*of):
    return "basic_auth_users:\n" + "".join(f"  {name}: {hashed}\n" for name, _, hashed in of)


def basic(user, password=None):
    """A header for a user above, or for any name and password."""
    name, known, *_ = user if isinstance(user, tuple) else (user, None)
    text = f"{name}:{known if password is None else password}"
    return "Authorization", "Basic " + base64.b64encode(text.encode()).decode()


def bearer(token):
    return "Authorization", f"Bearer {token}"
