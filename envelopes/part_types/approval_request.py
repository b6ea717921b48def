"""``approval-request``: a question about one call of a tool (envelope document, "Approval part schemas"; D10)."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict

from envelopes.registries.part_types import RUNTIME, PartType
from envelopes.registries.retelling import data_of, metadata_of
from envelopes.types import JsonObject


class ApprovalRequest(BaseModel):
    """Exactly the fields of the approval document; ours (digest, attempt, risk) go under ``metadata`` (D10)."""

    model_config = ConfigDict(extra="forbid")

    approvalId: str
    toolName: str
    toolCallId: str
    args: dict[str, Any]
    handler: str
    turn: str
    session: str
    expiresAt: str | None = None


def _retold(part: JsonObject) -> str:
    return f"[Asked for approval: {metadata_of(part).get('question', '')}]"


def _in_words(part: JsonObject) -> str:
    asked = metadata_of(part).get("question") or data_of(part).get("toolName", "?")
    return _("Asked for approval: {}").format(asked)


APPROVAL_REQUEST = PartType(
    "approval-request",
    RUNTIME,
    "flush",
    "flush",
    data="required",
    data_model=ApprovalRequest,
    asks_person=True,
    canonical=True,
    retold=_retold,
    in_words=_in_words,
    description="asks a person about a call of a tool before it runs",
    example={
        "data": {
            "approvalId": "apr_1",
            "toolName": "book",
            "toolCallId": "call_1",
            "args": {"flight": "EJ4521"},
            "handler": "sally",
            "turn": "turn_1",
            "session": "sess_1",
        }
    },
)
