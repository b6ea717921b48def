"""Frames that cannot be told back as they came: the answer has to be sent all the same, and the socket stays."""

from __future__ import annotations

import pytest

from envelopes.providers.scripted import Say, text
from envelopes.types import JsonObject
from tests import left_over
from tests.desk import replies
from tests.sockets import Socket, panel

pytestmark = pytest.mark.django_db(transaction=True)

ANSWER = replies([Say([text("response", "Hello.")])])
HALVES = [
    '{"type": "message", "id": "\\ud800", "text": "half a pair as an id"}',
    '{"type": "ping", "\\ud800": 1}',
    '{"type": "ping", "\\udfff": 1, "\\udfff": 2}',
    '{"type": "edit", "id": "x", "target": "\\ud800", "value": {"\\ud800": "\\ud800"}}',
    '{"type": "decide", "id": "x", "approval": "\\ud800", "decision": "granted"}',
    '{"\\ud800": {"\\ud800": NaN}}',
    '{"type": "\\ud800"}',
    f'{{"type": "edit", "id": "x", "target": "a", "value": {"9" * 5000}}}',
]


async def test_half_a_surrogate_pair_in_a_frame_does_not_close_the_socket() -> None:
    async with panel(ANSWER) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        for frame in HALVES:
            await socket.wire.send_to(text_data=frame)
            answer = await socket.until(lambda got: got["type"] != "welcome")
            assert (answer["type"], bool(answer["message"])) == ("error", True), frame
        await socket.send({"type": "ping"})
        assert (await socket.until(lambda got: True))["type"] == "pong"
        await socket.close()


REFUSED = [
    {"type": "no-such-type"},
    {"type": "message", "id": "m1", "text": ""},
    {"type": "action", "id": "a1", "target": "a1-1"},
    {"type": "edit", "id": "e1", "target": "a1-1", "value": 1},
    {"type": "show", "id": "s1", "target": "a1-1"},
    {"type": "decide", "id": "d1", "approval": "x", "decision": "denied"},
]


@pytest.mark.parametrize("frame", REFUSED, ids=lambda frame: frame["type"])
async def test_a_refused_frame_leaves_nothing_to_the_garbage_collector(frame: JsonObject) -> None:
    """Whoever sends many of them would have as much of the memory as comes between two searches."""
    async with panel(ANSWER) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        with left_over.exceptions() as search:
            for _ in range(5):
                await socket.send(frame)
                assert (await socket.until(lambda got: True))["type"] == "error"
            assert search() == []
        await socket.close()
