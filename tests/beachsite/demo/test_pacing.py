from __future__ import annotations

from beachsite.demo.pacing import PacedModel
from envelopes.providers.port import InputFragment, ModelRequest
from envelopes.providers.scripted import Reply, Say, data, text

REQUEST = ModelRequest("", [{"role": "user", "content": [{"type": "text", "text": "hi"}]}], [])


async def seconds(reply: Reply, pace: float) -> float:
    slept: list[float] = []

    async def sleep(time: float) -> None:
        slept.append(time)

    model = PacedModel(lambda request: reply, pace=pace, sleep=sleep)
    async for _ in model.stream(REQUEST):
        pass
    return sum(slept)


async def test_words_take_longer_than_data() -> None:
    words = await seconds(Reply([Say([text("response", "word " * 100)])]), 900)
    card = await seconds(Reply([Say([data("domain-data", {"text": "word " * 100})])]), 900)

    assert 1.5 < words < 3
    assert card < words / 3


async def test_no_pace_no_waiting() -> None:
    assert await seconds(Reply([Say([text("response", "word " * 100)])]), 0) == 0


async def test_nothing_is_lost() -> None:
    reply = Reply([Say([text("response", "Two flights.")])])
    model = PacedModel(lambda request: reply, pace=0)

    written = "".join(
        [event.fragment async for event in model.stream(REQUEST) if isinstance(event, InputFragment)]
    )

    assert "Two flights." in written
    assert model.label == "Scripted demo model"
