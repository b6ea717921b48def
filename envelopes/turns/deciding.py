"""What follows in a turn, from what is stored. Pure: nothing is read or written here; ``steps`` stores it.

The end of a turn has three steps: *decide* (here), *prepare* what has to be asked of others (``runtime.preparing``),
*settle* in one transaction (``steps.end_reply``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from envelopes.costs import money
from envelopes.models import ToolCall, Turn
from envelopes.protocol.parts import Part
from envelopes.protocol.respond import RESPOND
from envelopes.registries.statuses import CallStatus, TurnStatus
from envelopes.registries.turn_states import TurnState, turn_states
from envelopes.turns.spending import Asked
from envelopes.types import JsonObject


@dataclass(frozen=True)
class RetryLimits:
    """How many corrections, as many nudges, and how many steps a turn may take; then it is given up. So it is beyond
    these ``tokens`` and this ``cost``; 0 for no bound. ``reached``: code and sentence of the day's bound, if
    it is."""

    corrections: int
    steps: int
    tokens: int = 0
    cost: float = 0.0
    reached: tuple[str, str] | None = None


@dataclass(frozen=True)
class ReplyEnd:
    """How a reply ended. ``prose``: it held text outside of respond(). ``cut`` are streamed bubbles that never became a
    part. ``shortened``: what its model did not get to read, for want of room (``protocol.rows.ProviderData``).
    ``estimated``: nobody has counted ``usage``."""

    stop_reason: str | None
    usage: JsonObject = field(default_factory=dict)
    prose: bool = False
    cut: Sequence[str] = ()
    shortened: JsonObject = field(default_factory=dict)
    estimated: bool = False


@dataclass(frozen=True)
class Prepared:
    """What was asked of others before a turn settles: parts of the runtime that belong to its answer. ``context``: what
    became of ``llm-context`` (``protocol.rows.SettledData``), where an originator consumes it; ``asked``: what that
    took."""

    parts: Sequence[Part] = ()
    context: str = ""
    asked: Asked | None = None


# -- what may follow ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fail:
    """It ends without an answer, and the person is told."""

    code: str
    text: str


@dataclass(frozen=True)
class Settle:
    """``retry`` is the error part by which it ends, where that asks for another attempt."""

    turn_state: str
    finalized_by: str
    retry: JsonObject | None = None


@dataclass(frozen=True)
class PassOn:
    """Another actor takes over."""

    actor: str
    turn_state: str = "passed"


@dataclass(frozen=True)
class Delegate:
    """Another actor answers in this turn."""

    actor: str
    task: str = ""


@dataclass(frozen=True)
class PutAside:
    """Its actor is let go of until something comes in."""


@dataclass(frozen=True)
class GoOn:
    """Run the calls that may run, then see. ``correction`` is what the model hears with their results."""

    correction: str = ""


@dataclass(frozen=True)
class Ask:
    """Nothing more can run before people have decided; these calls have to be asked about first."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True)
class Wait:
    """Nothing to say before a job has its result."""


@dataclass(frozen=True)
class Answer:
    """Give the model the results; ``nudges`` counts how often in a row it only said that more is to come."""

    nudges: int
    correction: str


Declared: TypeAlias = Settle | PassOn | Delegate | PutAside
AfterReply: TypeAlias = Fail | Declared | GoOn
AfterCalls: TypeAlias = Fail | GoOn | Ask | Wait | Answer | Declared


# -- after a reply ------------------------------------------------------------------------------------------------

TOO_LONG = "too_long"
"""The code of a turn that its model had no room for."""

LONG_WAY_ON = "Ask again: what came before is then left out. Or start a new conversation."

_ENDINGS = {
    "refusal": Fail("model_refused", "The model declined to answer this."),
    "model_context_window_exceeded": Fail(TOO_LONG, f"This has become too long for the model. {LONG_WAY_ON}"),
}
"""Stop reasons after which asking again changes nothing."""

ANSWERED = "functionResponses"
"""Where the result of respond() holds what functions gave that its parts had called."""

_MISBEHAVED = Fail(
    "model_misbehaved",
    "The model did not manage to answer in a form that can be shown. Please try again, or ask in other words.",
)


def last_reply(turn: Turn) -> list[JsonObject]:
    """The blocks of the assistant's last message, if that is the last message."""
    if turn.messages and turn.messages[-1]["role"] == "assistant":
        content: list[JsonObject] = turn.messages[-1]["content"]
        return content
    return []


def calls_of(turn: Turn) -> list[JsonObject]:
    """The tool calls of the last reply, respond() included, as the model made them."""
    return [block for block in last_reply(turn) if block.get("type") == "tool_use"]


def corrections_after(turn: Turn, ended: ReplyEnd) -> int:
    """How often the model was corrected, this reply included: one that says nothing, or is cut, counts."""
    return turn.corrections + (not calls_of(turn) or ended.stop_reason == "max_tokens")


def after_reply(turn: Turn, ended: ReplyEnd, retry_limits: RetryLimits) -> AfterReply:
    """What follows the reply that stands at the end of ``turn``'s messages."""
    ending = _ENDINGS.get(ended.stop_reason or "")
    if ending is not None:
        return ending
    calls = calls_of(turn)
    state, declared = _declared(turn, calls)
    if declared is not None:
        return declared
    if corrections_after(turn, ended) > retry_limits.corrections:
        return _MISBEHAVED
    return GoOn(_correction(ended, calls, state))


