"""Rows for tests: people, sessions, turns, parts, calls and approvals, stored the way the runtime stores them.

Everything goes through the log's own append, so ``seq`` is right and live views can be built from it. Needs the
database. Names are unique within a process; nothing here is random, so a failing test fails again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import Permission, User
from django.utils import timezone
from pydantic import BaseModel

from envelopes import access
from envelopes.access import Principal
from envelopes.approvals.asking import ask
from envelopes.log.append import writing
from envelopes.log.digest import call_digest
from envelopes.models import AgentCall, Approval, Event, Session, ToolCall, Turn
from envelopes.protocol.rows import Audience
from envelopes.providers.port import Provider
from envelopes.providers.transcript import extended, tool_use, user_text
from envelopes.registries.actors import Actor, actors
from envelopes.registries.policies import Rule
from envelopes.registries.tools import ApprovalPolicy, Tool, ToolContext
from envelopes.testing import create_session
from envelopes.turns.lifecycle import open_turn, settle, turn_data
from envelopes.types import Json, JsonObject

ACTOR = "billing"
_numbers = itertools.count(1)


# -- people ------------------------------------------------------------------------------------------------------


def make_user(
    name: str = "", *, staff: bool = False, superuser: bool = False, permissions: Sequence[str] = ()
) -> User:
    """An account whose password is ``pw``. ``permissions`` are code names of the envelopes app: ``view_session``."""
    user = User.objects.create_user(
        username=name or f"user{next(_numbers)}",
        password="pw",
        is_staff=staff or superuser,
        is_superuser=superuser,
    )
    found = Permission.objects.filter(content_type__app_label="envelopes", codename__in=permissions)
    if found.count() != len(permissions):
        raise AssertionError(
            f"of {list(permissions)} only {[permission.codename for permission in found]} exist"
        )
    user.user_permissions.set(found)
    return user


def make_principal(user: User) -> Principal:
    """``user`` as every door sees them."""
    return access.principal(user, None)


def make_visitor() -> tuple[Principal, str]:
    """Somebody without an account, and the value of their owner cookie."""
    return access.new_anonymous_owner()


# -- actors ------------------------------------------------------------------------------------------------------


class Refund(BaseModel):
    """Arguments of the tool that the approval cases use."""

    order: str = ""
    amount: float = 0
    note: str = ""


async def _refunded(context: ToolContext, args: Refund) -> Json:
    return {"refunded": args.amount}


def make_tool(name: str = "refund", *, expires_after: float | None = None, **changes: Any) -> Tool:
    """A tool that needs approval unless ``approval=None`` says otherwise."""
    definition: dict[str, Any] = {
        "description": "Pay an order back.",
        "input": Refund,
        "run": _refunded,
        "label": "Paying it back",
        "idempotent": False,
        "approval": ApprovalPolicy(
            question=lambda args: f"Pay {args.amount:g} back for order {args.order}?",
            why=lambda args: "The customer asked for it.",
            done=lambda args, result: f"Paid {args.amount:g} back.",
            risk="high",
            expires_after=expires_after,
        ),
    }
    return Tool(name=name, **(definition | changes))


def asking(rule: Rule, *, peers: Sequence[str] = (), **changes: Any) -> Tool:
    """``make_tool`` with a policy that says who is asked."""
    tool = make_tool(**changes)
    if tool.approval is None:
        raise AssertionError("a tool that asks nobody has no rule")
    return replace(tool, approval=replace(tool.approval, rule=rule, peers=peers))


def no_model() -> Provider:
    """The provider of actors that no test runs."""
    raise AssertionError("this test does not run turns")


@contextmanager
def acting(*tools: Tool, name: str = ACTOR, **changes: Any) -> Iterator[Actor]:
    """An actor that is registered for the block only."""
    definition: dict[str, Any] = {
        "display_name": name.title(),
        "role": "test",
        "instructions": "",
        "provider": no_model,
    }
    with actors.including(Actor(name=name, tools=tools, **(definition | changes))) as actor:
        yield actor


# -- conversations -----------------------------------------------------------------------------------------------


def make_session(owner: User | Principal | None = None, *, actor: str = ACTOR, title: str = "") -> Session:
    """A conversation of ``owner`` (a new user without one)."""
    if not isinstance(owner, Principal):
        owner = make_principal(owner or make_user())
    session = create_session(owner, actor)
    if title:
        session.title = title
        session.save(update_fields=["title"])
    return session


def make_turn(session: Session, *, text: str = "Hello", status: str = "running", actor: str = "") -> Turn:
    """A turn begun by a message. ``running`` as if a runner had claimed it, with a lease; or ``queued``."""
    with writing(session.pk) as writer:
        writer.add("message", {"text": text, "name": "Ada"})
        turn = open_turn(writer, {"kind": "message", "text": text, "dataModel": None}, actor=actor)
        if status != "queued":
            turn.status, turn.attempt, turn.lease_owner = "running", 1, "elsewhere:0:0"
            turn.lease_until = timezone.now() + timedelta(hours=1)
            turn.messages = extended([], "user", [user_text(text)])
            turn.save()
            writer.add("turn", turn_data(turn, "running", reason="started"), turn=turn)
    return turn


def add_row(turn: Turn, kind: str, data: JsonObject, *, audience: Audience | None = None) -> Event:
    """Any row of ``turn``."""
    with writing(turn.session_id) as writer:
        return writer.add(kind, data, turn=turn, audience=audience)


def add_part(
    turn: Turn,
    part_type: Any,
    *,
    text: str | None = None,
    data: Json = None,
    state: str = "awaiting",
    audience: Audience | None = None,
    **metadata: Json,
) -> Event:
    """A part of ``turn``, unchecked: rows may hold anything that an older version or a peer has written."""
    part: JsonObject = {"metadata": {"partType": part_type, **metadata}}
    if text is not None:
        part["text"] = text
    if data is not None:
        part["data"] = data
    with writing(turn.session_id) as writer:
        return writer.add(
            "part",
            {"part": part, "turnState": state},
            part_type=part_type if isinstance(part_type, str) else "",
            turn=turn,
            audience=audience,
        )


def settle_turn(turn: Turn, state: str = "complete", *, finalized_by: str = "") -> Turn:
    """Settle ``turn``, whatever else it waits for."""
    with writing(turn.session_id) as writer:
        turn = Turn.objects.select_related("session").get(pk=turn.pk)
        settle(writer, turn, turn_state=state, finalized_by=finalized_by or state)
    return turn


# -- calls and approvals -----------------------------------------------------------------------------------------


def make_call(
    turn: Turn,
    name: str = "refund",
    args: JsonObject | None = None,
    *,
    state: str = "requested",
    **fields: Any,
) -> ToolCall:
    """A tool call of ``turn``, answered by nobody yet; the turn's last reply holds it."""
    args = {"order": "A17", "amount": 40.0, "note": ""} if args is None else args
    call_id = fields.pop("call_id", f"call{next(_numbers)}")
    turn = Turn.objects.get(pk=turn.pk)
    turn.messages = extended(turn.messages, "assistant", [tool_use(call_id, name, args)])
    turn.save(update_fields=["messages"])
    return ToolCall.objects.create(
        session_id=turn.session_id,
        turn=turn,
        call_id=call_id,
        position=turn.tool_calls.count(),
        name=name,
        args=args,
        digest=call_digest(name, args),
        state=state,
        **fields,
    )


