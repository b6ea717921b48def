"""What an approval says in the log: the question and the answer to it, as parts (approval document; D10)."""

from __future__ import annotations

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
    }
    return Part(data=request.model_dump(exclude_none=True), metadata=Metadata.model_validate(metadata))


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
    return Part(data=response.model_dump(exclude_none=True), metadata=Metadata.model_validate(metadata))
