"""The port to a model: messages in the shape of the Messages API go in, a stream of blocks comes out.

A provider never executes anything and keeps nothing between calls: whatever is to be known stands in the request.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from envelopes.types import JsonObject


@dataclass(frozen=True)
class ModelRequest:
    """``messages``: ``[{"role": "user"|"assistant", "content": [blocks]}]``; ``tools``: definitions, respond()
    first.
    """

    system: str
    messages: list[JsonObject]
    tools: list[JsonObject]
    actor: str = ""
    session_id: str = ""
    turn_id: str = ""


@dataclass(frozen=True)
class UsageTold:
    """What has been counted by now, as ``ReplyEnded`` has it: for a reply that does not come to its end. What comes
    later stands in its place."""

    usage: JsonObject


@dataclass(frozen=True)
class BlockStarted:
    index: int
    kind: Literal["text", "tool_use", "thinking"]
    id: str = ""
    name: str = ""


@dataclass(frozen=True)
class InputFragment:
    """A piece of the JSON text of a tool call's input, as the model writes it."""

    index: int
    fragment: str


@dataclass(frozen=True)
class TextFragment:
    """A piece of a text or of thinking, as the model writes it. Nobody is shown it: it tells that the model is at work,
    and how much it has written."""

    index: int
    fragment: str


@dataclass(frozen=True)
class BlockEnded:
    """The whole block. ``raw_input``: the JSON text of a tool call, unparsed. ``content``: the block as it has to be
    sent back (text and thinking blocks; for a tool call the runtime builds it from the checked input)."""

    index: int
    kind: Literal["text", "tool_use", "thinking"]
    content: JsonObject = field(default_factory=dict)
    raw_input: str = ""


@dataclass(frozen=True)
class ReplyEnded:
    """``stop_reason`` as in the Messages API; None when the stream ended without saying so, which is a failure."""

    stop_reason: str | None
    usage: JsonObject = field(default_factory=dict)


ModelEvent: TypeAlias = UsageTold | BlockStarted | InputFragment | TextFragment | BlockEnded | ReplyEnded


class Provider(Protocol):
    """``label`` is shown in the page ("Scripted demo model"); ``name`` goes to the log; ``model`` names the model.

    One whose first request would wait for something, as SDKs that take seconds to load, has a coroutine ``warm()``,
    which is called as a process starts. One that can count the tokens of a request has a coroutine ``count(request)``,
    and one that knows how many may be in one has them as ``room``.

    One with ``trusted = True`` is code of this process, not a model: its calls may be larger (D30), and its surfaces
    are drawn as far as they go. Those of a model are refused where they would not be shown as they were meant (D60),
    unless it has ``strict_surfaces = False``; what is code may ask for the same with True.
    """

    name: str
    label: str
    model: str

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The reply as it is written. Raises ``ProviderError`` (``retryable`` says whether again may help)."""
        ...