def make_approvals(
    turn: Turn, *many: JsonObject, tool: Tool | None = None, expires_after: float | None = None
) -> list[Approval]:
    """One question for each of ``many`` arguments (one if there are none); ``turn`` is suspended until all are
    answered. ``expires_after`` in seconds; negative has expired already."""
    tool = tool or make_tool()
    if expires_after is not None and tool.approval is not None:
        # No policy may say less than no time: a microsecond is over before anybody looks.
        seconds = max(expires_after, 1e-6)
        tool = replace(tool, approval=replace(tool.approval, expires_after=seconds))
    calls = [make_call(turn, tool.name, args) for args in many] if many else [make_call(turn, tool.name)]
    with writing(turn.session_id) as writer:
        turn = Turn.objects.select_related("session").get(pk=turn.pk)
        approvals = [ask(writer, turn, call, tool) for call in calls]
        turn.status, turn.turn_state, turn.lease_owner, turn.lease_until = "suspended", "suspended", "", None
        turn.save()
        writer.add("turn", turn_data(turn, "suspended", reason="approval"), turn=turn)
    return approvals


def make_approval(
    session: Session,
    args: JsonObject | None = None,
    *,
    tool: Tool | None = None,
    expires_after: float | None = None,
) -> Approval:
    """One question in a turn of its own, which it suspends."""
    turn = make_turn(session)
    return make_approvals(
        turn, *([args] if args is not None else []), tool=tool, expires_after=expires_after
    )[0]


def log_of(session: Session, kind: str = "") -> list[Event]:
    """The rows of a session, in order; those of one kind if it is given."""
    rows = Event.objects.filter(session=session).order_by("seq")
    return list(rows.filter(kind=kind) if kind else rows)


_ids = itertools.count(1)


def make_agent_call(session: Session, name: str = "seatsLeft", **changes: Any) -> AgentCall:
    """A call of an agent's function by a surface, which waits for its answer."""
    given: dict[str, Any] = {
        "call_id": f"a1-f{next(_ids)}",
        "owner": ACTOR,
        "version": "1.0",
        "by_tool": True,
        "deadline": timezone.now() + timedelta(seconds=30),
    }
    return AgentCall.objects.create(session=session, name=name, **{**given, **changes})
