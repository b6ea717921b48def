"""A long run of random documents and patches: ``BEACH_FUZZ=50 pytest tests/long/test_patch_documents.py``."""

from __future__ import annotations

from tests.a2ui.strategies import FUZZ
from tests.envelopes.transports.documents import test_normalise, test_patches


def test_random_patches_are_atomic_and_raise_nothing_else() -> None:
    test_patches.run_fuzz(range(2_000 * FUZZ))


def test_normalising_twice_is_normalising_once() -> None:
    test_normalise.run_fuzz(range(5_000 * FUZZ))
