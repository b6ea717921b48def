"""A question that is asked anew: its arguments were edited (D20), or nobody answered in time.

The call keeps its one row and its place on the page; the question gets another id, so that nobody who saw the old one
decides the new one by it. What it was is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from envelopes.approvals import showing
from envelopes.approvals.parts import request_part
from envelopes.approvals.rules import StoredRule, expiry, list_deciders, next_attempt, stored, waited
from envelopes.errors import AlreadyDecided
from envelopes.log.append import Writer
from envelopes.log.digest import call_digest
from envelopes.models import Approval, ApprovalVersion
from envelopes.models.ids import public_id
from envelopes.registries.actors import actors
from envelopes.registries.statuses import ApprovalStatus
from envelopes.registries.tools import Tool
from envelopes.turns.parts import append_parts
from envelopes.types import Json, JsonObject


@dataclass(frozen=True)
class Anew:
    """What is asked from now on, and by whom the question was changed: a key, a name, an account."""

    args: JsonObject
    question: str
    why: str
    rule: StoredRule
    cause: Literal["edited", "expired"]
    by: str
    name: str = ""
    user: Any = None


def tool_of(approval: Approval) -> Tool | None:
    """The tool that is asked about; None where the application has let go of it."""
    actor = actors.get(approval.handler)
    return actor.tool(approval.tool_name) if actor is not None else None


def ask_anew(writer: Writer, approval: Approval, tool: Tool, anew: Anew) -> None:
    """Put ``anew`` in the place of an open question, under the session's lock. Raises ``AlreadyDecided``, and
    ``ValidationFailed`` for arguments that have no digest."""
    call, turn = approval.tool_call, approval.turn
    before = approval.approval_id
    digest = call_digest(call.name, anew.args)
    attempt = approval.attempt
    if anew.cause == "expired" or digest != approval.digest:
        attempt = max(next_attempt(writer.session, digest), attempt + 1 if anew.cause == "expired" else 1)
    ApprovalVersion.objects.create(
        approval=approval,
        version=approval.version,
        asked_as=before,
        args=approval.args,
        digest=approval.digest,
        question=approval.question,
        why=approval.why,
        rule=approval.rule,
        attempt=approval.attempt,
        requested_at=approval.requested_at,
        expires_at=approval.expires_at,
        cause=anew.cause,
        replaced_at=writer.now,
        by=anew.by,
        by_user=anew.user,
        name=anew.name[:255],
    )
    changed = {
        "approval_id": public_id(),
        "version": approval.version + 1,
        "args": anew.args,
        "digest": digest,
        "question": anew.question,
        "why": anew.why,
        "rule": replace(anew.rule, trace=stored(approval).trace).dump(),
        "attempt": attempt,
        "requested_at": writer.now,
        "expires_at": expiry(anew.rule, writer.now),
    }
    still = Approval.objects.filter(pk=approval.pk, state=ApprovalStatus.PENDING, approval_id=before)
    if still.update(**changed) != 1:
        raise AlreadyDecided
    waited(approval, writer.now, anew.cause)
    showing.end(writer, approval)
    for name, value in changed.items():
        setattr(approval, name, value)
    call.args, call.digest = anew.args, digest
    call.save(update_fields=["args", "digest"])
    list_deciders(approval, anew.rule)
    append_parts(writer, turn, [request_part(approval, call, turn, tool)], "runtime", state="suspended")
    showing.show(writer, turn, approval, tool)


def told_reasons(approval: Approval | None) -> JsonObject | None:
    """What the model is told of why people approved a call; None where nobody has said."""
    if approval is None or approval.state != ApprovalStatus.GRANTED:
        return None
    given = approval.decisions.filter(version=approval.version).exclude(reason="")
    reasons: list[Json] = [{"by": one.name or "the person", "reason": one.reason} for one in given]
    return {"reasons": reasons} if reasons else None


def told_edits(approval: Approval | None) -> JsonObject | None:
    """What the model is told of a call whose arguments people have changed; None where nobody has."""
    edits = (
        []
        if approval is None or approval.version == 1
        else list(approval.earlier.filter(cause="edited").order_by("version"))
    )
    if approval is None or not edits:
        return None
    first = edits[0].args
    names = [name for name in {**first, **approval.args} if first.get(name) != approval.args.get(name)]
    return {
        "note": "A person corrected the arguments before approving. The call ran with these.",
        "args": approval.args,
        "changed": {name: {"was": first.get(name), "now": approval.args.get(name)} for name in names},
        "by": edits[-1].name or "the person",
    }
