"""The rows of a session's log: what kinds there are, who may get them, and what the data of each holds.

``Row`` is a row as readers see it: plain, frozen, without a database behind it. ``SHAPES`` names the data of every
kind; keys that are not always there are ``NotRequired``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict

from envelopes.protocol.decision_rows import EditIgnoredData, GrantData, LateDecisionData, TriedDecisionData
from envelopes.protocol.takeover import TakeoverData
from envelopes.types import Json, JsonObject

Audience = Literal["delivered", "audit"]
"""Whether a row may leave the server at all (D55); how it travels is for ``delivery``."""


class MessageData(TypedDict):
    """What a person wrote. ``id`` is the one that their client gave it; ``parts`` came with it, checked as
    inbound ones."""

    text: str
    name: str
    id: NotRequired[str]
    parts: NotRequired[list[JsonObject]]


class ActionData(TypedDict):
    """A click on a surface of ``owner``: the A2UI action, the DOM id that was clicked, and what it said."""

    action: JsonObject
    owner: str
    target: str
    label: str


class EditData(TypedDict):
    """A person's edit of a surface's data model, as RFC 6902 operations. ``target`` is the DOM id of the field."""

    owner: str
    surfaceId: str
    ops: list[JsonObject]
    target: str


class ShowData(TypedDict):
    """A person asked for more of a list that is cut: ``count`` items of the one with the DOM id ``target``."""

    owner: str
    surfaceId: str
    target: str
    count: int


class AgentCallData(TypedDict):
    """A surface of ``owner`` calls functions that its agent runs: the A2UI messages. ``forget`` are ids of calls that
    it shows no longer. ``clicked``: a person asked for it, and nothing shows the answer."""

    owner: str
    surfaceId: str
    messages: list[JsonObject]
    forget: list[str]
    clicked: bool


class AgentAnswerData(TypedDict):
    """The answer to one of these calls, as an A2UI message: what a tool gave, or that it took too long. Those of the
    agent itself are parts. ``source``: tool, timeout."""

    owner: str
    message: JsonObject
    source: str


class RendererAnswerData(TypedDict):
    """What a function of ours gave to the agent that called it, as an A2UI message."""

    message: JsonObject


class TurnData(TypedDict):
    """A turn has come to ``status`` (``statuses.TurnStatus``, never settled). ``reason``: new, started, resumed,
    recovered, approval, job, peer, state, came-in, retry, model or takeover. ``attempt`` counts its runners.

    ``turnState`` is what it waits in. ``goesOn``, in the first row of a turn: the number of the one whose data it goes
    on with, since that has had no envelope. ``delegatedFrom`` is the number of the turn in which what it says stands.
    ``retry`` says that it tries an earlier one again: ``{number, of, mode, at}``, of so many attempts, when. With the
    reason and the mode "model" its own model, which failed, is asked again then: ``who`` that is and ``why``, a word of
    ``providers.failures``, stand with it; without ``at`` it has been, and answers."""

    turnId: str
    number: int
    actor: str
    status: str
    reason: str
    attempt: int
    goesOn: NotRequired[int]
    turnState: NotRequired[str]
    delegatedFrom: NotRequired[int]
    retry: NotRequired[JsonObject]


class PartData(TypedDict):
    """A part, ``{text?, data?, metadata}``, with the state that was declared with it. ``live`` is the key of the
    streamed bubble that it replaces; ``late`` marks one that came after its turn had settled; ``ownCard``, data that
    the agent shows by an interface of its own, ``drawn``, data that a surface template shows; ``unbound`` says of a
    citation why it belongs to no data. ``stream``: data for a channel of the agent's own, ``{channel, mode, replay,
    complete?}`` as its contract had it then. ``by``: the key of the member of staff whose words they are."""

    part: JsonObject
    turnState: str
    live: NotRequired[str]
    late: NotRequired[Literal[True]]
    ownCard: NotRequired[Literal[True]]
    drawn: NotRequired[Literal[True]]
    unbound: NotRequired[str]
    stream: NotRequired[JsonObject]
    by: NotRequired[str]


class WithdrawnData(TypedDict):
    """Streamed text that did not become a part: the keys of its bubbles."""

    live: list[str]


class ToolData(TypedDict):
    """A call that a person was asked about has come to ``state`` (``statuses.CallStatus``). ``resolvedBy`` is the
    name of whoever found out what had become of it."""

    callId: str
    name: str
    state: str
    approvalId: str
    summary: NotRequired[str]
    error: NotRequired[JsonObject]
    resolvedBy: NotRequired[str]


class SettledData(TypedDict):
    """The end of a turn. ``finalizedBy``: complete, clarifying, error, cancelled, timeout (D9), passed (D67).

    ``llmContext``, where an originator consumes that: "made" by the second model, "actor" where the actor has said it,
    else why there is none: no-model, nothing-said, timeout, failed, empty, stopped by the person, interrupted by the
    end of the process, limit on what is spent, delegated: left to the actor that was asked, staff: one of them has
    answered. ``problem``, ``{code, message}``, is why a turn that another one waits for has no answer;
    ``delegatedFrom`` is the number of that one.
    ``stoppedBy``, where it was cancelled: person, program or staff. ``joined``: its message, which is row ``message``,
    is read and answered in the turn with this number (D66)."""

    turnState: str
    finalizedBy: str
    llmContext: NotRequired[str]
    problem: NotRequired[JsonObject]
    delegatedFrom: NotRequired[int]
    stoppedBy: NotRequired[str]
    joined: NotRequired[int]
    message: NotRequired[int]


class FreeTextData(TypedDict):
    """What a model wrote outside of respond()."""

    text: str


class RefusedData(TypedDict):
    """A call of the model that was refused: its name, the typed error, its input as far as it can be kept."""

    call: str
    error: JsonObject
    input: JsonObject


class NoteData(TypedDict):
    """The ``note`` of a respond() call."""

    note: str


class ToolResultData(TypedDict):
    """How a tool call ended. ``dataKind`` says that the result is data of that kind, None that it is none; ``shown``,
    that it is a part of its own as well. ``resolvedBy`` is the key of the principal who found out what had become of
    it."""

    callId: str
    name: str
    state: str
    result: Json
    error: JsonObject | None
    dataKind: str | None
    shown: NotRequired[Literal[True]]
    resolvedBy: NotRequired[str]


class StateRefusedData(TypedDict):
    """A proposed change of state, none of which was made, and why: ``{key, message, allowed?}`` for each key that may
    not change so. ``source`` is actor or peer."""

    patch: dict[str, str]
    reasons: list[JsonObject]
    source: str


class DiagnosticData(TypedDict):
    """What was repaired or closed for a surface of the call whose part ``part`` points to."""

    part: str
    code: str
    surfaceId: str
    path: str
    message: str
    failed: NotRequired[dict[str, str]]  # an application's code: component, catalog, what it raised


Blocked = Literal[
    "stage_disabled",
    "dark_launch",
    "not_an_operator",
    "flag_unknown",
    "flag_off",
    "consent_needed",
    "consent_refused",
]
"""Why an experimental document is not shown. ``dark_launch``: it is checked and kept, and shown to nobody."""


class ExperimentData(TypedDict):
    """From here on an experimental document is shown, or is not, for ``reason`` (``Blocked``); "" where it is."""

    surfaceId: str
    trackId: str
    flag: str
    stage: str
    reason: str


class ConsentData(TypedDict):
    """What somebody said who was asked for a person's consent: ``decision`` is granted or refused, or tried by whoever
    may not give it, which changed nothing. ``by`` is the key of the principal, ``summary`` what they had read."""

    owner: str
    trackId: str
    flag: str
    summary: str
    decision: str
    by: str


class ProviderData(TypedDict, total=False):
    """The end of a model's reply, or the ``error`` by which it broke off. ``shortened``: it was sent the turns from
    ``toldFrom`` on, and ``results`` of tools cut. ``usage`` is in words of the Messages API, ``estimated`` where nobody
    counted; ``cost`` what that took, in ``BEACH_CURRENCY``, ``costElsewhere`` at the site that it is imported from.
    ``purpose``: a second model's, for that part type."""

    stopReason: str | None
    usage: JsonObject
    step: int
    model: str
    cost: float
    costElsewhere: float
    error: JsonObject
    estimated: Literal[True]
    shortened: JsonObject
    purpose: str


