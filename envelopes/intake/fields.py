"""What people do on surfaces that begins no turn: edits of inputs, and more of a list."""

from __future__ import annotations

from a2ui import ActionError, Edit, InputError, More, Target
from envelopes.access import Principal
from envelopes.errors import BeachError
from envelopes.intake.originating import originator
from envelopes.intake.remembering import once
from envelopes.log.append import Writer
from envelopes.log.reserving import Reserved
from envelopes.models import Session
from envelopes.protocol.rows import EditData, ShowData
from envelopes.secrets import seal
from envelopes.session_state import live_sessions
from envelopes.turns.agent_calls import make_due
from envelopes.types import Json, JsonObject

_ROW = Reserved(rows=1)


class SurfaceRefused(BeachError):
    """The surface did not take that."""

    fault = "client"

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def edit_data(edit: Edit) -> EditData:
    """The data of an ``edit`` row."""
    return {"owner": edit.owner, "surfaceId": edit.surface_id, "ops": edit.ops, "target": edit.target}


def show_data(more: More) -> ShowData:
    """The data of a ``show`` row."""
    return {"owner": more.owner, "surfaceId": more.surface_id, "target": more.target, "count": more.count}


def post_edit(session: Session, who: Principal, message_id: str, target: Target, value: Json) -> JsonObject:
    """A person's edit of an input, named by its DOM id or as a component (``protocol.targets``). Raises
    ``SurfaceRefused`` with the engine's code and sentence."""

    def effect(writer: Writer) -> JsonObject:
        with live_sessions.open(writer.session, upto=writer.known_seq) as view:
            # What was typed into an obscured field is sealed before it is anywhere but in this request (D24).
            try:
                edit = view.surfaces.edit(target, value, conceal=lambda typed: seal(writer.session, typed))
            except InputError as error:
                raise SurfaceRefused(error.code, error.message) from error
        if edit.ops:
            writer.add("edit", edit_data(edit))
            whose = [originator(who)]
            make_due(writer, lambda surfaces: surfaces.apply_edit(edit), originators=whose)
        return {}

    return once(session, who, message_id, effect, _ROW)


def post_show(session: Session, who: Principal, message_id: str, target: Target) -> JsonObject:
    """A click on "show more" under a list that is cut. A row, so that every process and every replay shows the same
    items. Raises ``SurfaceRefused`` where there is no more."""

    def effect(writer: Writer) -> JsonObject:
        with live_sessions.open(writer.session, upto=writer.known_seq) as view:
            try:
                more = view.surfaces.more(target)
            except ActionError as error:
                raise SurfaceRefused(error.code, error.message) from error
        writer.add("show", show_data(more))
        make_due(writer, lambda surfaces: surfaces.apply_more(more), originators=[originator(who)])
        return {}

    return once(session, who, message_id, effect, _ROW)
