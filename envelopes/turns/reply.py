"""A reply as it is stored: block by block, each in one fenced transaction, the last one together with its end.

A block is kept when it is complete, so a crash in the middle of a reply loses only what was still being written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from envelopes.errors import BeachError, Conflict, RespondRefused, ToolFailed, ValidationFailed
from envelopes.log.append import Writer, writing
from envelopes.log.digest import call_digest
from envelopes.models import ToolCall, Turn
from envelopes.models.turn import WRITTEN
from envelopes.part_types import reasoning_trace
from envelopes.protocol.exact import check_exact
from envelopes.protocol.parts import as_pydantic, from_pydantic
from envelopes.protocol.references import resolved
from envelopes.protocol.respond import RESPOND, RespondCall, check_respond
from envelopes.protocol.strict_json import INPUT_DEPTH, MAX_BYTES
from envelopes.protocol.text import clean_json, clean_text, clip
from envelopes.providers.transcript import extended, is_thinking, thinking_in, tool_use
from envelopes.registries.actors import actors
from envelopes.registries.part_types import part_types
from envelopes.registries.tools import Tool
from envelopes.turns.deciding import ANSWERED, calls_of, last_reply
from envelopes.turns.history import opening_messages
from envelopes.turns.leases import Claim
from envelopes.turns.parts import Appended, append_parts
from envelopes.turns.references import results_of
from envelopes.turns.retrying import retried_part
from envelopes.turns.surfaces import for_models
from envelopes.types import Json, JsonObject

MAX_CALLS = 64
"""Tool calls of one reply, respond() included."""


KEPT_ASIDE = 100_000
"""Characters that the log keeps of a block of text or thinking, which nobody but staff may read: the model's messages
have all of it."""


@dataclass(frozen=True)
class Written:
    """A text or thinking block, as it has to be sent back. Prose is kept for audit and never delivered (R1, D6);
    thinking becomes a part that never leaves the server, if it is kept at all."""

    content: JsonObject
    prose: str = ""

    @property
    def rows(self) -> int:
        """How many rows it is."""
        return bool(self.prose.strip()) + bool(traced(self.content))


@dataclass(frozen=True)
class Respond:
    """A respond() call. ``raw`` is its input, or the error that its JSON has; ``live`` are the streamed bubbles by part
    number. ``strict``: surfaces that would not be shown as they were meant are refused (D60). ``limit``: bytes that
    what it refers to may have."""

    call_id: str
    raw: Json
    live: dict[int, str] = field(default_factory=dict)
    strict: bool = False
    limit: int = MAX_BYTES

    @property
    def rows(self) -> int:
        """How many rows it will most likely be."""
        shown = self.raw if isinstance(self.raw, dict) else {}
        parts = shown.get("parts")
        return (len(parts) if isinstance(parts, list) else 1) + bool(shown.get("note"))


@dataclass(frozen=True)
class Called:
    """A call of a tool. ``raw`` is its input, or the error that its JSON has."""

    call_id: str
    name: str
    raw: Json


Block: TypeAlias = Written | Respond | Called


def record(claim: Claim, turn: Turn, block: Block) -> JsonObject | None:
    """Keep a complete block of the reply. ``turn`` is what the runner has of it, and is changed.

    Returns what ``add_block`` does. Raises ``LeaseLost``; after that, or after any error, ``turn`` is worth nothing.
    """
    with writing(claim.session_pk, fence=claim.fence) as writer:
        refusal = add_block(writer, turn, block)
        writer.store(turn, _fields(block))
        return refusal


def record_anew(claim: Claim, block: Block, model: str) -> None:
    """``record`` after an error, of a block that ``model`` wrote: on the turn as it is stored, and only where the block
    is not there yet, since the error may have come after the commit. Raises ``LeaseLost``."""
    with writing(claim.session_pk, fence=claim.fence) as writer:
        turn = Turn.objects.select_related("session").get(pk=claim.turn_pk)
        if _has(turn, block):
            return
        turn.model = turn.model or model
        turn.messages = turn.messages or opening_messages(turn, upto=writer.known_seq)
        add_block(writer, turn, block)
        writer.store(turn, _fields(block))


def _has(turn: Turn, block: Block) -> bool:
    last = last_reply(turn)
    if isinstance(block, Written):
        return bool(last) and last[-1] == clean_json(block.content)
    return block.call_id in [call["id"] for call in calls_of(turn)]


def _fields(block: Block) -> tuple[str, ...]:
    # Beside what is no respond() call, text may be streaming, and is being saved.
    return tuple(name for name in WRITTEN if name != "live" or isinstance(block, Respond))


def add_block(writer: Writer, turn: Turn, block: Block) -> JsonObject | None:
    """Add ``block`` to ``turn``, which whoever calls this stores with ``writer``. Returns None, or the refusal of a
    respond() call: ``{code, message, path, ...}``."""
    match block:
        case Written(content, prose):
            cleaned = clean_json(content)
            if cleaned == content or not is_thinking(content):
                # Thinking is signed: what is not the same any more would be refused, and the turn with it.
                turn.messages = extended(turn.messages, "assistant", [cleaned])
            if prose.strip():
                writer.add("free-text", {"text": clip(clean_text(prose), KEPT_ASIDE)}, turn=turn)
            if (trace := traced(content)) is not None:
                part = reasoning_trace.part({**trace, "model": turn.model})
                append_parts(writer, turn, [part], "actor")
        case Respond():
            return _add_respond(writer, turn, block)
        case Called():
            _add_call(writer, turn, block)
    return None


def traced(content: JsonObject) -> JsonObject | None:
    """What is kept of a block of thinking, and None of any other."""
    found = thinking_in(content) if reasoning_trace.is_kept() else None
    return {**found, "text": clip(found["text"], KEPT_ASIDE)} if found and "text" in found else found


def _add_respond(writer: Writer, turn: Turn, block: Respond) -> JsonObject | None:
    """Check one respond() call and append its parts, all or none. A refused one withdraws what it had shown."""
    raw, call_id, live = block.raw, block.call_id, block.live
    call: RespondCall | None = None
    refusal: BeachError | None = None
    appended = Appended([], [], [], [])
    try:
        if isinstance(raw, BeachError):
            raise raw
        whole = resolved(raw, lambda: results_of(turn), limit=block.limit)
        call = check_respond(whole, actors=tuple(name for name in actors.names() if name != turn.actor))
        appended = append_parts(
            writer, turn, call.parts, "actor", state=call.state, live=live, strict=block.strict
        )
    except (RespondRefused, ValidationFailed) as error:
        refusal = error
    shown = _kept(raw) if isinstance(raw, dict) else {}
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
        if call.note:
            writer.add("note", {"note": call.note}, turn=turn)
        for problem in appended.repaired:
            writer.add("diagnostic", problem, turn=turn)
        told: JsonObject = {
            "delivered": len(call.parts) - len(appended.refused),
            "turnState": call.state,
            "repaired": [for_models(problem) for problem in appended.repaired],
        }
        if appended.refused:
            told["refused"] = appended.refused
        if appended.unbound:
            told["unbound"] = appended.unbound
        if appended.responses:
            told[ANSWERED] = appended.responses
        named = {"passTo": call.pass_to, "delegateTo": call.delegate_to, "task": call.task}
        told |= {key: value for key, value in named.items() if value}
        if (retry := retried_part(call)) is not None:
            told["retry"] = retry
        turn.results[call_id] = {"ok": told}
    return refusal.as_dict() if refusal else None


def _kept(raw: JsonObject) -> JsonObject:
    """The input of a call without the parts that are stored nowhere (``PartType.kept``)."""
    parts = raw.get("parts")
    return {**raw, "parts": [part for part in parts if _is_kept(part)]} if isinstance(parts, list) else raw


def _is_kept(part: Json) -> bool:
    found = part if isinstance(part, dict) else {}
    metadata = found.get("metadata")
    name = metadata.get("partType") if isinstance(metadata, dict) else found.get("partType")
    kind = part_types.get(name) if isinstance(name, str) else None
    return kind is None or kind.kept is None or kind.kept()


def _add_call(writer: Writer, turn: Turn, block: Called) -> None:
    """Keep a tool call. An unknown tool or bad arguments are answered at once and store no call."""
    call_id, name, raw = block.call_id, block.name, block.raw
    tool = actors[turn.actor].tool(name)
    # What cannot be kept as it was sent is refused below; what the model remembers of it has to be storable.
    args: JsonObject = clean_json(raw, depth=INPUT_DEPTH) if isinstance(raw, dict) else {}
    if len(calls_of(turn)) >= MAX_CALLS:
        # Not kept either, so it needs no answer: the model hears of it with those that were.
        turn.correction = f"At most {MAX_CALLS} calls fit in one reply. Those after them were not run."
        return
    if turn.tool_calls.filter(call_id=call_id).exists():
        # The first call stands. A second one under its id could not be answered, so it is none.
        taken = Conflict(f"There is a call {call_id!r} already. This one was not run.")
        turn.corrections += 1
        writer.add("refused", {"call": name, "error": taken.as_dict(), "input": args}, turn=turn)
        return
    turn.messages = extended(turn.messages, "assistant", [tool_use(call_id, name, args)])
    turn.nudges = 0
    try:
        if isinstance(raw, BeachError):
            raise raw
        if tool is None:
            raise ValidationFailed(
                f"There is no tool {name!r}.", allowed=[tool.name for tool in actors[turn.actor].all_tools]
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


def checked_args(tool: Tool, raw: Json, *, said: Callable[[ErrorDetails], str] = as_pydantic) -> JsonObject:
    """The arguments of a call as plain JSON, defaults filled in: what is shown, approved and run. ``said`` words what
    is wrong with them for whoever sent them, who is a model most often.

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
        raise from_pydantic(error, said=said) from error
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
