"""Fixtures for tests of the log on both databases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django.plugin import DjangoDbBlocker

from tests.envelopes.log.databases import migrated


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def alias(
    request: pytest.FixtureRequest,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """A migrated database of each kind. Tests need ``django_db(databases="__all__", transaction=True)``."""
    with (
        django_db_blocker.unblock(),
        migrated(request.param, tmp_path_factory) as name,
        django_db_blocker.block(),
    ):
        yield name
