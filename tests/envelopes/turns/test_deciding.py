"""What follows a reply and its calls: pure, from what is stored."""

from __future__ import annotations

import pytest

from envelopes.models import ToolCall, Turn
from envelopes.providers.transcript import extended, tool_use
from envelopes.registries.turn_states import TurnState, turn_states
from envelopes.turns.deciding import (
    AfterReply,
    Answer,
    Ask,
    Delegate,
    Fail,
    GoOn,
    PassOn,
    PutAside,
    ReplyEnd,
    RetryLimits,
    Settle,
    Wait,
    after_calls,
    after_reply,
    corrections_after,
    resumes,
)
from envelopes.types import JsonObject

RETRY_LIMITS = RetryLimits(corrections=2, steps=5)
END = ReplyEnd("end_turn")


def _turn(*called: tuple[str, JsonObject], **fields: object) -> Turn:
    """A turn whose last reply made these calls: name and result, ``{}`` for none yet."""
    blocks = [tool_use(f"c{number}", name, {}) for number, (name, _) in enumerate(called)]
    results = {f"c{number}": result for number, (_, result) in enumerate(called) if result}
    return Turn(messages=extended([], "assistant", blocks), results=results, **fields)


def _spoke(state: str, **more: object) -> tuple[str, JsonObject]:
    return "respond", {"ok": {"turnState": state, **more}}


REFUSED = ("respond", {"error": {"code": "VALIDATION_FAILED"}})
FOUND = ("search", {"ok": []})


@pytest.mark.parametrize(
    ("turn", "follows"),
    [
        (_turn(_spoke("complete")), Settle("complete", "complete")),
        (_turn(_spoke("clarifying")), Settle("clarifying", "clarifying")),
        (_turn(_spoke("error")), Settle("error", "error")),
        (_turn(_spoke("passed", passTo="drafter")), PassOn("drafter")),
        (_turn(_spoke("awaiting")), GoOn()),
        # What was declared last holds, refused calls declare nothing.
        (_turn(_spoke("complete"), _spoke("awaiting")), GoOn()),
        (_turn(_spoke("complete"), REFUSED), Settle("complete", "complete")),
        # It cannot be over while something that it called has not run.
        (_turn(_spoke("complete"), ("search", {})), GoOn()),
        (_turn(REFUSED), GoOn()),
    ],
)
def test_what_follows_a_reply(turn: Turn, follows: AfterReply) -> None:
    assert after_reply(turn, END, RETRY_LIMITS) == follows


def test_a_state_of_an_application_settles_as_complete_if_it_is_terminal() -> None:
    with turn_states.including(TurnState("archived", True, True, False)):
        assert after_reply(_turn(_spoke("archived")), END, RETRY_LIMITS) == Settle("archived", "complete")


@pytest.mark.parametrize(
    ("ended", "called", "counts", "word"),
    [
        (ReplyEnd("end_turn"), (), True, "Nothing of that reached anyone"),
        (ReplyEnd("max_tokens"), (FOUND,), True, "cut at the length limit"),
        (ReplyEnd("tool_use", prose=True), (FOUND,), False, "Text outside respond()"),
        (ReplyEnd("tool_use"), (FOUND,), False, ""),
    ],
)
def test_a_model_is_corrected_and_not_for_ever(
    ended: ReplyEnd, called: tuple[tuple[str, JsonObject], ...], counts: bool, word: str
) -> None:
    follows = after_reply(_turn(*called), ended, RETRY_LIMITS)
    assert isinstance(follows, GoOn)
    assert bool(follows.correction) is bool(word)
    assert word in follows.correction
    assert corrections_after(_turn(*called), ended) == counts

    last = after_reply(_turn(*called, corrections=2), ended, RETRY_LIMITS)
    assert isinstance(last, Fail) is counts


