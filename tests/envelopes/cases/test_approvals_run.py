"""Shared cases of approvals: what was shown is what runs, once, whatever crashes or comes twice."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from envelopes.approvals import service
from envelopes.models import Session, Turn
from envelopes.providers.scripted import Call, Say, text
from envelopes.runtime.process import shut_down
from envelopes.runtime.runner import Runner
from envelopes.session_state import live_sessions
from envelopes.testing import current
from envelopes.transports.panel.presenter.panel import html_of
from tests.desk import Desk, desk, replies
from tests.envelopes.cases.world import Till, cards, case_variants, named, states, until
from tests.shared import case, needs_shared
from tests.sockets import Socket, panel

pytestmark = [pytest.mark.django_db(transaction=True), needs_shared]

DONE = [Say([text("response", "Done.")])]


def _steps(given: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [step[name] for step in given["steps"] if name in step]


# -- what was shown -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "expected"), case_variants("approvals/ap-executes-exactly-what-was-shown.yaml")
)
async def test_ap_executes_exactly_what_was_shown(given: dict[str, Any], expected: dict[str, Any]) -> None:
    requests, resumes = _steps(given, "request"), _steps(given, "agent_resumes_with")
    decision = _steps(given, "decide")[-1]
    args = [dict(request["args"]) for request in requests]
    asked = [Call(request["toolName"], value) for request, value in zip(requests, args, strict=True)]
    again = [[Call(resume["toolName"], dict(resume["args"]))] for resume in resumes]
    ids = [request["toolCallId"] for request in requests] + [
        r["toolCallId"] for r in resumes if "toolCallId" in r
    ]
    till = Till()
    if "args" in decision:
        await _decided_with_arguments(till, asked, decision)
    else:
        async with desk(replies(asked, *again, DONE), *till.tools(), provider=named(ids)) as d:
            await d.say("Refund")
            for change in _steps(given, "agent_mutates_args"):
                args[0].update(change)
            await d.decide(decision["decision"], which=0)
            await _asked_again(d, expected, resumes=bool(resumes))
    executed = [[name, value] for name, value in till.executed]
    if "executed" in expected:
        assert executed == expected["executed"]
    assert len(executed) == expected.get("executed_count", 1)
    for name, value in till.executed:
        assert name not in expected.get("executed_none_of", [])
        assert value["amount"] != expected.get("executed_none_with", {}).get("amount")


async def _asked_again(d: Desk, expected: dict[str, Any], *, resumes: bool) -> None:
    if resumes or expected.get("new_approval_needed"):
        assert await states(d) == ["granted", "pending"]
    else:
        assert await states(d) == ["granted"]
    if expected.get("outcome_of_second_request") == "rejected":
        assert [row.data["call"] for row in await d.rows("refused")] == ["refund"]
        assert await d.texts() == ["Done."]


async def _decided_with_arguments(till: Till, asked: list[Call], decision: dict[str, Any]) -> None:
    """Through the socket: only there can somebody send more than the decision."""
    async with panel(replies(asked, DONE), *till.tools()) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        await socket.ask({"type": "message", "text": "Refund"})
        await socket.until(lambda frame: "data-decide" in str(frame.get("ops")))
        approval = await sync_to_async(session.approvals.get)()
        frame = {"type": "decide", "approval": approval.approval_id, "decision": decision["decision"]}
        answer = await socket.ask({**frame, "args": decision["args"], "toolName": decision["toolName"]})
        assert (answer["type"], answer["state"]) == ("ack", "granted")
        await socket.until(lambda frame: "Done." in str(frame.get("ops")))
        await socket.close()


# -- once -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "expected"), case_variants("approvals/ap-resume-runs-nothing-twice.yaml"))
async def test_ap_resume_runs_nothing_twice(
    given: dict[str, Any], expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = _steps(given, "request")
    raises = _steps(given, "tool_raises")
    till = Till(raises=TimeoutError(raises[0]) if raises else None)
    asked: list[Any] = [Call(request["toolName"], dict(request["args"])) for request in requests]
    if "turn_does" in given["steps"][0]:
        asked.insert(0, Call("send_mail"))
    late = _steps(given, "new_turn_calls_tool")
    later = [[Call(new["toolName"], dict(new["args"]))] for new in late]
    # After a failure the agent tries the same again.
    later += [asked] if raises else []
    async with desk(replies(asked, *([DONE] if late else []), *later, DONE), *till.tools()) as d:
        await d.say("Refund")
        workers = sum(len(step.get("concurrently", [])) for step in given["steps"])
        if workers:
            await _resumed_by_several(d, workers)
        else:
            await d.decide("granted")
        for _ in _steps(given, "worker_resumes")[1:]:
            await _redelivered(d)
        if late:
            tomorrow = timezone.now() + timedelta(days=1)
            monkeypatch.setattr(timezone, "now", lambda: tomorrow)
            await d.say("Again")
        effects = {
            "tool_executions": till.count(),
            "tool_attempts": till.count(),
            "send_mail": till.count("send_mail"),
            "approvals_requested": len(await d.approvals()),
        }
        for name, number in expected["effects"].items():
            assert effects[name] == number, name
        if raises:
            assert (await d.calls())[0].state == "failed"
            assert await states(d) == ["granted", "pending"]
            told = d.requests[1].messages[-1]["content"][-1]
            assert told["is_error"] is True


async def _resumed_by_several(d: Desk, workers: int) -> None:
    await d.runner.stop()
    await d.decide("granted")
    runners = [Runner(f"worker{number}:1:") for number in range(workers)]
    await asyncio.gather(*(runner.start() for runner in runners))
    try:
        for runner in runners:
            runner.wake(d.session.pk)
        await until(lambda: _settled(d))
    finally:
        await asyncio.gather(*(runner.stop() for runner in runners))


async def _settled(d: Desk) -> bool:
    return all(turn.status == "settled" for turn in await d.turns())


async def _redelivered(d: Desk) -> None:
    d.runner.wake(d.session.pk)
    await d.runner._sweep_once()
    await d.quiet()


# -- restarts -------------------------------------------------------------------------------------------------------


async def _restart() -> None:
    """Everything that a process keeps in memory is gone. Real ones are killed in tests/faults/test_kill.py."""
    await shut_down()
    live_sessions.clear()


async def _shown(session: Session) -> dict[str, str]:
    def read() -> dict[str, str]:
        with live_sessions.present(session, "panel") as view:
            return cards(html_of(view))

    return await sync_to_async(read)()


async def test_ap_pending_survives_restart_and_reconnect() -> None:
    loaded = case("approvals/ap-pending-survives-restart-and-reconnect.yaml")
    (request,) = _steps(loaded["input"], "request")
    expected = loaded["expected"]
    till = Till()
    script = replies([Call(request["toolName"], dict(request["args"]))], DONE)
    async with panel(script, *till.tools()) as (session, browser, who):
        c1 = await Socket(browser, session.public_id).open()
        await c1.ask({"type": "message", "text": "Refund"})
        await c1.until(lambda frame: "data-decide" in str(frame.get("ops")))
        approval = await sync_to_async(session.approvals.get)()
        await c1.close()
        c2 = await Socket(browser, session.public_id).open()
        assert c2.shown.count('data-decide=\\"granted\\"') == 1
        await c2.close()

        await _restart()
        c3 = await Socket(browser, session.public_id).open()
        assert await _shown(session) == {approval.approval_id: "pending"}
        assert (await sync_to_async(session.approvals.get)()).state == "pending"
        # The runner of this process is stopped between the decision and what it leads to.
        process = current()
        assert process is not None
        assert process.runner is not None
        await process.runner.stop()
        frame = {"type": "decide", "approval": approval.approval_id, "decision": "granted"}
        assert (await c3.ask(frame))["state"] == expected["final_state"]
        assert till.count() == 0
        await c3.close()

        await _restart()
        c4 = await Socket(browser, session.public_id).open()
        await c4.until(lambda frame: "Done." in str(frame.get("ops")))
        assert till.count() == expected["effects"]["tool_executions"]
        await until(sync_to_async(Turn.objects.filter(session=session, status="settled").exists))
        assert list((await _shown(session)).values()) == ["done"]
        assert not await sync_to_async(session.approvals.filter(state="pending").exists)()
        with pytest.raises(Exception, match="already approved"):
            await sync_to_async(service.decide)(approval.approval_id, "denied", who)
        await c4.close()
