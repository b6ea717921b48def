"""Complete blocks of a reply as they are stored: what the model wrote, read and cleaned, or what is wrong with it."""

from __future__ import annotations

import inspect
import re
import secrets
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import cast

from envelopes.engine_settings import a2ui_limits
from envelopes.errors import BeachError, LeaseLost, ProviderError, ValidationFailed
from envelopes.models import Turn
from envelopes.protocol.respond import RESPOND
from envelopes.protocol.strict_json import parse_strict
from envelopes.protocol.text import MAX_DEPTH, clean_json, clean_text
from envelopes.providers.failures import BROKEN, failed
from envelopes.providers.port import (
    BlockEnded,
    BlockStarted,
    ModelEvent,
    ModelRequest,
    Provider,
    ReplyEnded,
)
from envelopes.runtime.respond_stream import RespondStream
from envelopes.runtime.streaming import LiveText
from envelopes.turns import reply
from envelopes.types import Json

CALL_DEPTH = 4
"""How much deeper than a part a call may be: what stands round the part."""


@dataclass(frozen=True)
class Rules:
    """What holds for the calls of a provider. ``limit``: bytes of JSON that one may have (D30). ``strict``: surfaces of
    its that would not be shown as they were meant are refused (D60)."""

    limit: int
    strict: bool


def rules_of(provider: Provider) -> Rules:
    """Code of this process may send more, and its surfaces are drawn as far as they go; ``strict_surfaces`` of a
    provider says otherwise."""
    limits = a2ui_limits()
    trusted = getattr(provider, "trusted", False) is True
    strict = getattr(provider, "strict_surfaces", None)
    return Rules(
        limits.trusted_message_bytes if trusted else limits.message_bytes,
        strict if isinstance(strict, bool) else not trusted,
    )


def stream_of(provider: Provider, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    """The events of the reply to ``request``. Raises ``TypeError`` where ``stream`` of the provider gives no stream."""
    stream: object = provider.stream(request)
    if not hasattr(stream, "__aiter__") or not hasattr(stream, "aclose"):
        if inspect.iscoroutine(stream):
            # It never runs, which is told below.
            stream.close()
        raise TypeError(
            f"`stream` of {type(provider).__name__} has to be an async generator, that is `async def` with `yield`: "
            f"it gave a {type(stream).__name__}."
        )
    return cast("AsyncGenerator[ModelEvent, None]", stream)


def check_event(provider: Provider, given: object) -> None:
    """Raises ``TypeError`` for what a stream of ``provider`` has given, and nobody can read. It does not say what that
    holds, which may be what somebody said."""
    if not isinstance(given, ModelEvent):
        raise TypeError(
            f"`stream` of {type(provider).__name__} gave a {type(given).__name__}, which is no event of "
            "envelopes.providers.port."
        )


_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What APIs take back of an id, and of a name."""


class Begun:
    """The blocks of one reply that have begun, and the ids of ``turn``'s calls before it. ``who`` is its model."""

    def __init__(self, turn: Turn, who: str) -> None:
        self._who = who
        self._earlier = {
            block["id"]
            for message in turn.messages
            if message["role"] == "assistant" and not isinstance(message["content"], str)
            for block in message["content"]
            if block.get("type") == "tool_use"
        }
        self._calls: dict[str, str] = {}
        self._blocks: dict[int, BlockStarted] = {}
        self._left_out: set[int] = set()
        self._ended: set[int] = set()

    def begin(self, event: BlockStarted) -> BlockStarted | None:
        """The block as it goes into the transcript: a call whose id or name no API would take back gets another one,
        and so does one whose id is taken, but for a tool that is called twice under one id in one reply, which is
        refused where it is stored. None for calls beyond what is told of as too many.

        Raises ``ProviderError`` where it is no block at all.
        """
        index: object = event.index
        if not isinstance(index, int) or index in self._blocks:
            raise self._malformed("a block that begins twice, or has no number")
        begun = event if event.kind != "tool_use" else self._call(event)
        self._blocks[event.index] = begun
        if begun.kind == "tool_use" and len(self._calls) > reply.MAX_CALLS + 1:
            self._left_out.add(event.index)
            return None
        return begun

    def of(self, index: int) -> BlockStarted | None:
        """The block with this number; None where it is left out. Raises ``ProviderError`` for one that never began."""
        if index not in self._blocks:
            raise self._malformed("the end of a block that never began")
        self._ended.add(index)
        return None if index in self._left_out else self._blocks[index]

    def check_end(self, ended: ReplyEnded) -> None:
        """Raises ``ProviderError`` for a reply that does not say why it is over, or that says that calls are to be made
        of which one has no end: one that was cut has another reason."""
        if not isinstance(ended.stop_reason, str):
            raise ProviderError("The model's answer broke off.", retryable=True)
        left = self._blocks.keys() - self._ended
        if ended.stop_reason == "tool_use" and any(self._blocks[one].kind == "tool_use" for one in left):
            raise self._malformed("a call that began and does not end")

    def _call(self, event: BlockStarted) -> BlockStarted:
        given: tuple[object, object] = (event.id, event.name)
        if not all(isinstance(one, str) for one in given):
            raise self._malformed("a call without an id or a name")
        name = (
            event.name
            if _NAME.fullmatch(event.name)
            else re.sub("[^A-Za-z0-9_-]", "_", event.name)[:64] or "_"
        )
        call_id = event.id
        same = self._calls.get(call_id)
        is_twice = same is not None and RESPOND not in (same, name)
        if not _ID.fullmatch(call_id) or call_id in self._earlier or (same is not None and not is_twice):
            call_id = f"call_{secrets.token_hex(12)}"
        self._calls[call_id if not is_twice else f"{call_id} {event.index}"] = name
        return replace(event, id=call_id, name=name)

    def _malformed(self, what: str) -> ProviderError:
        return failed(BROKEN, self._who, kind="malformed", detail=f"The stream has {what}.")


async def complete(started: BlockStarted, ended: BlockEnded, live: LiveText, rules: Rules) -> reply.Block:
    """A complete block as it is stored."""
    if ended.kind != "tool_use":
        return reply.Written(
            ended.content, str(ended.content.get("text", "")) if ended.kind == "text" else ""
        )
    if started.name == RESPOND:
        raw = _parsed(ended.raw_input, rules.limit)
        return reply.Respond(started.id, raw, await live.end(ended.index), rules.strict, rules.limit)
    return reply.Called(started.id, clean_text(started.name), _arguments(ended.raw_input, rules.limit))


def _arguments(raw: str, limit: int) -> Json:
    """The arguments of a complete call as the model wrote them (D64), or the error that says what is wrong with its
    JSON."""
    try:
        return parse_strict(raw or "{}", limit=limit, exact=True)
    except ValidationFailed as error:
        return error


def _parsed(raw: str, limit: int) -> Json:
    """A complete respond() call, in text that can be stored, or the error that says what is wrong with its JSON."""
    try:
        return clean_json(RespondStream(limit=limit).close(raw or "{}"), depth=MAX_DEPTH + CALL_DEPTH)
    except BeachError as error:
        if isinstance(error, LeaseLost):
            raise
        return error
