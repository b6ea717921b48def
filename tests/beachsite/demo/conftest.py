from __future__ import annotations

import pytest

from tests.beachsite.demo.stage import Stage


@pytest.fixture(autouse=True)
def _no_waiting(settings: pytest.FixtureRequest) -> None:
    settings.BEACH_DEMO_PACE = 0  # type: ignore[attr-defined]


@pytest.fixture
def stage() -> Stage:
    """A session with Sally."""
    return Stage()
