"""What a model reads of a turn: builders of the blocks that the runtime writes, and their readers.

Everything a person or the runtime tells a model stands in ``user`` messages. A person's words are plain text blocks;
what the runtime says stands between markers (``<action>``, ``<injection>``, ``<correction>``), one marker a block.
Text that comes from anyone else cannot forge one: a marker inside it gets a backslash after its ``<``, a marker
inside JSON has its ``<`` written as an escape. Readers undo both, so a round trip is exact. Text is cleaned
(``clean_text``) and never blank, since the Messages API refuses blank blocks and what is not UTF-8.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from envelopes.protocol.text import clean_json, clean_text
from envelopes.types import Json, JsonObject

# Whatever is not a letter may stand between: a model reads "< action >" or one with a hidden space as a marker too.
_AHEAD = r"(?=[^\w<]*(?:action|injection|correction)\b)"
_MARKER = re.compile("<" + _AHEAD, re.IGNORECASE)
_DISARMED = re.compile(r"<\\" + _AHEAD, re.IGNORECASE)
_ACTION = re.compile(r"<action>(.*)</action>", re.DOTALL)
_INJECTION = re.compile(
    r'<injection kind="([^"]*)" tool="([^"]*)" call="([^"]*)">(.*)</injection>', re.DOTALL
)
_KIND = re.compile(r'<injection kind="([^"]*)"')
_CORRECTION = re.compile(r"<correction>(.*)</correction>", re.DOTALL)
_BLANK = "(empty message)"

CONTEXT, DATA_MODEL, LEFT_OUT = "context", "data-model", "earlier-turns"
"""Kinds of injections: the person's surroundings, with which every turn begins; the data that surfaces send along; that
turns before those are not told."""

NOW = frozenset({DATA_MODEL, "message-parts", "handoff", "delegation", "surfaces"})
"""Kinds that stand behind what began a turn, and hold for it alone: later turns do not read them any more."""

JOINED = "joined"
"""The kind of the injection behind which a person's words stand that came while the turn was at work (D66)."""

_JOINED_NOTE = (
    "The person wrote what follows while this turn was at work. It belongs to it: answer it as well."
)


@dataclass(frozen=True)
class UserText:
    """What a person wrote."""

    text: str


@dataclass(frozen=True)
class ActionTaken:
    """A click on a surface: the A2UI action, and the data model where the surface sends it along."""

    action: JsonObject
    data_model: Json = None


@dataclass(frozen=True)
class Injection:
    """Something that came in later: ``kind`` is ``tool-result``, ``decision``, ...; ``tool`` and ``call_id`` say of
    what, and are empty where there is no call."""

    kind: str
    payload: Json
    tool: str = ""
    call_id: str = ""


@dataclass(frozen=True)
class Correction:
    """What the runtime asks the model to do better."""

    text: str


@dataclass(frozen=True)
class ToolResult:
    """The answer to one tool call; ``content`` of an error is ``{code, message, ...}``."""

    call_id: str
    content: Json
    is_error: bool = False


Entry: TypeAlias = UserText | ActionTaken | Injection | Correction | ToolResult


def user_text(text: str) -> JsonObject:
    """A person's words as a block."""
    return _text_block(_disarm(text))


def assistant_text(text: str) -> JsonObject:
    """An earlier turn's answer as a block; markers mean nothing in assistant messages, so it stays as it is."""
    return _text_block(text)


def block_of(text: str) -> JsonObject:
    """The block that had this ``text``, again."""
    return {"type": "text", "text": text}


def action_block(action: JsonObject, data_model: Json = None) -> JsonObject:
    """A click as a block. Raises ``ValidationFailed`` for what is not JSON."""
    payload = dict(action) if data_model is None else {**action, "dataModel": data_model}
    return _text_block(f"<action>{dumped(payload)}</action>")


def injection_block(kind: str, payload: Json, *, tool: str = "", call_id: str = "") -> JsonObject:
    """A late result, a decision, a peer's answer. Raises ``ValidationFailed`` for what is not JSON."""
    names = f'kind="{html.escape(kind)}" tool="{html.escape(tool)}" call="{html.escape(call_id)}"'
    return _text_block(f"<injection {names}>{dumped(payload)}</injection>")


def joined_block() -> JsonObject:
    """Says of the person's message behind it that it came while the turn was at work (D66)."""
    return injection_block(JOINED, {"note": _JOINED_NOTE})


