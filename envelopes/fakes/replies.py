"""What a fake model can be told to answer, whichever protocol it speaks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Json = dict[str, Any]


@dataclass(frozen=True)
class Tool:
    """A tool call; ``raw`` is its input as text, JSON or not."""

    name: str
    raw: str


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Thinking:
    text: str


@dataclass(frozen=True)
class Redacted:
    """Thinking that only its model can read; the Messages API alone has it."""

    data: str = "opaque"


Block = Tool | Text | Thinking | Redacted

Failure = Literal["", "error", "silent", "drop", "stall", "max_tokens", "garbage", "page"]


@dataclass(frozen=True)
class Reply:
    """A streamed reply. ``fail`` strikes in the middle of the last block (``when`` 0.0-1.0 of its text).

    ``error``: an error event; ``silent``: the stream ends properly, without a last word; ``drop``: the connection
    breaks; ``stall``: nothing comes any more; ``max_tokens``: cut, then ended as the API does; ``garbage``: an event
    that is no JSON; ``page``: a page of HTML in place of the stream. ``pace``: seconds before each fragment, which has
    ``fragment`` characters. ``interleave``: the fragments of all blocks take turns. ``noise``: events and fields that
    no client knows come between. ``usage`` replaces the counts that are told, in the words of the protocol.
    """

    blocks: tuple[Block, ...]
    stop_reason: str = ""
    fail: Failure = ""
    when: float = 0.5
    error_type: str = "overloaded_error"
    fragment: int = 7
    pace: float = 0.0
    pings: bool = True
    interleave: bool = False
    noise: bool = False
    usage: Json | None = None


@dataclass(frozen=True)
class Refusal:
    """An answer before any stream: status and type of error as the API's documents have them."""

    status: int
    kind: str
    message: str = "refused"
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Plain:
    """An answer that is no stream."""

    body: Json


def respond(*parts: Json, state: str = "complete") -> Tool:
    """A respond() call."""
    return Tool("respond", json.dumps({"parts": parts, "turnState": state}, ensure_ascii=False))


def call(name: str, **arguments: Any) -> Tool:
    return Tool(name, json.dumps(arguments, ensure_ascii=False))


def said(words: str, part_type: str = "response") -> Json:
    return {"metadata": {"partType": part_type}, "text": words}


def overloaded(retry_after: str = "0") -> Refusal:
    """What the Messages API says when it is overloaded; ``retry_after`` in seconds, "" for none."""
    headers = (("retry-after", retry_after),) if retry_after else ()
    return Refusal(529, "overloaded_error", "Overloaded", headers)


def pieces(block: Block, size: int) -> list[str]:
    """The text of a block, in fragments."""
    match block:
        case Tool():
            written = block.raw
        case Redacted():
            return []
        case _:
            written = block.text
    return [written[at : at + size] for at in range(0, len(written), size)]


Step = tuple[Literal["start", "piece", "end"], int, str]
"""What happens to the block of that number; the text of a piece."""


def steps(reply: Reply) -> Iterator[Step]:
    """The blocks of a reply in the order in which they are written. A failing block has no end, unless it is cut at the
    limit of its length."""
    written = [pieces(block, reply.fragment) for block in reply.blocks]
    last = len(reply.blocks) - 1
    if reply.fail and written:
        written[last] = written[last][: int(len(written[last]) * reply.when)]
    if not reply.interleave:
        for index, fragments in enumerate(written):
            yield "start", index, ""
            yield from (("piece", index, fragment) for fragment in fragments)
            if index < last or reply.fail in ("", "max_tokens"):
                yield "end", index, ""
        return
    yield from (("start", index, "") for index in range(len(written)))
    for at in range(max(map(len, written), default=0)):
        yield from (
            ("piece", index, fragments[at]) for index, fragments in enumerate(written) if at < len(fragments)
        )
    if reply.fail in ("", "max_tokens"):
        yield from (("end", index, "") for index in range(len(written)))
