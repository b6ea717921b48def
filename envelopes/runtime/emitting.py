"""What tools say beside their results: parts while they run, and a last word when they end without one."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from envelopes import artifacts
from envelopes.errors import BeachError
from envelopes.log.append import Writer
from envelopes.models import ToolCall, Turn
from envelopes.protocol.parts import check_part
from envelopes.registries.actors import actors
from envelopes.registries.part_types import part_types
from envelopes.runtime.surfaces import check_surfaces
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)


def emit(writer: Writer, turn: Turn, raw: Sequence[JsonObject]) -> None:
    """Append parts of a tool, checked like an actor's; all of them or, raising what the checks do, none."""
    checked = [check_part(part, origin="actor", path=f"/{number}")[0] for number, part in enumerate(raw)]
    check_surfaces(writer, turn, checked)
    for part in checked:
        hidden = part_types[part.part_type].streaming in ("drop", "audit-only")
        # A turn that was settled meanwhile says nothing more; what its job still does is kept for audit.
        late = turn.status == "settled" and part.part_type != "a2ui-surface"
        writer.add(
            "part",
            {
                "part": artifacts.as_stored(writer.session, part).as_json(),
                "turnState": turn.turn_state or "awaiting",
                **({"late": True} if late else {}),
            },
            part_type=part.part_type,
            turn=turn,
            audience="audit" if hidden or late else "delivered",
        )


def emit_unfinished(writer: Writer, turn: Turn, call: ToolCall) -> None:
    """Append ``Tool.unfinished`` of a call that ran and ended without a result: a surface that it was filling must not
    look as if it still did.

    Parts that do not fit are logged and left out, since the end of a turn must not depend on them: the usual reason is
    a surface that was not shown yet, or is closed by now.
    """
    actor = actors.get(turn.actor)
    tool = actor.tool(call.name) if actor else None
    if tool is None or tool.unfinished is None:
        return
    try:
        parts = tool.unfinished(call.call_id, tool.input.model_validate(call.args))
    except Exception:
        logger.exception("The last word of %s raised.", call.name)
        return
    try:
        emit(writer, turn, parts)
    except BeachError as error:
        logger.info("The last word of %s was left out: %s", call.name, error.message)