def correction_block(text: str) -> JsonObject:
    """What the model has to do differently, in a sentence or two."""
    return _text_block(f"<correction>{_disarm(text)}</correction>")


def tool_result(call_id: str, content: Json, *, is_error: bool = False) -> JsonObject:
    """The answer to a tool call, as JSON text. Raises ``ValidationFailed`` for what is not JSON."""
    block: JsonObject = {"type": "tool_result", "tool_use_id": call_id, "content": dumped(content)}
    if is_error:
        block["is_error"] = True
    return block


def tool_use(call_id: str, name: str, arguments: JsonObject) -> JsonObject:
    """A tool call as it is sent back to the model; ``arguments`` are the checked ones."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def extended(messages: list[JsonObject], role: str, blocks: Iterable[JsonObject]) -> list[JsonObject]:
    """``messages`` with ``blocks`` at the end, as the Messages API wants them.

    Roles alternate: blocks for the role that spoke last join its message. Tool results stand before other blocks.
    Blank text blocks, which a model may write, are left out, and without blocks nothing is added: the API refuses
    both.
    """
    longer = list(messages)
    extend(longer, role, blocks)
    return longer


def extend(messages: list[JsonObject], role: str, blocks: Iterable[JsonObject]) -> None:
    """``extended`` in place, of a list that nobody else has yet; its messages are left as they are."""
    added = [block for block in blocks if block.get("type") != "text" or block["text"].strip()]
    if not added:
        return
    if messages and messages[-1]["role"] == role:
        added = [*messages.pop()["content"], *added]
    added.sort(key=lambda block: block.get("type") != "tool_result")
    messages.append({"role": role, "content": added})


def resumable(messages: list[JsonObject]) -> list[JsonObject]:
    """``messages`` without a last assistant message that calls no tool: what a reply that broke off had written.

    The API refuses to go on from there ("prefill"), and thinking without what it led to is worth nothing.
    """
    if messages and messages[-1]["role"] == "assistant":
        content = messages[-1]["content"]
        if isinstance(content, str) or not any(block.get("type") == "tool_use" for block in content):
            return messages[:-1]
    return list(messages)


def thinking_in(block: JsonObject) -> JsonObject | None:
    """What there is to read in a block of thinking: ``{text}``, or ``{blocks}`` where only its model can read it; None
    for any other block."""
    if not is_thinking(block):
        return None
    if block["type"] == "redacted_thinking":
        return {"blocks": [{"type": "redacted_thinking"}]}
    return {"text": clean_text(str(block.get("thinking") or ""))}


def without_thinking(messages: list[JsonObject]) -> list[JsonObject]:
    """``messages`` without thinking, which is bound to the model that wrote it; roles alternate all the same."""
    kept: list[JsonObject] = []
    for message in messages:
        if isinstance(message["content"], str):
            kept.append(message)
        else:
            extend(kept, message["role"], [block for block in message["content"] if not is_thinking(block)])
    return kept


def is_thinking(block: JsonObject) -> bool:
    """Whether it is what a model thought, whether or not others can read it."""
    return block.get("type") in ("thinking", "redacted_thinking")


def read_block(block: JsonObject) -> Entry | None:
    """What a block of a ``user`` message says; None for a kind of block that the runtime does not write."""
    if block.get("type") == "tool_result":
        return ToolResult(block["tool_use_id"], _load(block["content"]), bool(block.get("is_error")))
    if block.get("type") != "text":
        return None
    text: str = block["text"]
    if (found := _ACTION.fullmatch(text)) and isinstance(payload := _load(found[1]), dict):
        model = payload.pop("dataModel", None)
        return ActionTaken(payload, model)
    if found := _INJECTION.fullmatch(text):
        kind, tool, call_id = (html.unescape(found[group]) for group in (1, 2, 3))
        return Injection(kind, _load(found[4]), tool, call_id)
    if found := _CORRECTION.fullmatch(text):
        return Correction(_rearm(found[1]))
    return UserText(_rearm(text))


def in_order(messages: list[JsonObject]) -> list[JsonObject]:
    """``messages`` with the keys of their blocks in one order, however they were stored: PostgreSQL has another one for
    them than they were written in, and a cached prompt is one of bytes. ``metadata`` goes first, as models are to write
    it (D7). All of it is the caller's own: a provider of an application may change what it is given."""
    return [{"role": each["role"], "content": _in_order(each["content"])} for each in messages]


