"""What a guest is called who has said no name: by the beginning of what their browser is known by."""

from __future__ import annotations

CODE = 6


def guest_code(owner_key: str) -> str:
    """Tells guests apart, and signs nobody in; whoever looks for it finds them."""
    return owner_key[:CODE].upper()
