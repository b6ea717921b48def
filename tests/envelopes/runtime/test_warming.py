"""What models need is there before the first turn."""

from __future__ import annotations

from typing import Any

import pytest

from envelopes.providers.scripted import ScriptedProvider
from envelopes.registries.actors import Actor, actors
from envelopes.runtime.warming import Warming, warm
from tests.desk import replies


class Slow(ScriptedProvider):
    """A model that has something to load."""

    def __init__(self, loaded: list[str], name: str = "slow", error: Exception | None = None) -> None:
        super().__init__(replies([]))
        self.model = name
        self.loaded = loaded
        self.error = error

    async def warm(self) -> None:
        self.loaded.append(self.model)
        if self.error is not None:
            raise self.error


def _actor(name: str, provider: Any) -> Actor:
    return Actor(name, name.title(), "tests", "Be a test.", provider)


async def test_each_model_is_loaded_once_and_one_that_fails_keeps_no_other_from_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    loaded: list[str] = []
    with (
        actors.including(_actor("one", lambda: Slow(loaded, "a", RuntimeError("no key")))),
        actors.including(_actor("two", lambda: Slow(loaded, "b"))),
        actors.including(_actor("three", lambda: Slow(loaded, "b"))),
    ):
        await warm()

    assert sorted(loaded) == ["a", "b"]
    assert "The model of one could not be made ready." in caplog.text


async def test_it_begins_with_the_process_and_ends_with_it() -> None:
    loaded: list[str] = []
    with actors.including(_actor("one", lambda: Slow(loaded))):
        warming = Warming()
        await warming.start()
        assert warming._work is not None
        await warming._work
        await warming.stop()

    assert loaded == ["slow"]
