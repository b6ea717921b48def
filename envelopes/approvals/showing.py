"""The surfaces of approvals in the log: made with the question, told of the answer."""

from __future__ import annotations

import logging

from django.utils.translation import gettext as _

from a2ui.compose import delete_surface, plain, update_data
from envelopes.approvals.surface import (
    DEFAULT,
    OPEN,
    OUTCOME,
    approval_of,
    shown_facts,
    surface_id_of,
)
from envelopes.log.append import Writer
from envelopes.models import Approval, Turn
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.protocol.parts import Metadata, Part
from envelopes.protocol.rows import DiagnosticData
from envelopes.protocol.surfaces import RUNTIME
from envelopes.protocol.text import clean_text, clip
from envelopes.protocol.time import instant
from envelopes.registries.statuses import ApprovalStatus
from envelopes.registries.surface_templates import APPROVAL, TemplateContext, surface_templates
from envelopes.registries.tools import Tool
from envelopes.session_state import live_sessions
from envelopes.turns.parts import append_parts
from envelopes.types import Json, JsonObject

logger = logging.getLogger(__name__)


def show(writer: Writer, turn: Turn, approval: Approval, tool: Tool) -> None:
    """Append the surface of a question, behind its part. Surfaces of questions that have been answered go: a session
    holds so many and no more."""
    with live_sessions.open(writer.session, upto=writer.known_seq) as view:
        over = [
            surface.id
            for surface in view.surfaces
            if surface.owner == RUNTIME and approval_of(surface.id) and not _is_open(surface.data_model)
        ]
    messages = [*map(delete_surface, over), *_made(writer, turn, approval, tool)]
    append_parts(writer, turn, [_part(messages)], "runtime", state="suspended", actor=RUNTIME)


def tell(writer: Writer, approval: Approval, name: str) -> None:
    """Say on its surface what became of a question, whoever answered it and where."""
    surface_id = surface_id_of(approval.approval_id)
    with live_sessions.open(writer.session, upto=writer.known_seq) as view:
        if view.surfaces.get(RUNTIME, surface_id) is None:
            return
    messages = [
        update_data(surface_id, OPEN, False),
        update_data(surface_id, OUTCOME, plain(_outcome(approval, name))),
    ]
    append_parts(writer, approval.turn, [_part(messages)], "runtime", actor=RUNTIME)


def _is_open(data: Json) -> bool:
    return isinstance(data, dict) and data.get("open") is True


def _outcome(approval: Approval, name: str) -> str:
    if approval.state == ApprovalStatus.EXPIRED:
        return _("Expired. Nothing ran.")
    done = _("Approved") if approval.state == ApprovalStatus.GRANTED else _("Denied")
    told = _("{} by {}").format(done, name) if name else done
    return f"{told}: {approval.reason}" if approval.reason else f"{told}."


def _made(writer: Writer, turn: Turn, approval: Approval, tool: Tool) -> list[JsonObject]:
    session = writer.session
    data: JsonObject = {
        "approvalId": approval.approval_id,
        "question": approval.question,
        "why": approval.why,
        "facts": shown_facts(list(tool.fields), approval.args, session.locale),
        "risk": approval.risk,
        "riskNote": tool.approval.risk_note if tool.approval else "",
        "toolName": approval.tool_name,
        "args": approval.args,
        "expiresAt": instant(approval.expires_at) if approval.expires_at else None,
    }
    surface_id = surface_id_of(approval.approval_id)
    context = TemplateContext(
        surface_id, session.public_id, turn.actor, APPROVAL, session.locale, session.timezone
    )
    template = surface_templates.get(APPROVAL) or DEFAULT
    try:
        made = template.draw(data, context)
        if made.surface_id != surface_id:
            raise ValueError(f"It is not the surface {surface_id!r}.")  # noqa: TRY301 - as any other of its faults
    except Exception as error:
        # The question has to be asked, whatever an application's template does.
        logger.exception("The surface template %r raised.", template.name)
        told: DiagnosticData = {
            "part": "",
            "code": "TEMPLATE_FAILED",
            "surfaceId": surface_id,
            "path": "",
            "message": clip(clean_text(f"Template {template.name}: {type(error).__name__}: {error}"), 512),
        }
        writer.add("diagnostic", told, turn=turn, actor=RUNTIME, audience="audit")
        made = DEFAULT.draw(data, context)
    return made.create()


def _part(messages: list[JsonObject]) -> Part:
    return Part(data={"messages": messages}, metadata=Metadata(partType=A2UI_SURFACE.name, slotKey=APPROVAL))
