"""Public ids: random, so that knowing one tells nothing about others."""

from __future__ import annotations

import secrets


def public_id() -> str:
    """128 random bits as 26 lower-case letters and digits (safe in URLs, file names and mail subjects)."""
    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    number = secrets.randbits(130)
    return "".join(alphabet[(number >> shift) & 31] for shift in range(0, 130, 5))
