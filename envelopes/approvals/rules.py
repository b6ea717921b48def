"""What a tool's policy answers about a call, and how that is stored with the question: as it was answered then."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from envelopes import tracing
from envelopes.access import principal_key
from envelopes.conf import conf
from envelopes.errors import BeachError
from envelopes.models import Approval, Decider, Session, ToolCall, Turn
from envelopes.ownership import owner_of
from envelopes.protocol.text import clean_text, clip
from envelopes.registries.policies import (
    STAFF,
    Answer,
    Ask,
    Asking,
    AutoApprove,
    NoQuestion,
    OnExpiry,
)
from envelopes.registries.tools import ApprovalPolicy, Tool
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)


class PolicyFailed(BeachError):
    """The rule by which this would be asked about failed. Nothing was run."""

    code = "policy_failed"
    fault = "configuration"


@dataclass(frozen=True)
class StoredRule:
    """What ``Approval.rule`` holds. ``deciders`` are tokens (``models.Decider``), ``barred`` the keys of those who may
    not decide under four eyes; ``expires_after`` is in seconds. ``trace``: the turn's span (``tracing.here``)."""

    deciders: tuple[str, ...] = ("owner", STAFF.token)
    needed: int = 1
    four_eyes: bool = False
    barred: tuple[str, ...] = ()
    on_expiry: OnExpiry = "deny"
    expires_after: float | None = None
    login: bool = False
    trace: str = ""

    def barring(self, key: str) -> StoredRule:
        """The same, and ``key`` may not decide."""
        return replace(self, barred=tuple(sorted({*self.barred, key})))

    def dump(self) -> JsonObject:
        """JSON; ``barred`` as an object, so that databases look a key up in it."""
        return {
            "deciders": list(self.deciders),
            "needed": self.needed,
            "fourEyes": self.four_eyes,
            "barred": dict.fromkeys(self.barred, True),
            "onExpiry": self.on_expiry,
            "expiresAfter": self.expires_after,
            "login": self.login,
            **({"trace": self.trace} if self.trace else {}),
        }

    def told(self) -> JsonObject:
        """What readers of the question are told of it: all but who is barred, by keys."""
        told: JsonObject = {"deciders": list(self.deciders), "needed": self.needed}
        if self.four_eyes:
            told["fourEyes"] = True
        return {**told, "onExpiry": self.on_expiry}


def stored(approval: Approval) -> StoredRule:
    """The rule of a question; the default one where it was asked before rules were stored."""
    rule: Any = approval.rule
    if not rule:
        return StoredRule()
    return StoredRule(
        tuple(rule["deciders"]),
        rule["needed"],
        rule["fourEyes"],
        tuple(rule["barred"]),
        rule["onExpiry"],
        rule["expiresAfter"],
        rule.get("login", False),
        rule.get("trace", ""),
    )


def needs_asking(call_pk: int, tool: Tool) -> bool:
    """Whether people, or a rule, have to approve this call before it runs. A policy that fails is taken to say so:
    ``answer`` then tells what is wrong."""
    if tool.approval is None:
        return False
    call = ToolCall.objects.select_related("session", "turn").get(pk=call_pk)
    try:
        return not isinstance(answer(tool, call, call.turn, call.session), NoQuestion)
    except PolicyFailed:
        return True


def answer(tool: Tool, call: ToolCall, turn: Turn, session: Session) -> Answer:
    """What the policy of ``tool`` says of this call. Raises ``PolicyFailed``, and logs why."""
    policy = tool.approval
    if policy is None:
        return NoQuestion()
    try:
        args = tool.input.model_validate(call.args)
        if not policy.required(args):
            return NoQuestion()
        if isinstance(policy.rule, Ask):
            return policy.rule
        found: object = policy.rule(_asking(tool, call, turn, session, args))
    except Exception as error:
        logger.exception("The approval policy of %s raised.", tool.name)
        raise PolicyFailed from error
    if not isinstance(found, Ask | AutoApprove | NoQuestion):
        logger.error("The approval policy of %s answered %r.", tool.name, found)
        raise PolicyFailed
    return found


def sentences(tool: Tool, args: JsonObject) -> tuple[str, str]:
    """The question about a call with these arguments, and why it is asked. Raises ``PolicyFailed``, and logs why."""
    policy = tool.approval
    try:
        given = tool.input.model_validate(args)
        told = (policy.question(given), policy.why(given)) if policy is not None else ("", "")
        question, why = (clip(clean_text(text), 512) for text in told)
    except Exception as error:
        logger.exception("The question of %s raised.", tool.name)
        raise PolicyFailed from error
    return question, why


def _asking(tool: Tool, call: ToolCall, turn: Turn, session: Session, args: Any) -> Asking:
    owner = owner_of(session)
    return Asking(
        args=args,
        tool=tool.name,
        actor=turn.actor,
        session_id=session.public_id,
        user=owner.user if owner is not None else None,
        owner=owner_key(session),
        owner_name=owner.name if owner is not None else "",
        asked_by=tuple(one["principal"] for one in turn.originators),
        attempt=next_attempt(session, call.digest),
    )


def owner_key(session: Session) -> str:
    """The key of the owner, as decisions hold it; "" where there is none."""
    owner = owner_of(session)
    return "" if owner is None else principal_key(owner.user_id, owner.owner_key)


def next_attempt(session: Session, digest: str) -> int:
    """Which attempt it would be to ask about a call with this digest here."""
    same = Approval.objects.filter(session=session, digest=digest)
    return 1 + (same.order_by("-attempt").values_list("attempt", flat=True).first() or 0)


def to_store(ask: Ask, policy: ApprovalPolicy, turn: Turn, session: Session, *barred: str) -> StoredRule:
    """``ask`` as it is stored with a question of ``turn``. Under four eyes, neither the owner nor whoever asked may
    decide, nor ``barred``."""
    keys = {owner_key(session), *(one["principal"] for one in turn.originators), *barred} - {""}
    peers = tuple(f"peer:{name}" for name in policy.peers)
    return StoredRule(
        deciders=(*dict.fromkeys((*ask.tokens, *peers)),),
        needed=ask.needed,
        four_eyes=ask.four_eyes,
        barred=tuple(sorted(keys)) if ask.four_eyes else (),
        on_expiry=ask.on_expiry,
        expires_after=_seconds(ask, policy),
        login=ask.login,
    )


def _seconds(ask: Ask, policy: ApprovalPolicy) -> float | None:
    if ask.on_expiry == "stay-open":
        return None
    given = policy.expires_after if ask.expires_after == "policy" else ask.expires_after
    given = conf.BEACH_APPROVAL_SECONDS if given == "setting" else given
    return None if given is None else float(given)


def expiry(rule: StoredRule, now: datetime) -> datetime | None:
    """Until when a question that is asked now may be answered; None for as long as it takes."""
    return None if rule.expires_after is None else now + timedelta(seconds=rule.expires_after)


def list_deciders(approval: Approval, rule: StoredRule) -> None:
    """Let those who may decide find the question among theirs, instead of whoever could before."""
    Decider.objects.filter(approval=approval).delete()
    Decider.objects.bulk_create([Decider(approval=approval, token=token) for token in rule.deciders])


def waited(approval: Approval, until: datetime, ended: str) -> None:
    """Tell of it as a span from the question on, in the trace of the turn that asked, once this is committed."""
    if tracing.is_on():
        since, within = approval.requested_at, stored(approval).trace
        facts: dict[str, str | int] = {
            "tool": approval.tool_name,
            "version": approval.version,
            "ended": ended,
        }
        transaction.on_commit(lambda: tracing.over("beach.approval", since, until, within=within, **facts))
