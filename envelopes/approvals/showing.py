"""The surfaces of approvals in the log: made with the question, gone with the answer."""

from __future__ import annotations

import logging

from a2ui.compose import delete_surface
from envelopes.approvals.surface import DEFAULT, shown_facts, surface_id_of
from envelopes.errors import RespondRefused
from envelopes.log.append import Writer
from envelopes.models import Approval, Turn
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.protocol.parts import Metadata, Part
from envelopes.protocol.rows import DiagnosticData
from envelopes.protocol.surfaces import RUNTIME
from envelopes.protocol.text import clean_text, clip
from envelopes.protocol.time import instant
from envelopes.registries.surface_templates import APPROVAL, TemplateContext, surface_templates
from envelopes.registries.tools import Tool
from envelopes.session_state import live_sessions
from envelopes.turns.parts import append_parts
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)


def show(writer: Writer, turn: Turn, approval: Approval, tool: Tool) -> None:
    """Append the surface of a question, behind its part. Where there is no room for another surface there is none: it
    has been asked all the same."""
    try:
        messages = _made(writer, turn, approval, tool)
        append_parts(writer, turn, [_part(messages)], "runtime", state="suspended", actor=RUNTIME)
    except RespondRefused as error:
        _tell(writer, turn, surface_id_of(approval.approval_id), error.message)


def end(writer: Writer, approval: Approval) -> None:
    """The question has been answered, by whoever and wherever: its surface goes."""
    surface_id = surface_id_of(approval.approval_id)
    with live_sessions.open(writer.session, upto=writer.known_seq) as view:
        is_there = view.surfaces.get(RUNTIME, surface_id) is not None
    if is_there:
        ended = _part([delete_surface(surface_id)])
        append_parts(writer, approval.turn, [ended], "runtime", actor=RUNTIME)


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
        _tell(writer, turn, surface_id, f"Template {template.name}: {type(error).__name__}: {error}")
        made = DEFAULT.draw(data, context)
    return made.create()


def _tell(writer: Writer, turn: Turn, surface_id: str, message: str) -> None:
    told: DiagnosticData = {
        "part": "",
        "code": "TEMPLATE_FAILED",
        "surfaceId": surface_id,
        "path": "",
        "message": clip(clean_text(message), 512),
    }
    writer.add("diagnostic", told, turn=turn, actor=RUNTIME, audience="audit")


def _part(messages: list[JsonObject]) -> Part:
    return Part(data={"messages": messages}, metadata=Metadata(partType=A2UI_SURFACE.name, slotKey=APPROVAL))
