"""Shared cases of privacy: names are no tickets, data models go to their agent, surfaces belong to theirs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from a2ui import PatchError
from envelopes import intake
from envelopes.access import COOKIE, Principal
from envelopes.models import Event, Session, Turn
from envelopes.providers.port import Provider
from envelopes.providers.scripted import Call, Reply, Say, ScriptedProvider, text
from envelopes.registries.actors import Actor, actors
from envelopes.session_state import live_sessions
from envelopes.testing import create_session
from envelopes.transports.panel.presenter.panel import html_of
from envelopes.turns import reply
from envelopes.turns.leases import Claim
from envelopes.types import JsonObject
from tests import factories
from tests.desk import replies
from tests.envelopes.cases.test_transport import button, surface
from tests.envelopes.cases.world import Till, buttons, text_of
from tests.shared import case, needs_shared
from tests.sockets import Browser, Socket, anonymous, panel

pytestmark = [pytest.mark.django_db(transaction=True), needs_shared]


# -- names are no tickets -----------------------------------------------------------------------------------------


async def test_pa_session_and_approval_ids_are_no_tickets() -> None:
    loaded = case("privacy-admin/pa-session-and-approval-ids-are-no-tickets.yaml")
    (raw,) = [step["send_raw"]["frames"] for step in loaded["input"]["steps"] if "send_raw" in step]
    (guesses,) = [step["guess"] for step in loaded["input"]["steps"] if "guess" in step]
    allowed = {*loaded["expected"]["frames_on_c2"]["all"]["error_any_of"], "VALIDATION_FAILED"}
    statuses = loaded["expected"]["http_as_bo"]["status_any_of"]
    till = Till()
    script = replies([Say([surface("s1", "go")], "awaiting"), Call("refund", {"order": "A1", "amount": 1})])
    async with panel(script, *till.tools()) as (session, browser, _):
        ada = await Socket(browser, session.public_id).open()
        await ada.ask({"type": "message", "text": "Refund"})
        await ada.until(lambda frame: "data-decide" in str(frame.get("ops")))
        approval = await sync_to_async(session.approvals.get)()
        target = await button(session)
        before = await sync_to_async(_counts)(session)

        bo, bo_is = anonymous()
        assert await _closed_with(Socket(bo, session.public_id)) == 4403
        own = await sync_to_async(create_session)(bo_is, "tester")
        c2 = await Socket(bo, own.public_id).open()
        names = {"sess-ada": session.public_id, "of-ada": approval.approval_id}
        frames = [
            *({key: names.get(value, value) for key, value in frame.items()} for frame in raw),
            # The same in frames as they are.
            {"type": "decide", "approval": approval.approval_id, "decision": "granted"},
            {"type": "action", "target": target},
            {"type": "edit", "target": target, "value": "x"},
            {"type": "message", "text": "hi", "sessionId": session.public_id},
        ]
        for number, frame in enumerate(frames):
            answer = await c2.ask(frame, message_id=f"f{number}")
            assert (answer["type"], answer["code"] in allowed) == ("error", True), answer
        # Whether something exists is not told: another name gets the same words.
        real = await c2.ask({"type": "decide", "approval": approval.approval_id, "decision": "granted"})
        made_up = await c2.ask({"type": "decide", "approval": "nothing", "decision": "granted"})
        assert {**real, "id": ""} == {**made_up, "id": ""}
        for guess in [session.public_id, *(g.replace("sess-ada", session.public_id) for g in guesses)]:
            assert await _http(bo, f"/chat/{guess}/") in statuses, guess
        for guess in [session.public_id.upper(), "sess-1", "1", f"{session.public_id}x"]:
            assert await _closed_with(Socket(bo, guess)) == 4403
        assert await sync_to_async(_counts)(session) == before
        assert till.executed == []
        for socket in (ada, c2):
            await socket.close()


def _counts(session: Session) -> tuple[int, int, str]:
    approval = session.approvals.get()
    return Event.objects.filter(session=session).count(), session.turns.count(), approval.state


async def _closed_with(socket: Socket) -> int:
    """The code with which it closes, before anything was said."""
    await socket.wire.connect(timeout=30)
    message = await socket.wire.receive_output(timeout=30)
    assert message["type"] == "websocket.close"
    code: int = message["code"]
    return code


async def _http(browser: Browser, path: str) -> int:
    def get() -> int:
        client = Client()
        client.cookies[COOKIE] = browser.cookies[COOKIE]
        status: int = client.get(path).status_code
        return status

    return await sync_to_async(get)()


# -- several agents in one conversation ---------------------------------------------------------------------------


def _nobody() -> Provider:
    return ScriptedProvider(lambda request: Reply([Say([text("response", "Yes.")])]), pace=0)


def _agent(name: str) -> Actor:
    return Actor(name=name, display_name=name, role="", instructions="", provider=_nobody)


def _speaks(session: Session, agent: str, content: Any) -> JsonObject | None:
    """What ``agent`` hears when it sends one surface part: nothing, or its refusal."""
    turn = factories.make_turn(session, actor=agent)
    claim = Claim(turn.pk, session.pk, turn.attempt)
    call = {"parts": [{"metadata": {"partType": "a2ui-surface"}, "data": content}], "turnState": "awaiting"}
    refusal = reply.record(claim, turn, reply.Respond(f"call{turn.number}", call))
    factories.settle_turn(turn)
    return refusal


def _text(session: Session, owner: str, surface_id: str) -> str:
    with live_sessions.open(session) as view:
        found = view.surfaces.get(owner, surface_id)
        return text_of(found.html()) if found is not None else ""


def test_pa_surfaces_belong_to_their_agent() -> None:
    loaded = case("privacy-admin/pa-surfaces-belong-to-their-agent.yaml")
    expected = loaded["expected"]
    with actors.including(_agent("a")), actors.including(_agent("b")):
        session = factories.make_session(actor="a")
        for number, (agent, content) in enumerate(loaded["input"]["steps"]):
            if "patch" in content:
                # Agents have no frame for a patch; inside, one reaches only what its owner has.
                with live_sessions.open(session) as view:
                    before = view.surfaces.snapshot()
                    with pytest.raises(PatchError):
                        view.surfaces.patch(agent, content["patch"]["surfaceId"], content["patch"]["ops"])
                    assert view.surfaces.snapshot() == before
            elif "malformed" in content:
                before = _text(session, "a", "main"), _text(session, "b", "main")
                refusal = _speaks(session, agent, "a string")
                assert refusal is not None
                assert refusal["code"] == "VALIDATION_FAILED"
                refused = Event.objects.filter(session=session, kind="refused").order_by("seq").last()
                assert refused is not None
                assert refused.actor == agent
                assert (_text(session, "a", "main"), _text(session, "b", "main")) == before
            else:
                assert _speaks(session, agent, content) is None, number
            after = expected["after_step"].get(str(number))
            if after:
                for name, words in after["text_of"].items():
                    owner, _, rest = name.partition(":")
                    assert _text(session, owner, rest.partition("/")[0]) == words
                for words in after.get("text_lacks", []):
                    assert words not in _text(session, "a", "main")
        with live_sessions.open(session) as view:
            mine = view.surfaces.get("b", "main")
            assert mine is not None
            assert not isinstance(mine.data_model, dict) or "v" not in mine.data_model
            assert view.surfaces.get("a", "main") is None


def test_pa_data_model_goes_to_its_owner_only() -> None:
    loaded = case("privacy-admin/pa-data-model-goes-to-its-owner-only.yaml")
    expected = loaded["expected"]
    who = Principal(owner_key="k" * 64)
    received: dict[str, list[JsonObject]] = {name: [] for name in loaded["input"]["agents"]}
    with actors.including(_agent("bank")), actors.including(_agent("weather")):
        session = create_session(who, "bank")
        for agent, messages in loaded["input"]["messages_from"].items():
            for message in messages:
                assert _speaks(session, agent, message) is None
        for number, step in enumerate(loaded["input"]["then"]):
            if "user_message_to" in step:
                # A message goes to the agent of the conversation.
                Session.objects.filter(pk=session.pk).update(actor=step["user_message_to"])
                intake.post_message(session, who, f"m{number}", "Hello")
            else:
                with live_sessions.present(session, "panel") as view:
                    (target,) = buttons(html_of(view))
                intake.post_action(session, who, f"m{number}", target)
            turn = Turn.objects.filter(session=session).order_by("number").last()
            assert turn is not None
            received[turn.actor].append(turn.trigger)
            factories.settle_turn(turn)
        for agent, wanted in expected["received"].items():
            assert len(received[agent]) == len(wanted)
            for trigger, one in zip(received[agent], wanted, strict=True):
                assert trigger["metadata"] == {
                    "a2uiClientDataModel": {
                        "version": "v0.9",
                        "surfaces": one["a2uiClientDataModel"]["surfaces"],
                    }
                }
                for name in one.get("context", {}):
                    assert trigger["action"]["context"].get(name) in (None, "")
        for words in expected["never_sent_anywhere"]:
            assert words not in json.dumps(received)
        told = json.dumps([turn.messages for turn in Turn.objects.filter(session=session, actor="weather")])
        assert "XX00" not in told
