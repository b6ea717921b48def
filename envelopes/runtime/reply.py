"""A reply as it is stored: block by block, each in one fenced transaction.

A block is kept when it is complete, so a crash in the middle of a reply loses only what was still being written.
"""

from __future__ import annotations

from pydantic import BaseModel, ValidationError

from envelopes.artifacts import as_stored
from envelopes.errors import BeachError, Conflict, RespondRefused, ToolFailed, ValidationFailed
from envelopes.log.append import Writer, writing
from envelopes.log.digest import call_digest
from envelopes.models import ToolCall, Turn
from envelopes.protocol.exact import check_exact
from envelopes.protocol.parts import Part, from_pydantic
from envelopes.protocol.respond import RESPOND, RespondCall, check_respond
from envelopes.protocol.strict_json import INPUT_DEPTH
from envelopes.protocol.text import clean_json, clean_text
from envelopes.providers.transcript import extended, tool_use
from envelopes.registries.actors import actors
from envelopes.registries.part_types import part_types
from envelopes.registries.tools import Tool
from envelopes.runtime.store import Claim
from envelopes.runtime.surfaces import check_surfaces
from envelopes.types import Json, JsonObject

MAX_CALLS = 64
"""Tool calls of one reply, respond() included."""


def last_reply(turn: Turn) -> list[JsonObject]:
    """The blocks of the assistant's last message, if that is the last message."""
    if turn.messages and turn.messages[-1]["role"] == "assistant":
        content: list[JsonObject] = turn.messages[-1]["content"]
        return content
    return []


def record_block(claim: Claim, block: JsonObject, *, prose: str = "") -> None:
    """Keep a text or thinking block of the reply. Prose is kept for audit and never delivered (R1, D6)."""
    with writing(claim.session_pk, fence=claim.fence) as writer:
        turn = Turn.objects.get(pk=claim.turn_pk)
        turn.messages = extended(turn.messages, "assistant", [clean_json(block)])
        turn.save(update_fields=["messages"])
        if prose.strip():
            writer.add("free-text", {"text": clean_text(prose)}, turn=turn)


def record_respond(claim: Claim, call_id: str, raw: Json, *, live: dict[int, str]) -> JsonObject | None:
    """Check one respond() call and append its parts, all or none. ``live`` are the streamed bubbles by part number.

    Returns None, or the refusal: ``{code, message, path, ...}``. A refused call withdraws what it had shown.
    """
    with writing(claim.session_pk, fence=claim.fence) as writer:
        turn = Turn.objects.select_related("session").get(pk=claim.turn_pk)
        call: RespondCall | None = None
        refusal: BeachError | None = None
        repaired: list[JsonObject] = []
        try:
            if isinstance(raw, BeachError):
                raise raw
            call = check_respond(raw, actors=tuple(name for name in actors.names() if name != turn.actor))
            repaired = check_surfaces(writer, turn, call.parts)
        except (RespondRefused, ValidationFailed) as error:
            refusal = error
        shown = raw if isinstance(raw, dict) else {}
        turn.messages = extended(turn.messages, "assistant", [tool_use(call_id, RESPOND, shown)])
        turn.live = {}
        if call is None or refusal is not None:
            refusal = refusal or RespondRefused()
            turn.corrections += 1
            turn.results[call_id] = {"error": refusal.as_dict()}
            writer.add("refused", {"call": RESPOND, "error": refusal.as_dict(), "input": shown}, turn=turn)
            if live:
                writer.add("withdrawn", {"live": sorted(live.values())}, turn=turn)
        else:
            turn.turn_state = call.state
            for number, part in enumerate(call.parts):
                _append_part(writer, turn, part, call.state, live.get(number))
            if call.note:
                writer.add("note", {"note": call.note}, turn=turn)
            for problem in repaired:
                writer.add("diagnostic", problem, turn=turn)
            told = {"delivered": len(call.parts), "turnState": call.state, "repaired": repaired}
            turn.results[call_id] = {"ok": {**told, "passTo": call.pass_to} if call.pass_to else told}
        turn.save(update_fields=["messages", "results", "live", "corrections", "turn_state"])
        return refusal.as_dict() if refusal else None