@pytest.mark.parametrize("reason", ["refusal", "model_context_window_exceeded"])
def test_some_ends_are_final_whatever_was_said(reason: str) -> None:
    assert isinstance(after_reply(_turn(_spoke("complete")), ReplyEnd(reason), RETRY_LIMITS), Fail)


def _calls(*states: str) -> list[ToolCall]:
    return [ToolCall(pk=number, state=state) for number, state in enumerate(states, start=1)]


def test_calls_without_an_answer_are_asked_about_or_run() -> None:
    requested, waiting = _calls("requested", "awaiting-approval")

    def follows(*calls: ToolCall) -> object:
        return after_calls(_turn(FOUND), calls, RETRY_LIMITS, injected=False, jobs=False)

    assert follows(requested, waiting) == Ask((requested,))
    assert follows(waiting) == Ask(())
    assert follows(*_calls("approved")) == GoOn()


@pytest.mark.parametrize(
    ("turn", "injected", "jobs", "follows"),
    [
        (_turn(_spoke("awaiting")), False, True, Wait()),
        (_turn(_spoke("awaiting")), True, True, Answer(0, "")),
        (_turn(REFUSED, nudges=1), False, True, Answer(1, "")),
        (_turn(FOUND, nudges=2), False, False, Answer(0, "")),
        (_turn(_spoke("awaiting")), False, False, Answer(1, "")),
        (_turn(_spoke("awaiting"), correction="Be brief.", nudges=1), False, False, Answer(2, "Be brief.")),
        (
            _turn(_spoke("awaiting"), nudges=1),
            False,
            False,
            Answer(2, "You said that more is to come. Call a tool now, or answer and settle."),
        ),
    ],
)
def test_what_follows_when_every_call_is_answered(
    turn: Turn, injected: bool, jobs: bool, follows: object
) -> None:
    assert after_calls(turn, [], RETRY_LIMITS, injected=injected, jobs=jobs) == follows


@pytest.mark.parametrize(
    ("turn", "code"),
    [
        (_turn(REFUSED, corrections=3), "model_misbehaved"),
        (_turn(_spoke("awaiting"), nudges=2), "no_answer"),
        (_turn(FOUND, steps=5), "too_many_steps"),
    ],
)
def test_patience_ends(turn: Turn, code: str) -> None:
    follows = after_calls(turn, [], RETRY_LIMITS, injected=False, jobs=False)

    assert isinstance(follows, Fail)
    assert follows.code == code


def test_a_turn_goes_on_after_the_last_decision_that_it_waits_for() -> None:
    assert resumes("suspended", pending=False)
    assert not resumes("suspended", pending=True)
    assert not resumes("settled", pending=False)


PARKED = TurnState("acme.parked", terminal=False, emits_envelope=False, holds_actor=False)
ASKING = _spoke("delegated", delegateTo="drafter", task="Draft")


@pytest.mark.parametrize(
    ("declared", "injected", "answered", "follows"),
    [
        # Whoever ran it is gone between the answer and what follows from it: that is done now.
        (ASKING, False, False, Delegate("drafter", "Draft")),
        (_spoke("acme.parked"), False, False, PutAside()),
        (_spoke("passed", passTo="drafter"), False, False, PassOn("drafter")),
        (_spoke("complete"), False, False, Settle("complete", "complete")),
        # What has come in meanwhile comes too late for an end, and does not keep another actor from being asked.
        (_spoke("complete"), True, False, Settle("complete", "complete")),
        (ASKING, True, False, Delegate("drafter", "Draft")),
        # It was done before, and with this the turn goes on.
        (ASKING, True, True, Answer(0, "")),
        (_spoke("acme.parked"), True, False, Answer(0, "")),
    ],
)
def test_what_was_declared_is_done_by_whoever_takes_the_turn_over(
    declared: tuple[str, JsonObject], injected: bool, answered: bool, follows: object
) -> None:
    with turn_states.including(PARKED):
        assert (
            after_calls(_turn(declared), [], RETRY_LIMITS, injected=injected, jobs=False, answered=answered)
            == follows
        )