def _in_order(value: Json) -> Json:
    if isinstance(value, dict):
        if len(value) == 2 and value.get("type") == "text":
            # Nearly all there is.
            return {"text": value["text"], "type": "text"}
        keys = sorted(value, key=lambda key: (key != "metadata", key))
        return {key: _in_order(value[key]) for key in keys}
    return [_in_order(item) for item in value] if isinstance(value, list) else value


def injection_kind(block: JsonObject) -> str:
    """The kind of an injection; empty for any other block."""
    found = _KIND.match(str(block.get("text") or "")) if block.get("type") == "text" else None
    return html.unescape(found[1]) if found else ""


def turn_in(message: JsonObject) -> int:
    """The number of the turn that a ``user`` message opens, as its ``context`` says it; 0 where it opens none."""
    if message["role"] != "user" or isinstance(message["content"], str):
        return 0
    return next((_turn_of(block) for block in message["content"] if injection_kind(block) == CONTEXT), 0)


def _turn_of(context: JsonObject) -> int:
    entry = read_block(context)
    payload = entry.payload if isinstance(entry, Injection) else None
    return int(payload.get("turn") or 0) if isinstance(payload, dict) else 0


def own_messages(messages: list[JsonObject], number: int) -> list[JsonObject]:
    """``messages`` from where the turn with this number begins; all of them where it does not begin in them."""
    for place in range(len(messages) - 1, -1, -1):
        blocks = messages[place]["content"]
        if messages[place]["role"] != "user" or isinstance(blocks, str):
            continue
        for at in range(len(blocks) - 1, -1, -1):
            if injection_kind(blocks[at]) == CONTEXT and _turn_of(blocks[at]) == number:
                return [{**messages[place], "content": blocks[at:]}, *messages[place + 1 :]]
    return messages


def lasting_end(messages: list[JsonObject]) -> tuple[int, int] | None:
    """Message and block up to which later turns read the same: what began the turn at work. None where no turn is
    opened."""
    for place in range(len(messages) - 1, -1, -1):
        if turn_in(messages[place]):
            blocks: list[JsonObject] = messages[place]["content"]
            start = next(n for n, block in enumerate(blocks) if injection_kind(block) == CONTEXT)
            lasting = [n for n, block in enumerate(blocks) if n >= start and injection_kind(block) not in NOW]
            # What came in later stands behind what holds only now.
            ends = (n for n, at in enumerate(lasting) if at != start + n)
            return place, start + next(ends, len(lasting)) - 1
    return None


def entries(message: JsonObject) -> list[Entry]:
    """All that a ``user`` message says, in order; nothing for an assistant's message."""
    if message["role"] != "user":
        return []
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [entry for block in blocks if (entry := read_block(block)) is not None]


def apart(found: Sequence[Entry]) -> tuple[list[Entry], list[str]]:
    """The entries of a ``user`` message but for what a person wrote while the turn was at work, and that: it opens no
    turn (D66)."""
    own: list[Entry] = []
    said: list[str] = []
    has_joined = False
    for entry in found:
        if isinstance(entry, UserText) and has_joined:
            said.append(entry.text)
            has_joined = False
            continue
        has_joined = has_joined or (isinstance(entry, Injection) and entry.kind == JOINED)
        own.append(entry)
    return own, said


def joined_in(message: JsonObject) -> list[str]:
    """What a person wrote, in a ``user`` message, while the turn was at work."""
    return apart(entries(message))[1]


def _text_block(text: str) -> JsonObject:
    text = clean_text(text)
    return block_of(text if text.strip() else _BLANK)


def _disarm(text: str) -> str:
    return _MARKER.sub(r"<\\", text)


def _rearm(text: str) -> str:
    return _DISARMED.sub("<", text)


def dumped(value: Json) -> str:
    """JSON text as models read it: without blanks, and without anything that could be taken for a marker. Raises
    ``ValidationFailed`` for what is not JSON."""
    written = json.dumps(clean_json(value), ensure_ascii=False, separators=(",", ":"))
    return _MARKER.sub(r"\\u003c", written)


def _load(text: Json) -> Json:
    """The value of JSON text; what is no JSON text (a foreign result) stays as it is."""
    try:
        return json.loads(text)
    except (ValueError, TypeError):
        return text
