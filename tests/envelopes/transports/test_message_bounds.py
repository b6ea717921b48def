"""Every door that takes messages counts them, by the address that they come from too: each may ask a model."""

from __future__ import annotations

import itertools
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import AsyncClient

import envelopes.transports
from envelopes import rates
from envelopes.errors import TooManyMessages
from envelopes.models import Session, Turn
from envelopes.providers.scripted import Say, text
from envelopes.registries.transports import transports
from envelopes.types import JsonObject
from tests.desk import replies
from tests.envelopes.transports.live.client import Channel
from tests.sockets import Browser, Socket, panel

pytestmark = pytest.mark.django_db(transaction=True)

ADDRESS = "192.0.2.7"
YES = replies([Say([text("response", "Yes.")])])
FOLDER = Path(envelopes.transports.__file__).parent
TAKES = re.compile(r"\bpost_(?:message|action|submission)\b")
"""What a door calls that opens a turn for people."""


_IDS = itertools.count()


class Visitor(Browser):
    """A guest behind a proxy of ours, who comes from ``ADDRESS``."""

    def headers(self, origin: str | None = "http://testserver") -> list[tuple[bytes, bytes]]:
        return [*super().headers(origin), (b"x-forwarded-for", ADDRESS.encode())]


async def _posted(browser: Browser, path: str, body: JsonObject) -> JsonObject:
    client = AsyncClient()
    client.cookies.load(browser.cookies)
    headers = {"X-Forwarded-For": ADDRESS}
    answer = await client.post(path, body, content_type="application/json", headers=headers)
    return {**answer.json(), "status": answer.status_code}


async def _at_panel(session: Session, browser: Browser) -> JsonObject:
    socket = await Socket(browser, session.public_id).open()
    told = await socket.ask({"type": "message", "text": "Hello"})
    await socket.close()
    return told


async def _over_http(session: Session, browser: Browser) -> JsonObject:
    return await _posted(browser, f"/api/sessions/{session.public_id}/messages", {"text": "Hello"})


async def _on_live_channel(session: Session, browser: Browser) -> JsonObject:
    return await _acted(session, await Channel(browser=browser).open())


async def _acted(session: Session, channel: Channel, **more: Any) -> JsonObject:
    await channel.subscribe(session, **more)
    told = await channel.act(session, "beach:message", {"text": "Hello"})
    await channel.close()
    payload: JsonObject = told["payload"]
    return {**payload, **payload.get("details", {})}


async def _on_live_channel_with_a_token(session: Session, browser: Browser) -> JsonObject:
    token = await _posted(browser, f"/api/sessions/{session.public_id}/live-token", {})
    channel = await Channel(browser=Visitor({}), query="?wsToken=1").open()
    return await _acted(session, channel, wsToken=token["wsToken"])


async def _by_envelope(session: Session, browser: Browser) -> JsonObject:
    payload = {
        "origin": {"type": "web"}, "content": {"text": "Hello"}, "security": {"trust": "user-trusted"},
    }  # fmt: skip
    envelope = {
        "v": 1, "id": f"01ARZ3NDEKTSV4RRFFQ69G5FA{next(_IDS)}", "timestamp": "2026-11-29T03:38:48Z", "payload": payload,
        "limits": {"max_payload_bytes": 1_000},
    }  # fmt: skip
    return await _posted(browser, f"/api/sessions/{session.public_id}/message-envelopes", envelope)


Door = Callable[[Session, Browser], Awaitable[JsonObject]]

DOORS: dict[str, tuple[Door, ...]] = {
    "panel": (_at_panel,),
    "http": (_over_http,),
    "live": (_on_live_channel, _on_live_channel_with_a_token),
    "documents": (_by_envelope,),
}
"""How a guest says "Hello" at each door that takes messages, by its transport: the answer, whatever it is."""


@pytest.mark.parametrize(
    "door", [one for some in DOORS.values() for one in some], ids=lambda one: one.__name__.strip("_")
)
async def test_one_address_has_one_bound_at_all_doors(door: Door, settings: Any) -> None:
    settings.BEACH_PROXIES, settings.BEACH_MESSAGES_PER_ADDRESS = 1, 1
    # Nothing runs turns at some of them, and nobody waits for the answer.
    settings.BEACH_HTTP_WAIT_SECONDS = 0.05
    rates.forget()
    async with panel(YES) as (session, guest, _):
        browser = Visitor(guest.cookies)
        taken = await door(session, browser)
        before = await Turn.objects.acount()
        # Another guest, who comes from there as well, has none left; nor has this one at this door.
        with pytest.raises(TooManyMessages):
            rates.take_message("anonymous:somebody", ADDRESS)
        refused = await door(session, browser)
        after = await Turn.objects.acount()
    rates.forget()

    assert before == after == 1, (taken, refused)
    assert refused["code"] in ("too_many_messages", "RATE_LIMIT_EXCEEDED")
    assert refused.get("limit") == "BEACH_MESSAGES_PER_ADDRESS" or door is _at_panel
    assert refused.get("status", 429) == 429


def test_no_door_that_takes_messages_is_left_out() -> None:
    takes = {
        file.relative_to(FOLDER).parts[0].removesuffix(".py")
        for file in FOLDER.rglob("*.py")
        if TAKES.search(file.read_text(encoding="utf-8"))
    }
    of_ours = {one.name for one in transports if "." not in one.name}

    assert takes == DOORS.keys(), "give it a line in DOORS, so that it is counted by address"
    assert takes <= of_ours <= {path.name for path in FOLDER.iterdir() if path.is_dir()}
