"""A session at a row: its surfaces, as the rows up to there made them. Nothing of presenters."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from a2ui import CallsDue, Diagnostic, Edit, Engine, More, PatchError, SurfaceChange, SurfaceSet
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.protocol.rows import Row
from envelopes.protocol.surfaces import messages_of
from envelopes.types import Json, JsonObject

logger = logging.getLogger(__name__)


class SessionState:
    """The surfaces of a session at row ``seq``.

    ``shown``: somebody presents them, so each row says what it changed on pages. Where nobody does, nothing is drawn;
    a state that was not shown cannot become one that is, since nobody knows what pages have of it.
    """

    def __init__(
        self,
        session_pk: int,
        engine: Engine,
        *,
        seq: int = 0,
        surfaces: Mapping[str, Json] | None = None,
        shown: bool = False,
    ) -> None:
        self.session_pk = session_pk
        self.engine = engine
        self.seq = seq
        self.shown = shown
        self.surfaces: SurfaceSet = (
            engine.surfaces() if surfaces is None else engine.restore(surfaces, shown=shown)
        )

    def apply(self, row: Row) -> Sequence[SurfaceChange]:
        """Apply the next row. Returns what it changed on surfaces.

        A row was checked before it was stored, so a surface that refuses it now means that code changed since; that
        is logged and the rest of the session goes on.
        """
        refused, changes = self.enter(row)
        for diagnostic in refused:
            logger.error("Row %s of session %s: %s", row.seq, self.session_pk, diagnostic.message)
        self.seq = row.seq
        return changes

    def enter(self, row: Row) -> tuple[list[Diagnostic], Sequence[SurfaceChange]]:
        """What ``apply`` does to the surfaces; what they refused of it, what it changed. ``seq`` stays."""
        if row.audience != "delivered":
            return [], ()
        try:
            found = apply_to_surfaces(self.surfaces, row)
        except MemoryError:
            raise
        except Exception:
            # Code has changed since it was stored, or has a fault: the conversation opens all the same.
            logger.exception("Row %s of session %s cannot be taken in.", row.seq, self.session_pk)
            found = [Diagnostic("INTERNAL_ERROR", "This change could not be taken in.", refused=True)]
        refused = [one for one in found if one.refused]
        if not self.shown:
            self.surfaces.skip()
            return refused, ()
        changes = self.surfaces.flush()
        # The agent heard of what its messages caused; this is what people's edits bring up.
        for diagnostic in self.surfaces.diagnostics() if changes else ():
            logger.debug("Row %s of session %s: %s", row.seq, self.session_pk, diagnostic.message)
        return refused, changes


def calls_due(data: JsonObject) -> CallsDue:
    """What an ``agent-call`` row says."""
    return CallsDue(data["owner"], data["surfaceId"], data["messages"], data["forget"], data["clicked"])


def apply_to_surfaces(surfaces: SurfaceSet, row: Row) -> list[Diagnostic]:
    """What a row means to the surfaces: an agent's messages, a person's edit, a person's wish to see more, a call of an
    agent's function and what came of it."""
    if row.kind == "part" and row.part_type == A2UI_SURFACE.name:
        found: list[Diagnostic] = []
        for message in messages_of(row.data["part"].get("data")):
            found += surfaces.apply(message, owner=row.actor)
        return found
    if row.kind == "edit":
        try:
            surfaces.apply_edit(Edit(row.data["owner"], row.data["surfaceId"], row.data["ops"]))
        except PatchError as error:
            return [Diagnostic(error.code, error.message, refused=True)]
    if row.kind == "agent-call":
        surfaces.calls.make(calls_due(row.data))
    if row.kind == "agent-answer":
        return surfaces.apply(row.data["message"], owner=row.data["owner"])
    if row.kind == "show":
        surfaces.apply_more(
            More(row.data["owner"], row.data["surfaceId"], row.data["target"], row.data["count"])
        )
    return []