def _append_part(writer: Writer, turn: Turn, part: Part, state: str, live: str | None) -> None:
    kind = part_types[part.part_type]
    data: JsonObject = {"part": as_stored(writer.session, part).as_json(), "turnState": state}
    if live:
        data["live"] = live
    hidden = kind.streaming in ("drop", "audit-only")
    writer.add("part", data, part_type=part.part_type, turn=turn, audience="audit" if hidden else "delivered")


def record_call(claim: Claim, call_id: str, name: str, raw: Json) -> None:
    """Keep a tool call of the reply. An unknown tool or bad arguments are answered at once and store no call."""
    with writing(claim.session_pk, fence=claim.fence) as writer:
        turn = Turn.objects.get(pk=claim.turn_pk)
        tool = actors[turn.actor].tool(name)
        # What cannot be kept as it was sent is refused below; what the model remembers of it has to be storable.
        args: JsonObject = clean_json(raw, depth=INPUT_DEPTH) if isinstance(raw, dict) else {}
        if sum(block.get("type") == "tool_use" for block in last_reply(turn)) >= MAX_CALLS:
            # Not kept either, so it needs no answer: the model hears of it with those that were.
            turn.correction = f"At most {MAX_CALLS} calls fit in one reply. Those after them were not run."
            turn.save(update_fields=["correction"])
            return
        if turn.tool_calls.filter(call_id=call_id).exists():
            # The first call stands. A second one under its id could not be answered, so it is none.
            taken = Conflict(f"There is a call {call_id!r} already. This one was not run.")
            turn.corrections += 1
            turn.save(update_fields=["corrections"])
            writer.add("refused", {"call": name, "error": taken.as_dict(), "input": args}, turn=turn)
            return
        turn.messages = extended(turn.messages, "assistant", [tool_use(call_id, name, args)])
        turn.nudges = 0
        try:
            if isinstance(raw, BeachError):
                raise raw
            if tool is None:
                raise ValidationFailed(
                    f"There is no tool {name!r}.", allowed=[tool.name for tool in actors[turn.actor].tools]
                )
            args = checked_args(tool, raw)
            ToolCall.objects.create(
                session=writer.session,
                turn=turn,
                call_id=call_id,
                position=turn.tool_calls.count(),
                name=name,
                args=args,
                digest=call_digest(name, args),
                background=tool.background,
            )
        except BeachError as error:
            turn.corrections += 1
            turn.results[call_id] = {"error": error.as_dict()}
            writer.add("refused", {"call": name, "error": error.as_dict(), "input": args}, turn=turn)
        turn.save(update_fields=["messages", "results", "corrections", "nudges"])


def checked_args(tool: Tool, raw: Json) -> JsonObject:
    """The arguments of a call as plain JSON, defaults filled in: what is shown, approved and run.

    Raises ``ValidationFailed``: for what could not be kept as it was sent, for what the tool's input model refuses, and
    for keys that it would drop in silence. Raises ``ToolFailed`` when the model does not read its own JSON back as what
    it wrote, so that another call would run than the one that was shown.
    """
    check_exact(raw)
    try:
        read = tool.input.model_validate(raw)
        args: JsonObject = read.model_dump(mode="json", by_alias=True)
        if _dropped(raw, args):
            # Which of them an alias accounts for, only the model knows.
            tool.input.model_validate(raw, extra="forbid")
    except ValidationError as error:
        raise from_pydantic(error) from error
    check_exact(args)
    if not _reads_back(tool, read, args):
        raise ToolFailed(f"The tool {tool.name} does not read back its own arguments. It was not run.")
    return args


def _dropped(raw: Json, args: Json) -> bool:
    """Whether ``raw`` has a key, at any depth, that ``args`` has not."""
    if isinstance(raw, dict) and isinstance(args, dict):
        return any(key not in args or _dropped(item, args[key]) for key, item in raw.items())
    if isinstance(raw, list) and isinstance(args, list):
        return any(_dropped(item, kept) for item, kept in zip(raw, args, strict=False))
    return False


def _reads_back(tool: Tool, read: BaseModel, args: JsonObject) -> bool:
    try:
        again = tool.input.model_validate(args)
    except ValidationError:
        return False
    return again == read and again.model_dump(mode="json", by_alias=True) == args
