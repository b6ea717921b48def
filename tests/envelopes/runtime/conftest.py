"""Fixtures for tests of the runtime on both databases."""

from __future__ import annotations

from tests.envelopes.log.conftest import alias

__all__ = ["alias"]
