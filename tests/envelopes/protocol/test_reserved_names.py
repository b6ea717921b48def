"""Names of the runtime stay its own, however an agent writes them and by whichever way they come (D22)."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pydantic import BaseModel

from envelopes.errors import ValidationFailed
from envelopes.models import Event, Snapshot
from envelopes.protocol.parts import check_part
from envelopes.protocol.surfaces import is_reserved
from envelopes.providers.scripted import Call, Say, text
from envelopes.registries.tools import Tool, ToolContext
from envelopes.session_state import live_sessions
from envelopes.session_state.engines import engine_for
from envelopes.types import Json, JsonObject
from tests import factories
from tests.desk import Desk, desk, replies

BASIC = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
BASIC_10 = "https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json"
LABEL = {"id": "l", "component": "Text", "text": "Approve"}


def _button(name: str, **action: Json) -> JsonObject:
    event: JsonObject = {"event": {"name": name, "context": {}}}
    return {"id": "root", "component": "Button", "child": "l", "action": action or event}


def v08(surface: str, name: str) -> list[JsonObject]:
    components = [
        {"id": "l", "component": {"Text": {"text": {"literalString": "Approve"}}}},
        {"id": "b", "component": {"Button": {"child": "l", "action": {"name": name}}}},
    ]
    return [
        {"surfaceUpdate": {"surfaceId": surface, "components": components}},
        {"beginRendering": {"surfaceId": surface, "root": "b"}},
    ]


def v08_begun_first(surface: str, name: str) -> list[JsonObject]:
    return v08(surface, name)[::-1]


def v08_data_first(surface: str, name: str) -> list[JsonObject]:
    entry = {"key": "a", "valueString": "b"}
    return [{"dataModelUpdate": {"surfaceId": surface, "contents": [entry]}}, *v08(surface, name)]


def v09(surface: str, name: str) -> list[JsonObject]:
    return [
        {"version": "v0.9", "createSurface": {"surfaceId": surface, "catalogId": BASIC}},
        {
            "version": "v0.9",
            "updateComponents": {"surfaceId": surface, "components": [_button(name), LABEL]},
        },
    ]


def v09_combined(surface: str, name: str) -> list[JsonObject]:
    first, second = v09(surface, name)
    return [{**first, **second}]


def v09_short_action(surface: str, name: str) -> list[JsonObject]:
    made, shown = v09(surface, name)
    shown["updateComponents"]["components"][0]["action"] = {"name": name}
    return [made, shown]


def v09_later(surface: str, name: str) -> list[JsonObject]:
    """The action comes with a second definition, that leaves the type out."""
    made, shown = v09(surface, "book")
    later = copy.deepcopy(shown)
    row = later["updateComponents"]["components"][0]
    row["action"]["event"]["name"] = name
    del row["component"]
    return [made, shown, later]


def v09_in_a_template(surface: str, name: str) -> list[JsonObject]:
    made, shown = v09(surface, name)
    button = {**_button(name), "id": "item"}
    rows = [
        {"id": "root", "component": "Column", "children": {"componentId": "item", "path": "/items"}},
        button,
        LABEL,
    ]
    shown["updateComponents"]["components"] = rows
    data = {"surfaceId": surface, "path": "/items", "value": [1, 2]}
    return [made, shown, {"version": "v0.9", "updateDataModel": data}]


def v10_inline(surface: str, name: str) -> list[JsonObject]:
    body = {"surfaceId": surface, "catalogId": BASIC_10, "components": [_button(name), LABEL]}
    return [{"version": "v1.0", "createSurface": body}]


def v10_with_a_message(surface: str, name: str) -> list[JsonObject]:
    event = {"name": name, "userMessage": "Yes", "context": {}}
    made = {"version": "v1.0", "createSurface": {"surfaceId": surface, "catalogId": BASIC_10}}
    rows = [_button(name, event=event), LABEL]
    return [made, {"version": "v1.0", "updateComponents": {"surfaceId": surface, "components": rows}}]


WAYS = [
    v08,
    v08_begun_first,
    v08_data_first,
    v09,
    v09_combined,
    v09_short_action,
    v09_later,
    v09_in_a_template,
    v10_inline,
    v10_with_a_message,
]
TAKEN = {"surface": ("beach:approve", "book"), "action": ("s", "beach:decide")}


def part(messages: list[JsonObject]) -> JsonObject:
    return {"metadata": {"partType": "a2ui-surface"}, "data": {"messages": messages}}


async def _live(d: Desk) -> list[str]:
    def read() -> list[str]:
        live_sessions.clear()
        with live_sessions.open(d.session) as view:
            return [surface.id for surface in view.surfaces]

    return await sync_to_async(read)()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("taken", TAKEN.values(), ids=TAKEN)
@pytest.mark.parametrize("way", WAYS)
async def test_x3_a_name_of_the_runtime_gets_through_in_no_version(way: Any, taken: tuple[str, str]) -> None:
    wrong, right = (
        Say([part(way(*taken))], "awaiting"),
        Say([part(way("mine", "book")), text("response", "Done.")]),
    )
    async with desk(replies([wrong], [right])) as d:
        await d.say("Show it")
        (row,) = await d.rows("refused")
        assert "belong" in row.data["error"]["message"]
        assert row.data["error"]["problems"][0]["path"].startswith(("/surfaceId", "/components/"))
        # The same card with names of its own is fine.
        assert await _live(d) == ["mine"]
        assert await d.texts() == ["Done."]


class Nothing(BaseModel):
    pass


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", [v08, v10_inline])
async def test_x3_nor_does_a_tool_get_one_through(way: Any) -> None:
    async def show(context: ToolContext, args: Nothing) -> Json:
        await context.emit(part(way(*TAKEN["action"])))
        return "shown"

    async with desk(
        replies([Call("show")], [Say([text("response", "Done.")])]), Tool("show", "", Nothing, show)
    ) as d:
        await d.say("Show it")
        (call,) = await d.calls()
        assert call.state == "failed"
        assert await _live(d) == []


@pytest.fixture
def _actor() -> Iterator[None]:
    with factories.acting():
        yield


@pytest.mark.django_db
@pytest.mark.parametrize("way", [v08, v10_inline])
@pytest.mark.usefixtures("_actor")
def test_x3_what_an_older_log_or_snapshot_holds_is_not_brought_back(way: Any) -> None:
    """Rows and snapshots outlive the code that wrote them."""
    session = factories.make_session()
    turn = factories.make_turn(session)
    for surface, name in [*TAKEN.values(), ("mine", "book")]:
        factories.add_part(turn, "a2ui-surface", data={"messages": way(surface, name)})
    unchecked = engine_for(session.locale, session.timezone)
    surfaces = _without_rule(unchecked).surfaces()
    for row in Event.objects.filter(session=session, part_type="a2ui-surface"):
        for message in row.data["part"]["data"]["messages"]:
            assert not [problem for problem in surfaces.apply(message, owner=row.actor) if problem.refused]
    surfaces.flush()

    restored = unchecked.restore(surfaces.snapshot())

    names = {
        (surface.id, component.id): component.props.get("action")
        for surface in restored
        for component in surface.store
        if component.type_name == "Button"
    }
    assert "beach:" not in str(names)
    assert "book" in str(names)
    live_sessions.clear()
    with live_sessions.open(session) as view:
        assert "mine" in [surface.id for surface in view.surfaces]
        assert "beach:approve" not in [surface.id for surface in view.surfaces]
        assert "beach:decide" not in str(view.surfaces.snapshot())
    assert Snapshot.objects.count() == 0
    live_sessions.clear()


def _without_rule(engine: Any) -> Any:
    from dataclasses import replace

    from a2ui import Engine

    options = engine.options
    return Engine(replace(options, reserved=None) if hasattr(options, "reserved") else options)


# -- disguises -----------------------------------------------------------------------------------------------------

DISGUISED = [
    "beach:approve",
    "BEACH:approve",
    "_GGUI:x",
    " \tbeach:approve",
    "beach :approve",
    "be\u200bach:approve",
    "\ufeffbeach:approve",
    "\u00adbeach:approve",
    "\u2060beach:approve",
    "\uff42\uff45\uff41\uff43\uff48\uff1aapprove",
    "beach\ufe55approve",
    "be\u034fach:approve",
    "be\ufe0fach:approve",
    "\u3164beach:approve",
    "be\U000e0101ach:approve",
    "b\u0301each:approve",
    "be\u00e1ch:approve",
    "\u1e03\u00cb\u00c5ch:approve",
]


def refused(messages: list[JsonObject]) -> bool:
    surfaces = engine_for("en-US", "UTC").surfaces()
    return any(problem.refused for message in messages for problem in surfaces.apply(message, owner="a"))


@pytest.mark.parametrize("name", DISGUISED)
def test_x3_a_reserved_name_in_disguise_is_refused(name: str) -> None:
    assert refused(v09(name, "book"))
    assert refused(v09("mine", name))


@pytest.mark.parametrize("name", ["beaches", "my-beach:x", "ggui:x", "book", "beach"])
def test_other_names_are_nobodys(name: str) -> None:
    assert not refused(v09(name, "book"))
    assert not refused(v09("mine", name))


@pytest.mark.parametrize("member", ["slotKey", "partId", "dataKind"])
@pytest.mark.parametrize("name", ["beach:retired", "Beach:\u200bx", "_ggui:x"])
def test_x3_nor_may_an_actor_name_a_slot_a_part_or_a_kind_of_data_so(member: str, name: str) -> None:
    raw = {"metadata": {"partType": "domain-data", member: name}, "data": {"a": 1}}
    with pytest.raises(ValidationFailed, match="belong to the runtime") as caught:
        check_part(raw, origin="actor", path="/parts/0")
    assert caught.value.facts["path"] == f"/parts/0/metadata/{member}"
    check_part(raw, origin="runtime")


def test_short_cut_and_rule_are_one() -> None:
    """Names in ASCII are judged without the pattern."""
    rule = "é"  # one letter beyond ASCII, at the end, and the pattern judges
    for name in ("beach:", "_ggui:", "BEACH:x", "beach", "live"):
        for at in range(len(name) + 1):
            for code in range(128):
                other = name[:at] + chr(code) + name[at:]
                assert is_reserved(other) == is_reserved(other + rule), repr(other)
