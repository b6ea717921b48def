"""``read_result``: what a model calls to read more of a result that was cut for it (``turns.results``)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from envelopes.conf import conf
from envelopes.database_threads import in_session
from envelopes.errors import ToolFailed
from envelopes.models import ToolCall
from envelopes.protocol.pointers import Nothing, at, tokens
from envelopes.providers.transcript import dumped
from envelopes.registries.tools import Tool
from envelopes.turns.results import READ_RESULT, piece
from envelopes.types import Json

_AROUND = 500
"""Characters of an answer beside the piece that it brings."""


class Wanted(BaseModel):
    call: Annotated[str, Field(description="`call` of the result that was cut")]
    start: Annotated[int, Field(ge=0, description="its first character to read, such as `next`")] = 0
    path: Annotated[str, Field(description="a JSON Pointer to a part of it, such as /flights/3")] = ""


async def _read(context: Any, args: Wanted) -> Json:
    # Of calls alone, which a surface's are none of: those read nothing.
    running: ToolCall | None = getattr(context, "call", None)
    if not isinstance(running, ToolCall):
        raise ToolFailed("There are no results here.")
    found = await in_session(running.session_id, _found, running, context.actor, args.call)
    if found is None:
        raise ToolFailed(f"There is no result of a call {args.call!r}.")
    steps = tokens(args.path)
    value = at(found.result, steps) if steps is not None else None
    if steps is None or isinstance(value, Nothing):
        raise ToolFailed(f"The result of {found.name} has nothing at {args.path!r}.")
    text = dumped(value)
    room = max(_AROUND, conf.BEACH_RESULT_CHARACTERS - _AROUND - len(args.path))
    shown = piece(text, args.start, room)
    told: dict[str, Json] = {"call": args.call, "characters": len(text), "start": args.start, "json": shown}
    if args.path:
        told["path"] = args.path
    if (following := args.start + len(shown)) < len(text):
        told["next"] = following
    return told


def _found(running: ToolCall, actor: str, call_id: str) -> ToolCall | None:
    """The newest call of this actor in this conversation with that id which has a result."""
    calls = ToolCall.objects.filter(session=running.session_id, turn__actor=actor, call_id=call_id)
    return calls.filter(state="succeeded").order_by("-pk").first()


TOOL = Tool(
    name=READ_RESULT,
    description="Reads more of a tool's result of which you got only the beginning.",
    input=Wanted,
    run=_read,
    label="Reading on",
)
