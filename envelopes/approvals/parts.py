"""What an approval says in the log: the question and the answer to it, as parts (approval document; D10)."""

from __future__ import annotations

from envelopes.approvals import rules
from envelopes.models import Approval, ToolCall, Turn
from envelopes.part_types.approval_request import APPROVAL_REQUEST, ApprovalRequest
from envelopes.part_types.approval_response import APPROVAL_RESPONSE, ApprovalResponse
from envelopes.protocol.parts import Metadata, Part
from envelopes.protocol.time import instant
from envelopes.registries.statuses import ApprovalStatus
from envelopes.registries.tools import Tool
from envelopes.types import JsonObject


def request_part(approval: Approval, call: ToolCall, turn: Turn, tool: Tool) -> Part:
    """The ``approval-request`` part. Not cleaned: it holds the arguments exactly as they will run (D64)."""
    request = ApprovalRequest(
        approvalId=approval.approval_id,
        toolName=call.name,
        toolCallId=call.call_id,
        args=call.args,
        handler=turn.actor,
        turn=turn.public_id,
        session=turn.session.public_id,
        expiresAt=instant(approval.expires_at) if approval.expires_at else None,
    )
    metadata: JsonObject = {
        "partType": APPROVAL_REQUEST.name,
        "digest": approval.digest,
        "risk": approval.risk,
        "riskNote": tool.approval.risk_note if tool.approval else "",
        "question": approval.question,
        "why": approval.why,
        "label": tool.label,
        "attempt": approval.attempt,
        "fields": tool.fields,
        **rules.stored(approval).told(),
    }
    if tool.approval is not None and tool.approval.editable and tool.fields:
        metadata["editable"] = True
    if approval.version > 1:
        metadata |= _before(approval)
    return Part(data=request.model_dump(exclude_none=True), metadata=Metadata.model_validate(metadata))


def _before(approval: Approval) -> JsonObject:
    """What a question that is asked anew was before: ``replaces`` is the id that it had, ``was`` the arguments of the
    call as the agent made it, where people have changed them."""
    earlier = list(approval.earlier.order_by("version"))
    told: JsonObject = {"version": approval.version, "replaces": earlier[-1].asked_as}
    edits = [one for one in earlier if one.cause == "edited"]
    if edits:
        told |= {"was": edits[0].args, "editedBy": edits[-1].by, "editedByName": edits[-1].name}
    return told


def response_part(approval: Approval, name: str) -> Part:
    """The ``approval-response`` part of a decided approval. ``name`` is what people call whoever decided."""
    response = ApprovalResponse(
        approvalId=approval.approval_id,
        decision="granted" if approval.state == ApprovalStatus.GRANTED else "denied",
        reason=approval.reason or None,
        decidedBy=approval.decided_by,
        decidedAt=instant(approval.decided_at) if approval.decided_at else "",
    )
    metadata: JsonObject = {
        "partType": APPROVAL_RESPONSE.name,
        "decidedByName": name,
        "source": approval.source,
    }
    if rules.stored(approval).needed > 1:
        given = approval.decisions.filter(version=approval.version)
        metadata["decisions"] = [
            {
                "decision": one.decision,
                "by": one.by,
                "name": one.name,
                "role": one.role,
                "source": one.source,
                **({"reason": one.reason} if one.reason else {}),
                "at": instant(one.at),
            }
            for one in given
        ]
    return Part(data=response.model_dump(exclude_none=True), metadata=Metadata.model_validate(metadata))