def _declared(turn: Turn, calls: list[JsonObject]) -> tuple[TurnState | None, Declared | None]:
    """The state that the last reply has declared, and what follows from it, if that reply did nothing else."""
    spoken = [turn.results.get(block["id"], {}).get("ok") for block in calls if block["name"] == RESPOND]
    declared = next((ok for ok in reversed(spoken) if ok), None)
    # Whoever called functions of ours goes on to hear what they gave.
    asked = any(ok and ok.get(ANSWERED) for ok in spoken)
    # One whose application has gone meanwhile is no state any more: the model is asked again.
    state = turn_states.get(declared["turnState"]) if declared else None
    if not declared or state is None or asked or len(spoken) < len(calls):
        return state, None
    return state, _as_declared(state, declared)


def _as_declared(state: TurnState, declared: JsonObject) -> Declared | None:
    """What the state says that was declared last; None where its actor goes on."""
    if state.delegates:
        return Delegate(declared["delegateTo"], declared.get("task") or "")
    if state.passes:
        return PassOn(declared["passTo"], state.name)
    if state.terminal:
        return Settle(state.name, state.finalized_by, declared.get("retry"))
    return None if state.holds_actor else PutAside()


def _correction(ended: ReplyEnd, calls: list[JsonObject], state: TurnState | None) -> str:
    if ended.stop_reason == "max_tokens":
        return "Your reply was cut at the length limit. What was complete is kept. Go on, in shorter calls."
    if not calls:
        return "Nothing of that reached anyone: the only way to say something is the tool respond()."
    unheard = "Text outside respond() reached nobody." if ended.prose else ""
    if state is None or not (state.passes or state.delegates):
        return unheard
    early = f"Nobody was asked yet: you called tools, too. Declare {state.name!r} again once you have their results."
    return f"{unheard} {early}".strip()


# -- after its calls ----------------------------------------------------------------------------------------------


def only_spoke(turn: Turn) -> bool:
    """Whether the last reply called nothing but respond(), and was understood."""
    calls = calls_of(turn)
    return bool(calls) and all(block["name"] == RESPOND for block in calls) and not _refused_any(turn, calls)


def _refused_any(turn: Turn, calls: list[JsonObject]) -> bool:
    return any("error" in turn.results.get(block["id"], {}) for block in calls)


def after_calls(
    turn: Turn,
    unanswered: Sequence[ToolCall],
    retry_limits: RetryLimits,
    *,
    injected: bool,
    jobs: bool,
    answered: bool = False,
) -> AfterCalls:
    """What follows when whatever of the last reply could run has run. ``unanswered`` are its calls without a result;
    ``injected``: something came in meanwhile; ``answered``: it is the answer of an actor that was asked; ``jobs``: some
    run in the background, asked only of a reply that ``only_spoke``."""
    if unanswered:
        asking = tuple(call for call in unanswered if call.state == CallStatus.REQUESTED)
        waits = asking or any(call.state == CallStatus.AWAITING_APPROVAL for call in unanswered)
        return Ask(asking) if waits else GoOn()
    calls = calls_of(turn)
    _, declared = _declared(turn, calls)
    if declared is not None and not _has_followed(declared, injected=injected, answered=answered):
        # Whoever ran it stopped between its answer and what follows from it, which may wait for others
        # (``runtime.preparing``).
        return declared
    spoke = bool(calls) and all(block["name"] == RESPOND for block in calls)
    refused = _refused_any(turn, calls)
    if spoke and not refused and not injected and jobs:
        return Wait()
    nudges = turn.nudges
    if injected or not spoke:
        nudges = 0
    elif not refused:
        nudges += 1
    if turn.corrections > retry_limits.corrections:
        return _MISBEHAVED
    if nudges > retry_limits.corrections:
        return Fail("no_answer", "The model kept saying that it is at work and never answered.")
    if (spent := _spent(turn, retry_limits)) is not None:
        return spent
    idle = nudges > 1 and not turn.correction
    nudge = "You said that more is to come. Call a tool now, or answer and settle."
    return Answer(nudges, nudge if idle else turn.correction)


def _spent(turn: Turn, limits: RetryLimits) -> Fail | None:
    """Whether it may not ask its model once more."""
    if turn.steps >= limits.steps:
        return Fail("too_many_steps", f"This took {turn.steps} steps without an end and was stopped.")
    if limits.tokens and turn.tokens >= limits.tokens:
        text = f"This took {turn.tokens:,} tokens without an end and was stopped. {_LESS}"
        return Fail("too_many_tokens", text)
    if limits.cost and turn.cost >= limits.cost:
        text = f"This has cost {money(turn.cost)} without an end and was stopped. {_LESS}"
        return Fail("too_expensive", text)
    if limits.reached is not None:
        code, text = limits.reached
        return Fail(code, f"{text} What is shown above was done.")
    return None


_LESS = "What is shown above was done. Ask for less at once."


def _has_followed(declared: Declared, *, injected: bool, answered: bool) -> bool:
    """Whether what was declared has been done before: a turn goes on after it by what has come in alone."""
    if isinstance(declared, Delegate):
        return answered
    return isinstance(declared, PutAside) and injected


def resumes(status: str, *, pending: bool) -> bool:
    """Whether a decision lets a turn in ``status`` go on; ``pending``: others are still open."""
    return status == TurnStatus.SUSPENDED and not pending
