"""The scripted model: answers from a script, streamed as a real model would.

For demos without a key and for tests. A script is a pure function from request to reply; what it needs to know it
reads from the request (``Conversation``), so it carries on after a crash like a real model.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from envelopes.conf import conf
from envelopes.errors import ProviderError
from envelopes.protocol.respond import RESPOND
from envelopes.providers.conversation import Conversation, Outcome, Said
from envelopes.providers.port import (
    BlockEnded,
    BlockStarted,
    InputFragment,
    ModelEvent,
    ModelRequest,
    ReplyEnded,
)
from envelopes.types import Json, JsonObject

__all__ = [
    "Call",
    "Conversation",
    "Fail",
    "Outcome",
    "Prose",
    "Raw",
    "Reply",
    "Said",
    "Say",
    "ScriptedProvider",
    "Think",
    "data",
    "text",
    "translation",
]

# Real fragments are uneven; these lengths (characters) repeat, so that a run can be repeated exactly.
_LENGTHS = (3, 9, 5, 14, 7, 2, 11, 6)


def text(part_type: str, words: str, **metadata: Json) -> JsonObject:
    """A text part; ``metadata`` may hold ``partId`` and the like."""
    return {"metadata": {"partType": part_type, **metadata}, "text": words}


def data(part_type: str, value: JsonObject, **metadata: Json) -> JsonObject:
    """A data part."""
    return {"metadata": {"partType": part_type, **metadata}, "data": value}


@dataclass(frozen=True)
class Say:
    """A respond() call: parts (see ``text`` and ``data``), turn state, a note for the log, and whom it passes to or
    asks, with the task."""

    parts: Sequence[JsonObject]
    state: str = "complete"
    note: str | None = None
    pass_to: str | None = None
    delegate_to: str | None = None
    task: str | None = None

    def __post_init__(self) -> None:
        parts: object = self.parts
        if not isinstance(parts, list | tuple) or not all(isinstance(part, dict) for part in parts):
            raise TypeError(f"Say has a list of parts, Say([text('response', 'Hello')]), not {parts!r:.60}.")


@dataclass(frozen=True)
class Call:
    """A call of another tool."""

    tool: str
    args: JsonObject = field(default_factory=dict)


@dataclass(frozen=True)
class Raw:
    """A tool call whose input is exactly this text, JSON or not: what a model that goes wrong writes."""

    input: str
    tool: str = RESPOND


@dataclass(frozen=True)
class Prose:
    """Text outside respond(), which nobody gets."""

    text: str


@dataclass(frozen=True)
class Think:
    """A thinking block."""

    text: str


@dataclass(frozen=True)
class Fail:
    """Break down here; the block before is written by half and not ended.

    ``error``: an error event in the stream (``ProviderError``, ``retryable``). ``silent``: the stream just ends.
    ``max_tokens``: the block before is cut, and ended, as the API does. ``stall``: nothing comes any more.
    """

    kind: Literal["error", "silent", "max_tokens", "stall"] = "error"
    retryable: bool = True
    message: str = "The model broke off."


Block: TypeAlias = Say | Call | Raw | Prose | Think | Fail


@dataclass(frozen=True)
class Reply:
    """What the model answers. ``stop_reason`` "" means the natural one: ``tool_use`` with a tool call in it, else
    ``end_turn``."""

    blocks: Sequence[Block]
    stop_reason: str = ""

    def __post_init__(self) -> None:
        blocks: object = self.blocks
        if not isinstance(blocks, list | tuple) or not all(isinstance(block, Block) for block in blocks):
            raise TypeError(
                "Reply has a list of what is said and called, Reply([Say([...])]): Say, Call, Raw, Prose, Think, Fail; "
                f"not {blocks!r:.60}."
            )

    @property
    def ends_with(self) -> str:
        if self.stop_reason:
            return self.stop_reason
        return "tool_use" if any(isinstance(block, (Say, Call, Raw)) for block in self.blocks) else "end_turn"


Script: TypeAlias = Callable[[ModelRequest], Reply]


def translation(request: ModelRequest) -> Reply:
    """The script of a second model (``Actor.translator``): says in a line what an answer said, and which data came with
    it. Pass it to ``ScriptedProvider``."""
    given = json.loads(request.messages[-1]["content"][-1]["text"])
    data = given["data"] if isinstance(given["data"], list) else []
    named = [
        f"{datum.get('slotKey') or datum.get('dataKind') or 'data'} ({', '.join(datum['data']) or 'empty'})"
        for datum in data
    ]
    told = [f"The answer was: {given['said']}"] if given["said"] else []
    if named:
        told.append(f"It rests on {'; '.join(named)}.")
    return Reply([Prose("\n".join(told))])


class ScriptedProvider:
    """A provider that follows a script.

    ``pace``: characters per second, 0 for no waiting, None for the setting ``BEACH_SCRIPT_PACE``. ``sleep`` is
    awaited with seconds before each fragment, with 0 when there is no pace, so that others get their turn.
    ``strict_surfaces``: surfaces of the script are refused as a model's are.
    """

    name = "scripted"
    model = "scripted"
    trusted = True

    def __init__(
        self,
        script: Script,
        label: str = "Scripted demo model",
        *,
        pace: float | None = None,
        strict_surfaces: bool = False,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.label = label
        self._script = script
        self._pace = pace
        self.strict_surfaces = strict_surfaces
        self._sleep = sleep

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The reply as it is written. Call ids depend only on turn, message count and place in the reply.

        Raises ``ProviderError`` where the script says ``Fail("error")``.
        """
        given: object = self._script(request)
        if not isinstance(given, Reply):
            raise TypeError(f"A script gives a Reply([...]), not {given!r:.60}.")
        reply = given
        pace = _setting_pace() if self._pace is None else self._pace
        blocks = list(reply.blocks)
        for index, block in enumerate(blocks):
            if isinstance(block, Fail):
                if block.kind == "error":
                    raise ProviderError(block.message, retryable=block.retryable)
                if block.kind == "stall":
                    await asyncio.Event().wait()
                yield ReplyEnded("max_tokens" if block.kind == "max_tokens" else None)
                return
            following = blocks[index + 1] if index + 1 < len(blocks) else None
            fail = following if isinstance(following, Fail) else None
            async for event in self._block(request, index, block, fail, pace):
                yield event
        yield ReplyEnded(reply.ends_with)

    async def _block(
        self,
        request: ModelRequest,
        index: int,
        block: Say | Call | Raw | Prose | Think,
        fail: Fail | None,
        pace: float,
    ) -> AsyncIterator[ModelEvent]:
        written = _written(block)
        if fail is not None:
            written = written[: len(written) // 2]
        ends = fail is None or fail.kind == "max_tokens"
        if isinstance(block, (Prose, Think)):
            kind: Literal["text", "thinking"] = "text" if isinstance(block, Prose) else "thinking"
            yield BlockStarted(index, kind)
            async for _ in self._paced(written, pace):
                pass
            if ends:
                yield BlockEnded(index, kind, content=_content(kind, written))
            return
        name = RESPOND if isinstance(block, Say) else block.tool
        yield BlockStarted(index, "tool_use", id=_call_id(request, index), name=name)
        async for fragment in self._paced(written, pace):
            yield InputFragment(index, fragment)
        if ends:
            yield BlockEnded(index, "tool_use", raw_input=written)

    async def _paced(self, written: str, pace: float) -> AsyncIterator[str]:
        at = count = 0
        while at < len(written):
            fragment = written[at : at + _LENGTHS[count % len(_LENGTHS)]]
            await self._sleep(len(fragment) / pace if pace > 0 else 0)
            yield fragment
            at, count = at + len(fragment), count + 1


def _written(block: Say | Call | Raw | Prose | Think) -> str:
    """The text that a model writes for the block."""
    match block:
        case Say():
            call: JsonObject = {
                "parts": [_metadata_first(part) for part in block.parts],
                "turnState": block.state,
            }
            named = {
                "passTo": block.pass_to,
                "delegateTo": block.delegate_to,
                "task": block.task,
                "note": block.note,
            }
            call |= {key: value for key, value in named.items() if value is not None}
            return json.dumps(call, ensure_ascii=False)
        case Call():
            return json.dumps(block.args, ensure_ascii=False)
        case Raw():
            return block.input
        case _:
            return block.text


def _metadata_first(part: JsonObject) -> JsonObject:
    return {key: part[key] for key in sorted(part, key=lambda key: key != "metadata")}


def _content(kind: Literal["text", "thinking"], written: str) -> JsonObject:
    if kind == "text":
        return {"type": "text", "text": written}
    return {"type": "thinking", "thinking": written, "signature": "scripted"}


def _call_id(request: ModelRequest, index: int) -> str:
    place = f"{request.turn_id}:{len(request.messages)}:{index}"
    return "toolu_" + hashlib.sha256(place.encode()).hexdigest()[:24]


def _setting_pace() -> float:
    return conf.BEACH_SCRIPT_PACE
