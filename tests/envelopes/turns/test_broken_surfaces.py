"""Surfaces as models break them: their call is refused with the component, the pointer and what is allowed, and nobody
sees a skeleton (D60). The kinds are those of the error lists of the official SDKs, and of what real models sent.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from django.urls import reverse
from pydantic import BaseModel

from envelopes.providers.anthropic import AnthropicProvider
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, ScriptedProvider, data, text
from envelopes.registries.tools import Tool, ToolContext
from envelopes.runtime.blocks import rules_of
from envelopes.types import Json, JsonObject
from tests.desk import Desk, desk, replies

pytestmark = pytest.mark.django_db(transaction=True)

BROKEN: list[JsonObject] = json.loads(
    Path(__file__).with_name("broken_surfaces.json").read_text(encoding="utf-8")
)
CATALOG = "https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json"
REPEATED = [case for case in BROKEN if case["repeated"]]
CORRECTED = [case for case in BROKEN if not case["repeated"]]


def batched(cases: list[JsonObject], size: int) -> list[list[JsonObject]]:
    """So many in one conversation: to begin one takes longer than a turn."""
    return [cases[at : at + size] for at in range(0, len(cases), size)]


class Nothing(BaseModel):
    pass


def strict(script: Any) -> ScriptedProvider:
    return ScriptedProvider(script, pace=0, strict_surfaces=True)


def surface(case: JsonObject) -> Say:
    return Say([data("a2ui-surface", {"messages": case["messages"]})])


def right(number: int) -> Say:
    root = {"id": "root", "component": "Text", "text": f"Put right {number}"}
    body = {"surfaceId": f"right-{number}", "catalogId": CATALOG, "components": [root]}
    return Say([data("a2ui-surface", {"version": "1.0", "createSurface": body})])


def told(request: ModelRequest) -> JsonObject:
    """What the model reads of its last call."""
    (block,) = [one for one in request.messages[-1]["content"] if one["type"] == "tool_result"]
    assert block["is_error"] is True
    found: JsonObject = json.loads(block["content"])
    return found


def leads_somewhere(call: Any, pointer: str) -> bool:
    """Whether a pointer leads to something in the call, or to what its parent lacks."""
    steps = pointer.split("/")[1:]
    for number, step in enumerate(steps):
        if isinstance(call, dict) and step in call:
            call = call[step]
        elif isinstance(call, list) and int(step) < len(call):
            call = call[int(step)]
        else:
            return isinstance(call, dict) and number == len(steps) - 1
    return True


def problems_of(case: JsonObject, error: JsonObject) -> list[str]:
    """What of a refusal is not as the case says."""
    wrong = []
    first = error["problems"][0]
    if first["pointer"] != f"/parts/0{case['pointer']}" or error["path"] != first["pointer"]:
        wrong.append(f"pointer {first['pointer']}")
    if first.get("component") != case["component"]:
        wrong.append(f"component {first.get('component')!r}")
    if not set(case["allowed"]) <= set(first.get("allowed", ())):
        wrong.append(f"allowed {first.get('allowed')}")
    if case["says"] not in first["message"] or first["message"] not in error["message"]:
        wrong.append(f"message {first['message']!r}")
    call = {"parts": [data("a2ui-surface", {"messages": case["messages"]})]}
    if not leads_somewhere(call, first["pointer"]):
        wrong.append("its pointer leads nowhere")
    return [f"{case['name']}: {one}" for one in wrong]


def test_there_are_thirty_kinds_and_at_least_ten_are_repeated() -> None:
    assert len({json.dumps(case["messages"]) for case in BROKEN}) == len(BROKEN) >= 30
    assert len(REPEATED) >= 10 and len(CORRECTED) >= 20


@pytest.mark.parametrize("cases", batched(CORRECTED, 10), ids=lambda cases: cases[0]["name"])
async def test_a_broken_surface_is_told_and_put_right_in_the_next_reply(
    cases: list[JsonObject],
) -> None:
    def script(request: ModelRequest) -> Reply:
        number = int(Conversation(request).text)
        is_told = "tool_result" in json.dumps(request.messages[-1])
        return Reply([right(number) if is_told else surface(cases[number])])

    wrong: list[str] = []
    async with desk(script, provider=strict) as d:
        for number, case in enumerate(cases):
            await d.say(str(number))
            wrong += problems_of(case, told(d.requests[-1]))
        assert wrong == []
        assert len(d.requests) == 2 * len(cases)
        assert {turn.turn_state for turn in await d.turns()} == {"complete"}
        html = await d.html()
        assert [f"Put right {number}" in html for number in range(len(cases))] == [True] * len(cases)
        assert "a2-skel" not in html and "could not be shown" not in html
        assert len(await d.parts("a2ui-surface")) == len(cases)


@pytest.mark.parametrize("cases", batched(REPEATED, 4), ids=lambda cases: cases[0]["name"])
async def test_a_surface_that_stays_broken_ends_in_a_polite_error_and_diagnostics_for_staff(
    cases: list[JsonObject], settings: Any, admin_client: Client
) -> None:
    settings.BEACH_MAX_CORRECTIONS = 3

    def script(request: ModelRequest) -> Reply:
        return Reply([surface(cases[int(Conversation(request).text)])])

    wrong: list[str] = []
    async with desk(script, provider=strict) as d:
        for number, case in enumerate(cases):
            await d.say(str(number))
            wrong += problems_of(case, told(d.requests[-1]))
            refused = [row for row in await d.rows("refused") if row.turn == number + 1]
            assert [row.data["error"]["problems"][0]["pointer"] for row in refused] == [
                f"/parts/0{case['pointer']}"
            ] * 4
        assert wrong == []
        assert len(d.requests) == 4 * len(cases)
        assert {(turn.turn_state, turn.finalized_by) for turn in await d.turns()} == {("error", "error")}
        errors = await d.parts("error")
        assert [error["data"]["code"] for error in errors] == ["model_misbehaved"] * len(cases)
        assert await d.parts("a2ui-surface") == []
        html = await d.html()
        assert "a2-skel" not in html and "a2-surface" not in html
        assert html.count("Please try again") == len(cases)
        for number, case in enumerate(cases):
            assert case["pointer"] in await staff_page(admin_client, d), number


async def staff_page(client: Client, d: Desk) -> str:
    """The conversation as staff see it."""
    url = reverse("admin:envelopes_session_conversation", args=[d.session.pk])
    answer = await sync_to_async(client.get)(url)
    assert answer.status_code == 200
    return str(answer.content.decode())


async def test_several_faults_are_told_at_once_and_what_is_allowed_once() -> None:
    rows = [
        {"id": "root", "component": "Column", "children": ["a", "b", "c"]},
        {"id": "a", "component": "Chart"},
        {"id": "b", "component": "Grid"},
        {"id": "c", "component": "Text"},
    ]
    body = {"surfaceId": "s", "catalogId": CATALOG, "components": rows}
    broken = Say([text("response", "Here."), data("a2ui-surface", {"version": "1.0", "createSurface": body})])
    async with desk(replies([broken], [right(0)]), provider=strict) as d:
        await d.say("Hello")
        found = told(d.requests[-1])["problems"]
        assert [one["component"] for one in found] == ["a", "b", "c"]
        assert [one["pointer"] for one in found] == [
            "/parts/1/data/createSurface/components/1/component",
            "/parts/1/data/createSurface/components/2/component",
            "/parts/1/data/createSurface/components/3/text",
        ]
        assert ["allowed" in one for one in found] == [True, False, True]
        assert await d.texts() == []


async def test_what_costs_nothing_that_people_miss_is_drawn_and_only_reported() -> None:
    rows = [
        {"id": "root", "component": "Column", "gap": 8, "justify": "left", "children": ["a"]},
        {"id": "a", "component": "Text", "text": {"path": "/words"}, "style": {}},
        {"id": "spare", "component": "Text", "text": 5},
    ]
    body = {"surfaceId": "s", "catalogId": CATALOG, "components": rows, "dataModel": {"words": "Read me"}}
    shown = Say([data("a2ui-surface", {"version": "1.0", "createSurface": body})], "awaiting")
    async with desk(replies([shown], [right(0)]), provider=strict) as d:
        await d.say("Hello")
        (result,) = d.requests[1].messages[-1]["content"]
        reported = json.loads(result["content"])["repaired"]
        assert [one["path"] for one in reported] == [
            "/components/0/gap",
            "/components/0/justify",
            "/components/1/text/path",
            "/components/1/style",
        ]
        assert "Read me" in await d.html()


async def test_a_surface_may_be_changed_without_being_sent_again_and_what_another_wrote_is_not_ones_fault() -> (
    None
):
    tool_made = [
        {"id": "root", "component": "Column", "children": ["a", "later"]},
        {"id": "a", "component": "Text", "text": "Old"},
    ]

    async def fill(context: ToolContext, args: object) -> Json:
        body = {"surfaceId": "s", "catalogId": CATALOG, "components": tool_made}
        await context.emit(data("a2ui-surface", {"version": "1.0", "createSurface": body}))
        return "shown"

    changed = {"surfaceId": "s", "components": [{"id": "a", "component": "Text", "text": "New"}]}
    update = Say([data("a2ui-surface", {"version": "1.0", "updateComponents": changed})])
    async with desk(
        replies([Call("fill", {})], [update]), Tool("fill", "", Nothing, fill), provider=strict
    ) as d:
        await d.say("Hello")
        assert [turn.turn_state for turn in await d.turns()] == ["complete"]
        assert "New" in await d.html()


@pytest.mark.parametrize("strict_surfaces", [True, False])
async def test_code_and_whoever_says_so_may_be_drawn_as_far_as_it_goes(strict_surfaces: bool) -> None:
    (case,) = [case for case in BROKEN if case["name"] == "a component of another library"]

    def provider(script: Any) -> Any:
        made = ScriptedProvider(script, pace=0, strict_surfaces=strict_surfaces)
        # A model, by what the runtime looks at.
        made.trusted = False  # type: ignore[misc]
        return made

    async with desk(replies([surface(case)], [right(0)]), provider=provider) as d:
        await d.say("Hello")
        assert len(d.requests) == 1 + strict_surfaces
        assert ("could not be shown" in await d.html()) is not strict_surfaces


def test_models_are_strict_and_code_is_not_unless_it_says_so() -> None:
    assert rules_of(AnthropicProvider("key", "claude-sonnet-5-5")).strict
    assert not rules_of(ScriptedProvider(lambda request: Reply([]))).strict
    assert rules_of(strict(lambda request: Reply([]))).strict