SHAPES: dict[str, type] = {
    "message": MessageData,
    "action": ActionData,
    "edit": EditData,
    "show": ShowData,
    "agent-call": AgentCallData,
    "agent-answer": AgentAnswerData,
    "renderer-answer": RendererAnswerData,
    "turn": TurnData,
    "part": PartData,
    "takeover": TakeoverData,
    "withdrawn": WithdrawnData,
    "tool": ToolData,
    "settled": SettledData,
    "free-text": FreeTextData,
    "refused": RefusedData,
    "note": NoteData,
    "tool-result": ToolResultData,
    "grant": GrantData,
    "edit-ignored": EditIgnoredData,
    "late-decision": LateDecisionData,
    "tried-decision": TriedDecisionData,
    "state-refused": StateRefusedData,
    "diagnostic": DiagnosticData,
    "experiment": ExperimentData,
    "consent": ConsentData,
    "provider": ProviderData,
}
"""What ``data`` of each kind of row holds."""

_AUDIT = frozenset(
    {
        "free-text",
        "refused",
        "note",
        "tool-result",
        "edit-ignored",
        "late-decision",
        "tried-decision",
        "state-refused",
        "diagnostic",
        "experiment",
        "consent",
        "provider",
        "renderer-answer",
    }
)

KINDS: dict[str, Audience] = {kind: "audit" if kind in _AUDIT else "delivered" for kind in SHAPES}
"""Every kind of row and who gets it unless the row says otherwise."""

LISTED = frozenset({"turn", "settled"})
"""Kinds of rows after which a list of sessions shows theirs otherwise: new, at work, waiting for somebody, done."""


@dataclass(frozen=True, slots=True)
class Row:
    """``seq`` is gap-free from 1 within a session. ``turn`` is the number of the turn within the session, 0 for none.
    ``at`` is aware, UTC. ``data`` by kind as in ``SHAPES``. ``delivers``: what it delivers over a transport, by name,
    where somebody has asked (``log.numbering``)."""

    seq: int
    kind: str
    at: datetime
    data: JsonObject
    part_type: str = ""
    actor: str = ""
    turn: int = 0
    audience: Audience = "delivered"
    delivers: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
