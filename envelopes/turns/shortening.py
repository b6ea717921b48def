"""Making what a model is sent shorter, where it has no room: whole turns first, then results of tools. Pure.

A call and its result stay together: of a result only what it says is cut, and it says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from envelopes.providers.transcript import LEFT_OUT, injection_kind, turn_in
from envelopes.turns.results import shortened_block
from envelopes.types import JsonObject

Fits = Callable[[list[JsonObject]], bool]


@dataclass(frozen=True)
class Shortened:
    """``messages`` that fit, or as short as they get; ``told_from``, the first turn in them, 0 where none was left out;
    ``results``, how many were cut."""

    messages: list[JsonObject]
    fits: bool
    told_from: int = 0
    results: int = 0


@dataclass
class _Cutting:
    messages: list[JsonObject]
    told_from: int = 0
    results: int = 0
    cut: set[str] = field(default_factory=set)


def shortened(
    messages: list[JsonObject], fits: Fits, left_out: Callable[[int], list[JsonObject]]
) -> Shortened:
    """``messages`` in lumps less until they fit: half of the turns before the one at work each time, then half of its
    results, the oldest first. ``left_out`` says of turns before a number that they are."""
    at = _Cutting(messages)
    while not (done := fits(at.messages)) and (_fewer_turns(at, left_out) or _fewer_results(at)):
        pass
    return Shortened(at.messages, done, at.told_from, at.results)


def _fewer_turns(at: _Cutting, left_out: Callable[[int], list[JsonObject]]) -> bool:
    starts = [(place, turn) for place, message in enumerate(at.messages) if (turn := turn_in(message))]
    if len(starts) < 2:
        return False
    place, at.told_from = starts[(len(starts) + 1) // 2]
    # What is always the same stands before the first turn of all.
    head = [block for block in _before_turn(at.messages[0]) if injection_kind(block) != LEFT_OUT]
    first = at.messages[place]
    own = first["content"][len(_before_turn(first)) :]
    opened = {**first, "content": [*head, *left_out(at.told_from), *own]}
    at.messages = [opened, *at.messages[place + 1 :]]
    return True


def _before_turn(message: JsonObject) -> list[JsonObject]:
    """The blocks of a message that opens a turn which stand before that."""
    blocks: list[JsonObject] = message["content"]
    place = next((n for n, block in enumerate(blocks) if turn_in({**message, "content": [block]})), 0)
    return blocks[:place]


def _fewer_results(at: _Cutting) -> bool:
    found = [
        (place, block)
        for place, message in enumerate(at.messages)
        if message["role"] == "user" and not isinstance(message["content"], str)
        for block in message["content"]
        if block.get("type") == "tool_result"
        and block["tool_use_id"] not in at.cut
        and shortened_block(block) is not None
    ]
    if not found:
        return False
    chosen = {block["tool_use_id"] for _, block in found[: (len(found) + 1) // 2]}
    at.cut |= chosen
    at.results += len(chosen)
    at.messages = [
        message
        if isinstance(message["content"], str)
        else {**message, "content": [_cut(block, chosen) for block in message["content"]]}
        for message in at.messages
    ]
    return True


def _cut(block: JsonObject, chosen: set[str]) -> JsonObject:
    if block.get("type") != "tool_result" or block["tool_use_id"] not in chosen:
        return block
    return shortened_block(block) or block
