"""What rows hold: every kind has a shape, the documentation names the same kinds, and what is written fits them."""

from __future__ import annotations

import asyncio
import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

import envelopes
from envelopes import intake
from envelopes.access import Principal
from envelopes.errors import AlreadyDecided, Forbidden
from envelopes.models import Event
from envelopes.protocol.rows import KINDS, SHAPES
from envelopes.providers.scripted import Call, Fail, Prose, Say, data, text
from envelopes.registries.catalogs import Own, catalogs
from envelopes.registries.tools import ApprovalPolicy, Tool
from envelopes.session_state import live_sessions
from envelopes.types import Json
from tests import factories
from tests.a2ui.asking import CATALOG, SHOP, ask
from tests.a2ui.programs import row as component
from tests.desk import desk, replies
from tests.row_shapes import misfits

DOCS = Path(envelopes.__file__).parent.parent / "docs" / "architecture.md"
ELSEWHERE = {"consent", "experiment", "grant", "edit-ignored", "takeover"}
"""What other tests hold to its shape: documents/test_governance, approvals/test_decisions, turns/test_takeover."""

BASIC = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"


def test_every_kind_has_a_shape_and_a_line_in_the_documentation() -> None:
    lines = DOCS.read_text(encoding="utf-8").partition("| kind | audience |")[2].splitlines()[2:]
    documented: dict[str, str] = {}
    for line in itertools.takewhile(lambda line: line.startswith("|"), lines):
        _, names, audience, *_ = line.split("|")
        documented |= dict.fromkeys(re.findall(r"`([a-z-]+)`", names), audience.split()[0])

    assert documented == KINDS
    assert KINDS.keys() == SHAPES.keys()
    assert all(shape.__doc__ for shape in SHAPES.values())


def test_the_database_knows_no_kinds() -> None:
    assert not Event._meta.get_field("kind").choices


class Trip(BaseModel):
    to: str


async def _book(context: object, args: Trip) -> Json:
    return {"booked": args.to}


_BOOK = Tool("book", "", Trip, _book, approval=ApprovalPolicy(lambda args: f"Book {args.to}?"))


class Asked(BaseModel):
    q: str


async def _answered(context: object, args: Asked) -> Json:
    return args.q


_ANSWER = Tool("look_up", "", Asked, _answered, answers="ask")


def _asking() -> Any:
    """A surface that asks its agent, and an agent that asks us."""
    body = {"surfaceId": "b", "catalogId": SHOP, "components": [component("root", "Text", text=ask(q="x"))]}
    called = {"@call": "total", "catalogId": SHOP, "args": {"prices": [1]}}
    messages = [
        {"version": "v0.9", "deleteSurface": {"surfaceId": "b"}},
        {"version": "1.0", "createSurface": body},
        {"version": "1.0", "callRendererFunction": {"functionCallId": "c", "callFunction": called}},
    ]
    return data("a2ui-surface", {"messages": messages})


def _form() -> list[Any]:
    parts = [
        {"id": "root", "component": "Column", "children": ["name", "many", "go"]},
        {"id": "name", "component": "TextField", "label": "Name", "value": {"path": "/name"}},
        {"id": "many", "component": "List", "children": {"componentId": "one", "path": "/many"}},
        {"id": "one", "component": "Text", "text": {"path": ""}},
        {
            "id": "go",
            "component": "Button",
            "child": "label",
            "action": {"event": {"name": "go", "context": {}}},
        },
        {"id": "label", "component": "Text", "text": "Go"},
    ]
    surface = {"surfaceId": "form"}
    model = {"name": "", "many": [f"n{number}" for number in range(30)]}
    messages = [
        {"createSurface": {**surface, "catalogId": BASIC}},
        {"updateDataModel": {**surface, "path": "/", "value": model}},
        {"updateComponents": {**surface, "components": parts}},
    ]
    return [
        data("a2ui-surface", {"messages": [{"version": "v0.9", **message} for message in messages]}),
        text("response", "A form."),
    ]


@pytest.mark.django_db(transaction=True)
async def test_what_is_written_has_the_shape_of_its_kind(settings: Any) -> None:
    settings.BEACH_A2UI_LIMITS = {"list_items": 10, "surfaces": 1}
    script = replies(
        [Prose("Hm."), Call("no_such_tool"), Call("book", {"to": "Corfu"})],
        [
            Say([text("response", "This never ends because the line drops in the middle of it")]),
            Fail("silent"),
        ],
        [Say([*_form(), data("setState", {"cart.status": "paid"})], note="All in.")],
        [
            Say(
                [
                    {
                        **_form()[0],
                        "data": {"version": "v0.9", "createSurface": {"surfaceId": "b", "catalogId": BASIC}},
                    }
                ]
            )
        ],
        [Say([_asking()])],
        [Say([text("response", "Done.")])],
    )
    live_sessions.clear()
    with catalogs.including(Own(CATALOG.id, CATALOG)):
        async with desk(script, _BOOK, _ANSWER) as d:
            await d.say("Book Corfu")
            await d.decide("granted")
            with pytest.raises(AlreadyDecided):
                await d.decide("denied")
            approval = (await d.approvals())[0].approval_id
            reader = await sync_to_async(factories.make_user)(staff=True, permissions=["view_session"])
            post_decision = sync_to_async(intake.post_decision)
            with pytest.raises(Forbidden):
                await post_decision(d.session, Principal(user=reader), "tried-1", approval, "granted")
            field, more, button = "a2-1", "a2-2", "a2-3"
            await d.edit(field, "Ada")
            await sync_to_async(intake.post_show)(d.session, d.owner, "show-1", more)
            await d.act(button)
            await d.say("Ask")
            async with asyncio.timeout(30):
                while True:
                    rows = await d.rows()
                    if any(row.kind == "agent-answer" for row in rows):
                        break
                    await asyncio.sleep(0.01)

    assert misfits(rows) == []
    assert SHAPES.keys() - {row.kind for row in rows} == ELSEWHERE
