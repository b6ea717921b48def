"""Correcting the arguments of a call before it is decided (D20): a new version with a digest and a question of its own.

The one way in which arguments change between model, question and execution (D64). What the agent wrote is kept, and the
agent is told what was changed when the call runs.
"""

from __future__ import annotations

from envelopes import audit
from envelopes.access import Principal, visible_sessions
from envelopes.approvals import rights, rules
from envelopes.approvals.input_words import in_words
from envelopes.approvals.lateness import late_for
from envelopes.approvals.rights import right_to_decide
from envelopes.approvals.rules import StoredRule
from envelopes.approvals.service import expire_if_due
from envelopes.approvals.versions import Anew, ask_anew, tool_of
from envelopes.errors import BeachError, Conflict, Forbidden, NotFound, ToolFailed, ValidationFailed
from envelopes.log.append import Writer, writing
from envelopes.log.digest import call_digest
from envelopes.models import Approval
from envelopes.registries.doors import CHAT
from envelopes.registries.policies import Ask
from envelopes.registries.statuses import ApprovalStatus
from envelopes.registries.tools import ApprovalPolicy, Tool
from envelopes.turns.reply import checked_args
from envelopes.types import PROGRAMS, Json, JsonObject


def edit(approval_id: str, args: Json, who: Principal, *, source: str = CHAT.name) -> Approval:
    """Ask about ``args`` in place of what is asked now: the same card, another ``approval_id``. What others had
    approved before does not count for it. ``source`` is the door where that is done.

    Raises ``ValidationFailed`` for what the tool's input refuses (with ``problems``, in the words of a form) and where
    nothing has changed, ``NotFound`` and ``Forbidden`` as a decision does, ``Conflict`` where the tool is gone,
    ``PolicyFailed``, and ``AlreadyDecided``, ``AlreadyChanged`` and ``Expired`` for whoever comes too late. Nothing is
    changed then.
    """
    session_pk = may_edit(approval_id, who).session_id
    with writing(session_pk) as writer:
        edited = _edited(writer, approval_id, args, who, source)
    if isinstance(edited, BeachError):
        raise edited
    return edited


def may_edit(approval_id: str, who: Principal) -> Approval:
    """The approval that ``who`` may edit, open or not. Raises ``NotFound`` and ``Forbidden``."""
    found = rights.find(approval_id)
    approval = found[0] if found is not None else None
    may = approval is not None and right_to_decide(who, approval) is not None
    if approval is None or not (may or visible_sessions(who).filter(pk=approval.session_id).exists()):
        raise NotFound("This request does not exist, or you do not have access to it.")
    if not may or who.kind in PROGRAMS:
        raise Forbidden("You can view this request but not change it.")
    return approval


def tool_to_edit(approval: Approval) -> tuple[Tool, ApprovalPolicy]:
    """The tool that is asked about, as it is today. Raises ``Conflict`` where it is gone or asks nobody any more,
    ``Forbidden`` where its policy lets nobody edit."""
    tool = tool_of(approval)
    if tool is None or tool.approval is None:
        raise Conflict("The tool of this request is not part of this site any more.")
    if not tool.approval.editable:
        raise Forbidden("The arguments of this tool cannot be edited. You can deny the request and say why.")
    return tool, tool.approval


def _edited(
    writer: Writer, approval_id: str, args: Json, who: Principal, source: str
) -> Approval | BeachError:
    found = rights.find(approval_id)
    if found is None:
        raise NotFound("This request does not exist, or you do not have access to it.")
    approval, was = found
    if rights.right_now(who, approval) is None:
        raise Forbidden("You can view this request but not change it.")
    if (late := expire_if_due(writer, approval, reader=who.key)) is not None:
        return late
    if was is not None or approval.state != ApprovalStatus.PENDING:
        return late_for(approval, was, who.key, None) or Conflict()
    tool, policy = tool_to_edit(approval)
    try:
        checked = checked_args(tool, args, said=in_words)
    except ToolFailed as error:
        raise ValidationFailed(error.message, path="") from error
    if call_digest(tool.name, checked) == approval.digest:
        raise ValidationFailed("Nothing has been changed.", path="")
    question, why = rules.sentences(tool, checked)
    rule = _rule(writer, approval, tool, policy, checked, who)
    anew = Anew(checked, question, why, rule, "edited", who.key, who.name, who.user)
    before = approval.digest
    ask_anew(writer, approval, tool, anew)
    facts, details = {"version": approval.version, "replaces": approval_id}, {"digest": before}
    audit.record(writer, "edited", approval, who=who, door=source, facts=facts, details=details)
    return approval


def _rule(
    writer: Writer, approval: Approval, tool: Tool, policy: ApprovalPolicy, args: JsonObject, who: Principal
) -> StoredRule:
    """What the policy answers about the new arguments. Whoever has edited a call has a say in it, so under four eyes
    they do not decide it; and a rule that would approve it does not: somebody was asked, and has to answer."""
    call = approval.tool_call
    call.args, call.digest = args, call_digest(tool.name, args)
    answer = rules.answer(tool, call, approval.turn, writer.session)
    if isinstance(answer, Ask):
        # Those before them too: what they have written may stand in it still.
        edits = approval.earlier.filter(cause="edited").values_list("by", flat=True)
        return rules.to_store(answer, policy, approval.turn, writer.session, who.key, *edits)
    before = rules.stored(approval)
    return before.barring(who.key) if before.four_eyes else before
