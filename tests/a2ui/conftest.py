"""What tests of the engine share."""

from __future__ import annotations

import pytest

from tests.a2ui import programs


@pytest.fixture(params=["0.9", "1.0"])
def each_version(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The test runs twice: with the programs that `run` and `surface` are given, and with those in 1.0, converted."""
    spoken: str = request.param
    monkeypatch.setattr(programs, "SPOKEN", spoken)
    return spoken
