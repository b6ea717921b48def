"""Large frames through the real server, both ways: answered, closed with a code, or delivered; never just cut."""

from __future__ import annotations

from tests.faults.conftest import Lab
from tests.visitor import Visitor

LIMIT = 128 * 1024


async def test_s4_frames_of_any_size_arrive_are_answered_or_closed_with_a_code(lab: Lab) -> None:
    visitor = await (await Visitor.arrive(lab.server)).connect()
    for number, size in enumerate((LIMIT + 1, 4 * LIMIT, 8 * LIMIT - 200)):
        frame = {"type": "edit", "target": "a1-1", "value": "x" * size}
        answer = await visitor.ask(frame, message_id=f"big-{number}")
        assert (answer["type"], answer["code"], answer.get("retry")) == ("error", "too_large", False)

    # The server's own are not bounded by that: a surface is one frame.
    await visitor.say("Show me something huge")
    await visitor.shows("That was much.")
    await visitor.settles()
    assert max(len(str(frame)) for frame in visitor.rows) > 1024 * 1024
    await visitor.is_as_reloaded()

    await visitor.send({"type": "edit", "id": "bigger", "target": "a1-1", "value": "x" * 8 * LIMIT})
    assert await visitor.ended() == 1009
