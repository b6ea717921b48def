"""The background work starts with the server and ends before it, however the server says so."""

from __future__ import annotations

from typing import Any

import pytest

from envelopes.serving import background


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the runtime was told, in order with what the server was."""
    heard: list[str] = []

    async def shut_down() -> None:
        heard.append("shut down")

    monkeypatch.setattr(background, "ensure_started", lambda: heard.append("started"))
    monkeypatch.setattr(background, "begin_stopping", lambda: heard.append("stopping"))
    monkeypatch.setattr(background, "shut_down", shut_down)
    return heard


async def test_a_server_that_speaks_lifespan_waits_for_both_ends(heard: list[str]) -> None:
    questions = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

    async def receive() -> dict[str, str]:
        return next(questions)

    async def send(message: dict[str, str]) -> None:
        heard.append(message["type"])

    await background.lifespan({"type": "lifespan"}, receive, send)

    assert heard == [
        "started",
        "lifespan.startup.complete",
        "stopping",
        "shut down",
        "lifespan.shutdown.complete",
    ]


async def test_any_other_server_starts_it_with_its_first_request(heard: list[str]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        heard.append("answered")

    await background.starting(app)({"type": "http"}, None, None)

    assert heard == ["started", "answered"]
