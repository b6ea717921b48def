"""A session's state: proposed by agents and peers, made once and whole, or refused with the reason (D15)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient, Client
from pydantic import BaseModel

from envelopes.access import Principal
from envelopes.delivery import envelope_for
from envelopes.delivery.rules import Reader
from envelopes.errors import RegistrationError, ValidationFailed
from envelopes.models import Event, Session, StateValue
from envelopes.providers.scripted import Call, Conversation, Reply, Say, data, text
from envelopes.registries.state_machines import StateMachine, StateMachineRegistry, state_machines
from envelopes.registries.tools import Tool, ToolContext
from envelopes.session_state import live_sessions
from envelopes.signals import state_transition_rejected
from envelopes.turns.states import _refused, states_of
from envelopes.types import Json
from tests.desk import desk, replies
from tests.envelopes.transports.program import at_door

pytestmark = pytest.mark.django_db(transaction=True)


class Nothing(BaseModel):
    pass


CART = {
    "component": "cart",
    "coordinates": {
        "status": {
            "initial": "open",
            "transitions": {"open": ["paid", "dropped"], "paid": [], "dropped": ["open"]},
        },
        "delivery": {"initial": "none", "transitions": {"none": ["sent"], "sent": []}},
    },
    "allowHandlerTransitions": True,
}


def machine(**changes: Any) -> StateMachine:
    return StateMachineRegistry("state machine").register({**CART, **changes})


@pytest.fixture(autouse=True)
def machines() -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(state_machines.including(machine()))
        stack.enter_context(
            state_machines.including(
                machine(component="bay", allowHandlerTransitions=False, allowPeerTransitions=True)
            )
        )
        yield


@contextmanager
def heard() -> Iterator[list[dict[str, Any]]]:
    found: list[dict[str, Any]] = []

    def take(**arguments: Any) -> None:
        found.append(arguments)

    state_transition_rejected.connect(take)
    try:
        yield found
    finally:
        state_transition_rejected.disconnect(take)


async def states(session: Session) -> dict[str, str]:
    return await sync_to_async(states_of)(session)


BEGUN = {"cart.status": "open", "cart.delivery": "none", "bay.status": "open", "bay.delivery": "none"}


async def test_what_an_agent_proposes_is_made_and_nobody_but_peers_gets_it() -> None:
    script = replies(
        [Say([data("setState", {"cart.status": "paid", "cart.delivery": "sent"}), text("response", "Paid.")])]
    )
    async with at_door(script) as (_, d):
        before = await states(d.session)
        await d.say("Pay")
        now = await states(d.session)
        (turn,) = await d.turns()
        person = await sync_to_async(envelope_for)(turn, Reader("person"))
        peer = await sync_to_async(envelope_for)(turn, Reader("peer"))
        html = await d.html()

    assert before == BEGUN
    assert now == {**BEGUN, "cart.status": "paid", "cart.delivery": "sent"}
    assert [part["metadata"]["partType"] for part in person["parts"]] == ["response"]
    assert peer["parts"][0] == {
        "data": {"cart.status": "paid", "cart.delivery": "sent"},
        "metadata": {"partType": "setState"},
    }
    assert "cart.status" not in html
    value = await StateValue.objects.aget(name="cart.status")
    assert (await Event.objects.aget(session=d.session, seq=value.seq)).part_type == "setState"


@pytest.mark.parametrize(
    ("patch", "told"),
    [
        ({"cart.status": "paid", "cart.delivery": "lost"}, "cart.delivery cannot go from 'none' to 'lost'."),
        ({"cart.status": "paid", "cart.colour": "red"}, "There is no coordinate 'cart.colour'."),
        ({"cart.status": "paid", "basket.status": "paid"}, "There is no coordinate 'basket.status'."),
        (
            {"cart.status": "paid", "bay.status": "paid"},
            "The state of 'bay' is not changed by an agent's reply.",
        ),
    ],
)
async def test_all_of_a_patch_is_made_or_none_and_everybody_who_must_know_is_told(
    patch: dict[str, str], told: str
) -> None:
    asked: list[Any] = []

    def script(request: Any) -> Reply:
        asked.append(Conversation(request))
        if len(asked) == 1:
            return Reply([Say([data("setState", patch), text("thinking", "Paying.")], "awaiting")])
        return Reply([Say([text("response", "I could not.")])])

    with heard() as signals:
        async with desk(script) as d:
            await d.say("Pay")
            now = await states(d.session)
            (row,) = await d.rows("state-refused")
            (turn,) = await d.turns()

    assert now == BEGUN
    assert not await StateValue.objects.aexists()
    assert await sync_to_async(lambda: list(Event.objects.filter(part_type="setState")))() == []
    assert (row.audience, row.turn, row.data["patch"], row.data["source"]) == ("audit", 1, patch, "actor")
    assert [reason["message"] for reason in row.data["reasons"]] == [told]
    (signal,) = signals
    assert (signal["turn_id"], signal["patch"], signal["reasons"]) == (
        turn.public_id,
        patch,
        row.data["reasons"],
    )
    answer = json.dumps(turn.messages)
    assert "STATE_TRANSITION_REJECTED" in answer and json.dumps(told)[1:-1] in answer.replace(
        "\\\\", "\\"
    ).replace('\\"', '"')
    assert await d.texts() == ["I could not."] and await d.texts("thinking") == ["Paying."]


async def test_a_tool_is_told_that_its_change_was_refused_and_the_rest_of_it_stays() -> None:
    heard: list[ValidationFailed] = []

    async def pay(context: ToolContext, args: Nothing) -> Json:
        try:
            await context.emit(data("setState", {"cart.status": "lost"}), text("thinking", "Paying."))
        except ValidationFailed as error:
            heard.append(error)
        await context.emit(data("setState", {"cart.status": "paid"}))
        return {}

    script = replies([Call("pay", {})], [Say([text("response", "Paid.")])])
    async with desk(script, Tool("pay", "", Nothing, pay)) as d:
        await d.say("Pay")
        assert (await states(d.session))["cart.status"] == "paid"
        assert len(await d.rows("state-refused")) == 1
        assert await d.texts("thinking") == ["Paying."]

    (error,) = heard
    assert error.facts["path"] == "/0"
    assert error.message == "cart.status cannot go from 'open' to 'lost'."


async def test_a_change_of_nothing_is_refused() -> None:
    script = replies(
        [Say([data("setState", {}), text("response", "x")])], [Say([text("response", "Sorry.")])]
    )
    async with desk(script) as d:
        await d.say("Pay")
        (refused,) = await d.rows("refused")
        assert refused.data["error"]["path"] == "/parts/0/data"
        assert await d.parts("setState") == []


async def test_the_desk_lists_the_changes_that_were_asked_for_whoever_asked() -> None:
    def parts(patch: dict[str, str]) -> list[Any]:
        return [{"data": patch, "metadata": {"partType": "setState"}}]

    said = [data("setState", {"cart.status": "paid"}), data("setState", {"cart.colour": "red"})]
    async with at_door(replies([Say([*said, text("response", "Paid.")])])) as (caller, d):
        await caller.say(d.session, {"text": "Pay", "parts": parts({"bay.status": "paid"})})
        staff = await sync_to_async(User.objects.create_superuser)("ruth")
        client = Client()
        await sync_to_async(client.force_login)(staff)
        answer = await sync_to_async(client.get)(f"/admin/envelopes/session/{d.session.pk}/change/")
        page = answer.content.decode()

    history = page[page.index("State history") :]
    asked = [
        history.index(words) for words in ("cart.colour = red", "cart.status = paid", "bay.status = paid")
    ]
    assert asked == sorted(asked)


async def test_where_it_is_already_is_no_change_and_what_is_final_stays() -> None:
    script = replies(
        [Say([data("setState", {"cart.status": "paid"}), text("response", "One.")])],
        [Say([data("setState", {"cart.status": "paid"}), text("response", "Two.")])],
        [Say([data("setState", {"cart.status": "open"}), text("response", "Three.")])],
    )
    async with desk(script) as d:
        for words in ("a", "b", "c"):
            await d.say(words)
        assert (await states(d.session))["cart.status"] == "paid"
        assert len(await d.parts("setState")) == 2
        assert len(await d.rows("state-refused")) == 1
        assert await d.texts() == ["One.", "Two.", "Three."]


async def test_reading_the_log_again_makes_nothing_again() -> None:
    script = replies([Say([data("setState", {"cart.status": "dropped"}), text("response", "Dropped.")])])
    async with desk(script) as d:
        await d.say("Drop it")
        await StateValue.objects.filter(name="cart.status").aupdate(value="open")
        live_sessions.clear()
        await d.html()
        (turn,) = await d.turns()
        await sync_to_async(envelope_for)(turn, Reader("peer"))

        assert (await states(d.session))["cart.status"] == "open"


async def test_a_peers_patch_is_made_where_that_is_allowed_only() -> None:
    asked: list[Any] = []

    def script(request: Any) -> Reply:
        asked.append(request)
        return Reply([Say([text("response", "Noted.")])])

    def parts(patch: dict[str, str]) -> list[Any]:
        return [{"data": patch, "metadata": {"partType": "setState"}}]

    async with at_door(script) as (caller, d):
        with heard() as signals:
            made = await caller.say(d.session, {"text": "One", "parts": parts({"bay.status": "paid"})})
            refused = await caller.say(d.session, {"text": "Two", "parts": parts({"cart.status": "paid"})})
        now = await states(d.session)
        (row,) = await d.rows("state-refused")
        messages = await d.rows("message")

    assert (made.status_code, refused.status_code) == (200, 200)
    assert now == {**BEGUN, "bay.status": "paid"}
    assert (row.data["source"], row.data["reasons"][0]["message"]) == (
        "peer",
        "The state of 'cart' is not changed by a peer.",
    )
    assert [signal["turn_id"] for signal in signals] == [""]
    assert [message.data["parts"] for message in messages] == [
        parts({"bay.status": "paid"}),
        parts({"cart.status": "paid"}),
    ]
    assert "bay.status" not in str(asked[0].messages)


async def test_a_persons_message_changes_no_state() -> None:
    user = await sync_to_async(User.objects.create_user)("ada")
    async with desk(
        replies([Say([text("response", "Hello.")])]), owner=Principal(user=user, name="Ada")
    ) as d:
        client = AsyncClient()
        await client.aforce_login(user)
        body = {
            "text": "Hi",
            "parts": [{"data": {"bay.status": "paid"}, "metadata": {"partType": "setState"}}],
        }
        answer = await client.post(
            f"/api/sessions/{d.session.public_id}/messages", body, content_type="application/json"
        )

        assert (answer.status_code, answer.json()["path"]) == (400, "/parts/0")
        assert await states(d.session) == BEGUN


async def test_the_desk_shows_where_a_session_is_and_what_moved_it() -> None:
    script = replies(
        [
            Say(
                [
                    data("setState", {"cart.status": "paid"}),
                    data("setState", {"cart.colour": "red"}),
                    text("response", "Paid."),
                ]
            )
        ]
    )
    async with desk(script) as d:
        await d.say("Pay")
        seq = (await StateValue.objects.aget()).seq
        staff = await sync_to_async(User.objects.create_superuser)("ruth")
        client = Client()
        await sync_to_async(client.force_login)(staff)
        page = (
            await sync_to_async(client.get)(f"/admin/envelopes/session/{d.session.pk}/change/")
        ).content.decode()

    assert f'<code>cart.status</code> paid <a href="#event-{seq}">#{seq}</a>' in page
    assert "<code>cart.delivery</code> none" in page
    assert "Requested state changes: cart.colour = red. Refused: There is no coordinate" in page


def test_a_state_whose_machine_has_changed_leads_back_to_the_beginning() -> None:
    now = {"cart.status": "gone"}
    assert _refused(now, "cart.status", "open", "actor") is None
    refused = _refused(now, "cart.status", "paid", "actor")
    assert refused is not None and refused["allowed"] == ["open"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"component": "shop.cart"}, "not a name for a state machine"),
        ({"component": ""}, "not a name"),
        ({"coordinates": {}}, "coordinates"),
        ({"coordinates": {"a.b": {"initial": "x", "transitions": {"x": []}}}}, "not a name for a coordinate"),
        ({"coordinates": {"a": {"initial": "y", "transitions": {"x": []}}}}, "goes to y"),
        ({"coordinates": {"a": {"initial": "x", "transitions": {"x": ["z"]}}}}, "goes to z"),
        ({"coordinates": {"a": {"initial": "", "transitions": {"": []}}}}, "has no name"),
        ({"coordinates": {"a": {"initial": "x", "transitions": {"x": "x"}}}}, "transitions"),
        ({"allowhandlertransitions": True}, "Extra inputs"),
    ],
)
def test_a_machine_that_cannot_be_meant_is_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(RegistrationError, match=told):
        machine(**changes)


def test_a_file_holds_one_or_several(tmp_path: Path) -> None:
    path = tmp_path / "state-machine.json"
    registry = StateMachineRegistry("state machine")
    path.write_text(json.dumps(CART))
    assert [one.name for one in registry.register_file(path)] == ["cart"]
    path.write_text(json.dumps([{**CART, "component": "bay"}, {**CART, "component": "hub"}]))
    assert [one.name for one in registry.register_file(path)] == ["bay", "hub"]
    assert registry.place("hub").module == __name__
    for wrong in ("{", "7", "[7]"):
        path.write_text(wrong)
        with pytest.raises(RegistrationError):
            registry.register_file(path)
