"""``approval-response``: the decision about one call of a tool (envelope document, "Approval part schemas")."""

from __future__ import annotations

from typing import Literal

from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict

from envelopes.registries.doors import doors
from envelopes.registries.part_types import INBOUND, PartType
from envelopes.registries.retelling import data_of, metadata_of
from envelopes.types import JsonObject


class ApprovalResponse(BaseModel):
    """Exactly the fields of the approval document; who decided by name, and by which door, go under ``metadata``."""

    model_config = ConfigDict(extra="forbid")

    approvalId: str
    decision: Literal["granted", "denied"]
    reason: str | None = None
    decidedBy: str | None = None
    decidedAt: str


def _retold(part: JsonObject) -> str:
    data = data_of(part)
    reason = f", reason: {data['reason']}" if data.get("reason") else ""
    return f"[Approval {data.get('decision', '')}{reason}]"


def _in_words(part: JsonObject) -> str:
    data, metadata = data_of(part), metadata_of(part)
    if data.get("reason") == "expired":
        return _("Expired: nobody decided in time. Nothing ran.")
    told = _("Approved by {}{}.") if data.get("decision") == "granted" else _("Denied by {}{}.")
    # A rule is named as one: where it was is no news.
    where = "" if str(data.get("decidedBy")).startswith("policy:") else by_door(metadata.get("source"))
    return reasoned(told.format(metadata.get("decidedByName") or _("somebody"), where), data.get("reason"))


def by_door(source: object) -> str:
    """Where somebody decided, behind who it was."""
    door = doors.get(source)
    return f", {door.label}" if door is not None else ""


def reasoned(told: str, reason: object) -> str:
    """What was decided, and the reason where somebody gave one."""
    return f"{told} {_('Reason: {}').format(reason)}" if isinstance(reason, str) and reason else told


APPROVAL_RESPONSE = PartType(
    "approval-response",
    INBOUND,
    "inbound-only",
    "inbound-only",
    data="required",
    data_model=ApprovalResponse,
    allowed_late=True,
    decides=True,
    canonical=True,
    retold=_retold,
    in_words=_in_words,
    description="what a person decided about a call of a tool",
    example={"data": {"approvalId": "apr_1", "decision": "granted", "decidedAt": "2026-04-20T09:50:00.000Z"}},
)
