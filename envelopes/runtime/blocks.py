"""Complete blocks of a reply as they are stored: what the model wrote, read and cleaned, or what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass

from envelopes.engine_settings import a2ui_limits
from envelopes.errors import BeachError, LeaseLost, ValidationFailed
from envelopes.protocol.respond import RESPOND
from envelopes.protocol.strict_json import parse_strict
from envelopes.protocol.text import MAX_DEPTH, clean_json, clean_text
from envelopes.providers.port import BlockEnded, BlockStarted, Provider
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
