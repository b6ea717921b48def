"""Actions (reading, section 6): checked against the contract before anything is recorded, done once, acknowledged to
the sender when their row is in the log.

The agent's own actions (``actionSpec``) reach it as a click. Those of the runtime begin with ``beach:``: what a person
does at a page as well, on components that are named by the ids that the agent gave.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from envelopes import intake
from envelopes.access import Principal, owns
from envelopes.database_threads import in_session
from envelopes.delivery import Changed
from envelopes.errors import BeachError, Forbidden, NotFound
from envelopes.models import Session
from envelopes.peers import rates
from envelopes.protocol.targets import target_of
from envelopes.transports.live import frames, stored, version
from envelopes.transports.live.contracts import (
    CONTRACT_VIOLATION_NUMBER,
    NAME,
    ContractViolation,
    Violation,
    cut,
    name_fault,
    undeclared_action,
)
from envelopes.transports.live.errors import LiveError
from envelopes.transports.live.identity import Identity, session_of, still
from envelopes.transports.live.presenter.deliveries import OURS
from envelopes.transports.live.subscribing import Subscription
from envelopes.types import Json, JsonObject

SUBMIT = "data:submit"


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Said(_Data):
    text: str


class _Clicked(_Data):
    target: Any


class _Edited(_Data):
    target: Any
    value: Any


class _Decided(_Data):
    """Whatever else comes along is ignored, and logged where it is decided (D20)."""

    model_config = ConfigDict(extra="allow", strict=True)

    approval: str = Field(min_length=1, max_length=64)
    decision: str = Field(pattern="^(granted|denied)$")
    reason: str = Field("", max_length=512)


class _Nothing(_Data):
    pass


_Run = Callable[[Session, Principal, str, Any], JsonObject]

OF_RUNTIME: dict[str, tuple[type[_Data], _Run]] = {
    f"{OURS}message": (
        _Said,
        lambda session, who, name, data: intake.post_message(session, who, name, data.text),
    ),
    f"{OURS}click": (
        _Clicked,
        lambda session, who, name, data: intake.post_action(session, who, name, target_of(data.target)),
    ),
    f"{OURS}edit": (
        _Edited,
        lambda session, who, name, data: intake.post_edit(
            session, who, name, target_of(data.target), data.value
        ),
    ),
    f"{OURS}decide": (
        _Decided,
        lambda session, who, name, data: intake.post_decision(
            session, who, name, data.approval, data.decision, reason=data.reason, sent=data.model_extra
        ),
    ),
    f"{OURS}stop": (_Nothing, lambda session, who, name, data: intake.stop(session, who, name)),
}
"""What the runtime itself takes in, by name: what the data of each holds, and who does it."""


async def run(subscription: Subscription, action: frames.Action, message_id: str) -> JsonObject:
    """Do what ``action`` says; the payload of its ack. Raises ``LiveError``, ``Changed``, and what intake raises."""
    session = subscription.session
    if action.sessionId != session.public_id:
        raise LiveError("SESSION_MISMATCH", "This socket is bound to another session.")
    if action.type != SUBMIT:
        raise LiveError("INVALID_MESSAGE", f"The one type of actions is {SUBMIT}.", details={"path": "/type"})
    version.check_stamp(action.schemaVersion)
    answer = await in_session(
        session.pk, _run, subscription.identity, subscription.key, session, action, message_id
    )
    told: JsonObject = {"sequence": answer.get("seq", 0), "timestamp": frames.now()}
    return {
        **told,
        **{key: answer[key] for key in ("repeated", "effect", "state", "stopped") if key in answer},
    }


def _run(
    identity: Identity, key: str, session: Session, action: frames.Action, message_id: str
) -> JsonObject:
    who = identity.principal()
    if who.key != key:
        raise Changed
    peer = identity.peer()
    if peer is not None:
        rates.take(peer)
    try:
        return _done(session, who, action.payload, message_id)
    except BeachError as error:
        if error.code != NotFound.code:
            raise
        if session_of(who, session.public_id) is None:
            raise LiveError("SESSION_NOT_FOUND", "This session is gone.") from error
        # A surface, a component, an approval: clients take the other code for the end of all.
        raise LiveError("NOT_FOUND", error.message) from error


def _done(session: Session, who: Principal, payload: Json, message_id: str) -> JsonObject:
    name = payload.get("action") if isinstance(payload, dict) else None
    if isinstance(name, str) and name.startswith(OURS):
        return _of_runtime(session, who, name, payload.get("data"), message_id)
    contract = stored.contract_for(session)
    submitted = contract.action(payload) if contract is not None else undeclared_action(payload)
    if (fault := name_fault(submitted.name)) is not None:
        raise ContractViolation("ggui_event", [Violation("action", fault, NAME, cut(submitted.name))])
    return intake.post_submission(
        session, who, message_id, submitted.name, submitted.data, tool=submitted.tool
    )


def observe(bound: Subscription, host_context: JsonObject) -> None:
    """Where its owner is shown. In a thread. Raises ``Changed``, ``LiveError`` FORBIDDEN."""
    still(bound.identity, bound.key, bound.session.public_id)
    if not owns(bound.identity.principal(), bound.session):
        raise LiveError("FORBIDDEN", "This session is not yours.")
    stored.observe(bound.session, host_context)


def _of_runtime(session: Session, who: Principal, name: str, data: Json, message_id: str) -> JsonObject:
    known = OF_RUNTIME.get(name)
    if known is None:
        names = ", ".join(OF_RUNTIME)
        fault = Violation("action", f"The runtime takes in: {names}.", names, name[:120])
        raise ContractViolation("ggui_event", [fault])
    model, do = known
    try:
        given = model.model_validate({} if data is None else data)
    except ValidationError as error:
        raise ContractViolation(
            "ggui_event", [_violation(name, fault) for fault in error.errors()]
        ) from error
    try:
        return do(session, who, message_id, given)
    except Forbidden as error:
        raise LiveError("FORBIDDEN", error.message) from error


def _violation(name: str, fault: Any) -> Violation:
    where = "".join(f".{step}" for step in fault["loc"])
    keyword = {"missing": "required", "extra_forbidden": "additionalProperties"}.get(fault["type"], "type")
    return Violation(f"{name}.data{where}", fault["msg"], keyword=keyword)


def violation_details(error: ContractViolation) -> JsonObject:
    """The details of a CONTRACT_VIOLATION frame (reading, 6.1), with the number that the seed gives it."""
    return {**error.facts, "jsonRpcCode": CONTRACT_VIOLATION_NUMBER}
