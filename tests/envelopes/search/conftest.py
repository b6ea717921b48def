"""Tests of the search run on both databases where they ask for ``alias``."""

from tests.envelopes.log.conftest import alias

__all__ = ["alias"]
