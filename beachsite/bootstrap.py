"""Make the virtual environment that the project runs in."""

from __future__ import annotations


def ensure(argv: list[str]) -> None:
    """Nothing yet."""
