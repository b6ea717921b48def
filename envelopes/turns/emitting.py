"""What tools say beside their results: parts while they run, and a last word when they end without one."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from envelopes.errors import BeachError
from envelopes.log.append import Writer
from envelopes.models import ToolCall, Turn
from envelopes.protocol.parts import Part
from envelopes.registries.actors import actors
from envelopes.registries.part_types import Origin
from envelopes.turns.late import turn_for
from envelopes.turns.parts import Appended, append_parts, checked_parts
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)


def emit(writer: Writer, call: ToolCall, parts: Sequence[Part | JsonObject], origin: Origin) -> Appended:
    """Append parts of a call to the turn that has it now, or to the one that they begin (``turns.late``); they stay its
    own actor's. Returns and raises what ``append_parts`` does."""
    turn = Turn.objects.get(pk=call.turn_id)
    checked = checked_parts(parts, origin)
    home = turn_for(writer, turn.holder(), call, checked, turn.actor)
    return append_parts(writer, home, checked, origin, actor=turn.actor)


def holder_of(turn_pk: int) -> Turn:
    """The turn that has now what this one began, with what is said of its parts."""
    found = Turn.objects.only("number", "actor", "status", "turn_state", "passed_to", "delegated_from")
    turn = found.get(pk=turn_pk)
    while turn.passed_to_id is not None:
        turn = found.get(pk=turn.passed_to_id)
    return turn


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
        append_parts(writer, turn.holder(), parts, "actor", actor=turn.actor)
    except BeachError as error:
        logger.info("The last word of %s was left out: %s", call.name, error.message)
