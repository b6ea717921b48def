"""Asking about a call: the question is stored before anybody sees it, bound to the digest of one exact call (R4)."""

from __future__ import annotations

from dataclasses import replace

from envelopes import audit, tracing
from envelopes.approvals import rules, showing
from envelopes.approvals.automatic import POLICY_PREFIX, ByRule, approving
from envelopes.approvals.parts import request_part
from envelopes.approvals.settling import record, settle
from envelopes.errors import ValidationFailed
from envelopes.log.append import Writer
from envelopes.models import Approval, ToolCall, Turn
from envelopes.registries.doors import POLICY
from envelopes.registries.policies import Ask, NoQuestion
from envelopes.registries.statuses import TOOL_CALL, ApprovalStatus, CallStatus
from envelopes.registries.tools import Tool
from envelopes.turns.parts import append_parts


def ask(writer: Writer, turn: Turn, call: ToolCall, tool: Tool) -> Approval:
    """Store the question for ``call`` and append its ``approval-request`` part; the call now awaits it. Where a rule
    approves, it is approved at once, by that.

    Raises ``ValidationFailed`` for a tool without a policy, ``PolicyFailed`` where that raises; nothing is stored then.
    """
    policy = tool.approval
    if policy is None:
        raise ValidationFailed(f"The tool {tool.name!r} needs no approval.")
    answer = rules.answer(tool, call, turn, writer.session)
    question, why = rules.sentences(tool, call.args)
    # Whether it has to be asked about was looked at before: what a policy says otherwise now changes nothing.
    asked = answer if isinstance(answer, Ask) else Ask()
    rule = replace(rules.to_store(asked, policy, turn, writer.session), trace=tracing.here())
    TOOL_CALL.check(call.state, CallStatus.AWAITING_APPROVAL)
    call.state = CallStatus.AWAITING_APPROVAL
    call.save(update_fields=["state"])
    approval = Approval.objects.create(
        tool_call=call,
        session=writer.session,
        turn=turn,
        tool_name=call.name,
        args=call.args,
        handler=turn.actor,
        expires_at=rules.expiry(rule, writer.now),
        digest=call.digest,
        risk=policy.risk,
        question=question,
        why=why,
        rule=rule.dump(),
        attempt=rules.next_attempt(writer.session, call.digest),
        requested_at=writer.now,
    )
    audit.asked(writer, approval)
    by_rule = None if isinstance(answer, NoQuestion) else approving(approval, answer, writer.now)
    state = "suspended" if by_rule is None else "awaiting"
    append_parts(writer, turn, [request_part(approval, call, turn, tool)], "runtime", state=state)
    if by_rule is None:
        rules.list_deciders(approval, rule)
        showing.show(writer, turn, approval, tool)
    else:
        _approve_by_rule(writer, approval, by_rule)
    return approval


def _approve_by_rule(writer: Writer, approval: Approval, rule: ByRule) -> None:
    approval.source = POLICY.name
    record(writer, approval, ApprovalStatus.GRANTED, by=rule.by, name=rule.name, role=rule.by)
    settle(writer, approval, ApprovalStatus.GRANTED, by=rule.by, name=rule.name, reason="")
    facts = {"decision": str(ApprovalStatus.GRANTED), "rule": rule.by.removeprefix(POLICY_PREFIX)}
    kind = "decided" if rule.earlier is None else "reused"
    audit.record(
        writer, kind, approval, by=rule.by, name=rule.name, role=audit.RULE, door=POLICY.name, facts=facts
    )
