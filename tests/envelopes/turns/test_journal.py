"""The process log: a line for each beginning, end and failure of a turn, and nothing of what was said."""

from __future__ import annotations

import logging
import re

import pytest

from envelopes.errors import ProviderError
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Reply, Say, ScriptedProvider, text
from tests.desk import desk, replies

pytestmark = pytest.mark.django_db(transaction=True)


def _lines(caplog: pytest.LogCaptureFixture, session: str) -> list[tuple[str, str]]:
    """``(level, line)`` of what was said of a session's turns, without the times."""
    return [
        (record.levelname, re.sub(r"\bms=\d+", "ms=N", record.getMessage().replace(session, "S")))
        for record in caplog.records
        if re.match(r"Turn\b", record.getMessage())
    ]


async def test_s15_a_turn_is_a_line_at_its_start_and_one_at_its_end(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with desk(replies([Say([text("response", "A secret answer.")])])) as table:
        await table.say("A secret question")
        await table.say("Another")
        lines = _lines(caplog, table.session.public_id)
    assert lines[:2] == [
        ("INFO", "Turn 1 of session S: started, actor=tester attempt=1"),
        (
            "INFO",
            "Turn 1 of session S: settled, actor=tester state=complete by=complete steps=1 attempt=1 ms=N",
        ),
    ]
    assert [line[:6] for _, line in lines] == ["Turn 1", "Turn 1", "Turn 2", "Turn 2"]
    assert "secret" not in str(lines)


class Failing(ScriptedProvider):
    """Its API says no, under an id."""

    async def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def,override]
        raise ProviderError(
            "Claude is busy.", retryable=False, kind="overloaded_error", status=529, request_id="req_7"
        )
        yield


async def test_s15_a_failure_names_kind_status_and_request_of_the_provider(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    async with desk(replies([]), provider=lambda script: Failing(script, pace=0)) as table:
        await table.say("Hello")
        lines = _lines(caplog, table.session.public_id)
    assert (
        "WARNING",
        "Turn 1 of session S: the model failed, actor=tester kind=overloaded_error status=529 request=req_7 again=no",
    ) in lines
    assert ("WARNING", "Turn 1 of session S: failed, actor=tester code=provider_failed") in lines
    assert lines[-1][1].startswith("Turn 1 of session S: settled, actor=tester state=error by=error steps=0")


async def test_s15_a_failure_without_a_provider_is_a_line_too(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    def broken(request: ModelRequest) -> Reply:
        raise RuntimeError("a fault of ours")

    async with desk(broken) as table:
        await table.say("Hello")
        lines = _lines(caplog, table.session.public_id)
    # By one name, whoever says it.
    assert ("ERROR", "Turn 1 of session S: a fault of ours") in lines
    assert ("WARNING", "Turn 1 of session S: failed, actor=tester code=internal") in lines
    assert len([line for _, line in lines if "settled" in line]) == 1


async def test_s15_nothing_is_said_of_what_was_not_stored(caplog: pytest.LogCaptureFixture) -> None:
    """A line speaks of the log, so it comes after the commit."""
    from asgiref.sync import sync_to_async
    from django.db import transaction

    from envelopes.turns import leases

    caplog.set_level(logging.INFO)
    async with desk(replies([Call("nothing")])) as table:
        await table.runner.stop()
        await table.say("Hello", wait=False)

        def begin_and_think_better_of_it() -> None:
            with transaction.atomic():
                assert leases.claim_next(table.session.pk, "somebody") is not None
                transaction.set_rollback(True)

        await sync_to_async(begin_and_think_better_of_it)()
        assert _lines(caplog, table.session.public_id) == []
