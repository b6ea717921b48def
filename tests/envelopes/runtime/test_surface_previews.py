"""An interface is told while the model writes it, to who can draw it then, and over with its call (D65)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from envelopes.delivery.deltas import Delta, deltas
from envelopes.delivery.rules import Reader
from envelopes.delivery.wanted import Wanted
from envelopes.models import Turn
from envelopes.protocol.bubbles import SURFACE_PREVIEW
from envelopes.providers.scripted import Fail, Raw, Say, data, text
from envelopes.registries.transports import Transport
from envelopes.types import JsonObject
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

BASIC = "https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json"
ROWS = [
    {"id": "root", "component": "Column", "children": ["t"]},
    {"id": "t", "component": "Text", "text": "Hello"},
]
CREATE = {"surfaceId": "s", "catalogId": BASIC}
SURFACE = {"version": "1.0", "createSurface": {**CREATE, "components": ROWS}}
SAID = Say([text("response", "Here it is."), data("a2ui-surface", SURFACE)])

MORE = [{"id": f"t{n}", "component": "Text", "text": "More"} for n in range(20)]
LONG = Say(
    [data("a2ui-surface", {"version": "1.0", "createSurface": {**CREATE, "components": [*ROWS, *MORE]}})]
)
"""Of which half has whole components."""


async def heard(script: Any) -> AsyncIterator[tuple[Desk, list[Delta]]]:
    async with desk(script) as d:
        found: list[Delta] = []
        forget = deltas.subscribe(d.session.pk, found.append)
        await d.say("Show me")
        forget()
        yield d, found


def previewed(found: list[Delta]) -> tuple[str, list[Any]]:
    """All of the text, whose offsets have to fit, and what each line says."""
    pieces = [delta for delta in found if delta.part_type == SURFACE_PREVIEW]
    told = ""
    for delta in pieces:
        assert delta.offset == len(told)
        told += delta.text
    assert len({delta.live for delta in pieces}) <= 1
    return (pieces[0].live if pieces else ""), [json.loads(line) for line in told.splitlines()]


async def test_it_comes_before_its_row_and_ends_with_its_call() -> None:
    async for d, found in heard(replies([SAID])):
        live, told = previewed(found)
        assert told[0] == {"version": "1.0", "createSurface": CREATE}
        assert [row for message in told[1:-1] for row in message["updateComponents"]["components"]] == ROWS
        assert told[-1] is None
        (row,) = [one for one in await d.rows() if one.part_type == "a2ui-surface"]
        # Its row takes the place of what pages show of it.
        assert row.data["live"] == live
        turn = await sync_to_async(Turn.objects.get)(session=d.session)
        assert turn.live == {}


@pytest.mark.parametrize(
    "reply",
    [
        [Raw(json.dumps({"parts": [SAID.parts[1]], "turnState": "no such state"})), SAID],
        [LONG, Fail("error", retryable=False)],
    ],
    ids=["refused", "broken off"],
)
async def test_one_that_comes_to_nothing_ends_as_well(reply: list[Any]) -> None:
    async for _, found in heard(replies(reply)):
        told = [
            json.loads(delta.text.splitlines()[-1]) for delta in found if delta.part_type == SURFACE_PREVIEW
        ]
        assert told
        last = {delta.live: delta.text for delta in found if delta.part_type == SURFACE_PREVIEW}
        assert all(written.endswith("null\n") for written in last.values())


@pytest.mark.parametrize(
    ("capabilities", "surfaces", "wanted"),
    [
        ({"surfaces", "previews"}, True, True),
        ({"surfaces", "previews"}, False, False),
        ({"surfaces"}, True, False),
    ],
)
def test_who_gets_it(capabilities: set[str], surfaces: bool, wanted: bool) -> None:
    transport = Transport("live", "streaming", capabilities=frozenset(capabilities))
    reader = Reader("peer", frozenset(), surfaces)

    assert Wanted(transport, reader).text(SURFACE_PREVIEW) is wanted


def test_pages_get_it_and_events_do_not() -> None:
    from envelopes.registries.transports import transports

    for name in ("panel", "sse"):
        wanted = Wanted(transports[name], Reader("person", frozenset(), True))
        assert wanted.text(SURFACE_PREVIEW) is (name == "panel")


def as_saved(bubble: JsonObject) -> Delta:
    return Delta.saved("L1-1-0-0-0-0", 1, bubble)


def test_what_is_saved_of_it_is_told_to_whoever_comes_later() -> None:
    saved = {"turn": 1, "partType": SURFACE_PREVIEW, "text": "{}\n"}

    assert as_saved(saved) == Delta("L1-1-0-0-0-0", 1, SURFACE_PREVIEW, 0, "{}\n")
