"""The question of an approval as a surface of the runtime's, for whoever draws A2UI (D21, D22, R10)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient
from pydantic import BaseModel

from a2ui import ComponentTarget
from a2ui.compose import Button, Column, Surface, Text, event, update_data
from beachsite.suite import ROOT
from envelopes import intake
from envelopes.access import Principal
from envelopes.approvals.surface import APPROVE, DEFAULT, DENY, WHOLE, card, shown_facts, surface_id_of
from envelopes.delivery import Reader
from envelopes.delivery.envelope import envelope_for, partial_envelope_for
from envelopes.errors import AlreadyDecided, Forbidden
from envelopes.intake.fields import SurfaceRefused
from envelopes.models import Approval, Turn
from envelopes.protocol.surfaces import RUNTIME
from envelopes.providers.scripted import Call, Say, data, text
from envelopes.registries.surface_templates import (
    APPROVAL,
    SurfaceTemplate,
    TemplateContext,
    surface_templates,
)
from envelopes.registries.tools import ApprovalPolicy, Tool
from envelopes.session_state import live_sessions
from envelopes.types import JsonObject
from tests.desk import Desk, desk, replies
from tests.envelopes.transports.program import at_door
from tests.envelopes.transports.sse.test_sse import listen

pytestmark = pytest.mark.django_db(transaction=True)


LIMITS = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")


class Payment(BaseModel):
    to: str


async def _pay(context: object, args: Payment) -> Any:
    return {"paid": True}


PAY = Tool(
    "pay",
    "Pays.",
    Payment,
    _pay,
    approval=ApprovalPolicy(question=lambda args: f"Pay *{args.to}*?", risk="high"),
)


def asks(to: str = "Ada") -> Any:
    return replies([Call("pay", {"to": to})], [Say([text("response", "Done.")])])


@asynccontextmanager
async def asked(to: str = "Ada", **more: Any) -> AsyncIterator[tuple[Desk, Approval]]:
    async with desk(asks(to), PAY, **more) as d:
        await d.say("Pay")
        yield d, (await d.approvals())[0]


async def surfaces_of(d: Desk) -> dict[str, Any]:
    def read() -> dict[str, Any]:
        with live_sessions.open(d.session) as view:
            return {f"{one.owner} {one.id}": (one.data_model, one.html()) for one in view.surfaces}

    return await sync_to_async(read)()


async def press(d: Desk, approval: Approval, button: str, who: Principal | None = None, **more: Any) -> Any:
    target = ComponentTarget(RUNTIME, surface_id_of(approval.approval_id), button)
    done = await sync_to_async(intake.post_action)(d.session, who or d.owner, d.id(), target, **more)
    await d.quiet()
    return done


async def test_it_shows_the_question_its_arguments_and_two_buttons() -> None:
    async with asked("**Ada**") as (d, approval):
        ((name, (model, html)),) = (await surfaces_of(d)).items()
    assert name == f"{RUNTIME} beach:approval:{approval.approval_id}"
    assert model == {}
    # As it is, and not as Markdown (D21).
    assert "Pay ***Ada***?" in html
    assert "<strong>To</strong> **Ada**" in html
    assert "High risk" in html
    assert html.count("data-act") == 2
    used = {row["component"] for row in card(_data(), _context()).components}
    assert used == {"Card", "Column", "Text", "Button"}


def _data(**changed: Any) -> JsonObject:
    return {
        "approvalId": "a1", "question": "Pay?", "why": "", "facts": [], "risk": "low", "riskNote": "",
        "toolName": "pay", "args": {}, "expiresAt": None, **changed,
    }  # fmt: skip


def _context() -> TemplateContext:
    return TemplateContext("beach:approval:a1", "s", "tester", APPROVAL, "en-US", "UTC")


def test_what_cannot_be_seen_is_written_out_and_what_is_cut_says_so() -> None:
    (fact,) = shown_facts([], {"to": "Ada\u200b\u202e"}, "en-US")
    assert fact == {"label": "to", "value": '"Ada\\u200b\\u202e"'}
    long = card(_data(facts=[{"label": "Word", "value": "x" * 2_500}]), _context())
    (shown,) = (row["text"] for row in long.components if "xxx" in str(row.get("text")))
    assert "2100 more characters" in shown
    assert shown.count("x") == WHOLE == 400
    assert [row["id"] for row in long.components if row["component"] == "Button"] == ["deny"]
    (documented,) = (line for line in LIMITS.splitlines() if "stand on its surface" in line)
    assert f"| {WHOLE} |" in documented


@pytest.mark.parametrize(("button", "state"), [("approve", "granted"), ("deny", "denied")])
async def test_its_buttons_decide(button: str, state: str) -> None:
    async with asked() as (d, approval):
        assert await press(d, approval, button) == {
            "state": state,
            "seq": pytest.approx(await _last(d), abs=99),
        }
        await approval.arefresh_from_db()
        assert await surfaces_of(d) == {}
    assert (approval.state, approval.source, approval.decided_by) == (state, "chat", d.owner.key)


async def _last(d: Desk) -> int:
    return (await d.rows())[-1].seq


async def test_a_later_click_is_told_what_happened_and_recorded() -> None:
    async with asked() as (d, approval):
        await d.decide("denied")
        with pytest.raises(AlreadyDecided, match="You already denied this"):
            await press(d, approval, "approve")
        await approval.arefresh_from_db()
        assert approval.state == "denied"
        assert len(await d.rows("late-decision")) == 1


async def test_whoever_may_not_decide_cannot_by_it_either() -> None:
    async with at_door(asks(), PAY) as (caller, d):
        await d.say("Pay")
        (approval,) = await d.approvals()
        with pytest.raises(Forbidden):
            await press(d, approval, "approve")
        answer = await caller.ask(
            "post",
            f"/api/sessions/{d.session.public_id}/actions",
            {"surfaceId": surface_id_of(approval.approval_id), "componentId": "approve"},
        )
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        await approval.arefresh_from_db()
        assert approval.state == "pending"
        assert [row.data["by"] for row in await d.rows("tried-decision")] == [f"peer:{caller.peer.pk}"] * 2


async def test_what_is_no_button_decides_nothing() -> None:
    async with asked() as (d, approval):
        for name in ("root", "root-child", "nobody"):
            with pytest.raises(SurfaceRefused):
                await press(d, approval, name)
        await approval.arefresh_from_db()
        assert approval.state == "pending"


async def test_the_panel_keeps_its_own_card() -> None:
    async with asked() as (d, _):
        page = await d.html()
    assert page.count("b-approval__ask") == 1
    assert "b-surface" not in page


async def test_an_agent_can_neither_make_nor_change_one() -> None:
    def tried(d: Desk, message: JsonObject) -> None:
        with live_sessions.open(d.session) as view:
            (problem,) = view.surfaces.apply(message, owner="tester")
        assert problem.refused
        assert "belongs to the host" in problem.message

    async with asked() as (d, approval):
        there = surface_id_of(approval.approval_id)
        for message in (
            *Surface("beach:approval:x", Text("a")).create(),
            update_data(there, "/open", False),
            *Surface("mine", Button(Text("a"), event(APPROVE))).create(),
            *Surface("other", Button(Text("a"), event(DENY))).create(),
        ):
            await sync_to_async(tried)(d, message)


async def test_programs_that_draw_get_it_over_sse() -> None:
    async with at_door(asks(), PAY) as (caller, d):
        drawing = await listen(caller, d, "?surfaces=true")
        plain = await (await listen(caller, d)).seen("upToDate")
        await d.say("Pay")
        found = await drawing.seen("partReceived", 2)
        await plain.seen("partReceived", 1)
        await drawing.cut()
        await plain.cut()
    question, surface = (event.data for event in found.of("partReceived"))
    assert question["part"]["metadata"]["partType"] == "approval-request"
    assert surface["actor"] == RUNTIME
    assert "createSurface" in surface["part"]["data"]["messages"][0]
    assert len(plain.of("partReceived")) == 1


async def test_it_is_in_the_partial_envelope_of_who_draws_and_not_in_that_of_the_settled_turn() -> None:
    def kinds(of: Any, surfaces: bool) -> list[str]:
        turn = Turn.objects.select_related("session").get()
        return [part["metadata"]["partType"] for part in of(turn, Reader("peer", surfaces=surfaces))["parts"]]

    async with asked() as (d, _):
        assert await sync_to_async(kinds)(partial_envelope_for, True) == ["a2ui-surface", "approval-request"]
        assert await sync_to_async(kinds)(partial_envelope_for, False) == ["approval-request"]
        await d.decide("granted")
        assert await sync_to_async(kinds)(envelope_for, True) == ["response"]


async def test_over_http_a_click_decides_and_gets_the_envelope_that_it_led_to() -> None:
    user = await sync_to_async(User.objects.create_user)("ada")
    async with asked(owner=Principal(user=user, name="Ada")) as (d, approval):
        client = AsyncClient()
        await client.aforce_login(user)
        url = f"/api/sessions/{d.session.public_id}/actions"
        body = {"surfaceId": surface_id_of(approval.approval_id), "componentId": "approve"}
        first = await client.post(
            url, body, content_type="application/json", headers={"Idempotency-Key": "k"}
        )
        again = await client.post(
            url, body, content_type="application/json", headers={"Idempotency-Key": "k"}
        )
        late = await client.post(url, body | {"componentId": "deny"}, content_type="application/json")
        gone = await client.post(
            url, body | {"surfaceId": "beach:approval:x"}, content_type="application/json"
        )
        await approval.arefresh_from_db()
    assert first.status_code == again.status_code == 200
    assert first.json()["parts"][0]["text"] == "Done."
    assert again.json() == first.json()
    assert (late.status_code, late.json()["code"]) == (409, "already_decided")
    assert gone.status_code == 404
    assert (approval.state, approval.source) == ("granted", "http")


async def test_where_there_is_no_room_for_another_surface_it_is_asked_all_the_same(settings: Any) -> None:
    settings.BEACH_A2UI_LIMITS = {"surfaces": 1}
    live_sessions.clear()
    mine = data("a2ui-surface", Surface("mine", Text("a")).create()[0])
    script = replies([Say([mine], "awaiting"), Call("pay", {"to": "A"})], [Say([text("response", "Done.")])])
    async with desk(script, PAY) as d:
        await d.say("Pay")
        assert [*await surfaces_of(d)] == ["tester mine"]
        assert [row.data["code"] for row in await d.rows("diagnostic")] == ["TEMPLATE_FAILED"]
        await d.decide("granted")
        assert await d.texts() == ["Done."]
    live_sessions.clear()


async def test_questions_that_were_answered_make_room_for_the_next() -> None:
    script = replies(
        [Call("pay", {"to": "A"})], [Call("pay", {"to": "B"})], [Say([text("response", "Done.")])]
    )
    async with desk(script, PAY) as d:
        await d.say("Pay")
        await d.decide("granted")
        first, second = await d.approvals()
        assert [*await surfaces_of(d)] == [f"{RUNTIME} {surface_id_of(second.approval_id)}"]
        with pytest.raises(AlreadyDecided):
            await press(d, first, "deny")


async def test_an_application_draws_its_own_and_the_service_decides_all_the_same() -> None:
    def mine(data: JsonObject, context: TemplateContext) -> Surface:
        yes = Button(Text("Go ahead"), event(APPROVE), id="yes")
        return Surface(
            context.surface_id, Column(Text(data["question"]), yes, Button(Text("?"), event("ask"), id="no"))
        )

    with surface_templates.including(SurfaceTemplate(APPROVAL, mine)):
        async with asked() as (d, approval):
            ((_, (_, html)),) = (await surfaces_of(d)).items()
            assert "Go ahead" in html
            with pytest.raises(SurfaceRefused, match="decides nothing"):
                await press(d, approval, "no")
            await press(d, approval, "yes")
            await approval.arefresh_from_db()
    assert approval.state == "granted"
    assert await Turn.objects.acount() == 1


async def test_one_that_raises_is_told_to_staff_and_the_runtimes_own_asks() -> None:
    def broken(data: JsonObject, context: TemplateContext) -> Surface:
        raise RuntimeError("no")

    with surface_templates.including(SurfaceTemplate(APPROVAL, broken)):
        async with asked() as (d, approval):
            (row,) = await d.rows("diagnostic")
            assert "RuntimeError: no" in row.data["message"]
            await press(d, approval, "approve")
            await approval.arefresh_from_db()
    assert approval.state == "granted"
    assert surface_templates[APPROVAL] is DEFAULT
