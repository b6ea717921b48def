"""Reading a model request: what a script (or a test) wants to know before it answers.

Everything is read from the request, nothing is kept: a script that runs in another process, after a crash, sees the
same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from envelopes.providers.port import ModelRequest
from envelopes.providers.transcript import (
    CONTEXT,
    DATA_MODEL,
    ActionTaken,
    Correction,
    Entry,
    Injection,
    ToolResult,
    UserText,
    apart,
    entries,
    joined_in,
)
from envelopes.types import Json, JsonObject


@dataclass(frozen=True)
class Outcome:
    """How a tool call of this turn ended: ``content`` is its result, or ``{code, message, ...}`` of an error.
    ``late``: it came as an injection, after the call had been answered with something preliminary."""

    tool: str
    call_id: str
    content: Json
    is_error: bool = False
    late: bool = False


@dataclass(frozen=True)
class Said:
    """One message of an earlier turn, as text."""

    role: Literal["user", "assistant"]
    text: str


class Conversation:
    """One request, read.

    The turn begins with the last user message that holds a person's words, a click, or the injection ``context``
    with which the runtime opens every turn; what stands before it are earlier turns.
    """

    def __init__(self, request: ModelRequest) -> None:
        self.request = request
        # From the end: a turn is short, however long the conversation before it is.
        read: list[list[Entry]] = []
        for message in reversed(request.messages):
            read.append(entries(message))
            if any(_opens(entry) for entry in apart(read[-1])[0]):
                break
        read.reverse()
        start = len(request.messages) - len(read)
        self._opening: list[Entry] = read[0] if read else []
        self._turn: list[Entry] = [entry for found in read for entry in found]
        self._replies = [m for m in request.messages[start:] if m["role"] == "assistant"]
        self._before = request.messages[:start]

    @property
    def text(self) -> str:
        """What the person wrote last, to open this turn; empty when the turn began with a click."""
        return next((e.text for e in reversed(apart(self._opening)[0]) if isinstance(e, UserText)), "")

    @property
    def joined(self) -> list[str]:
        """What the person wrote while this turn was at work, in order."""
        later = self.request.messages[len(self._before) :]
        return [said for message in later for said in joined_in(message)]

    @property
    def click(self) -> ActionTaken | None:
        """The click that opened this turn, with the data model if it came along."""
        return next((e for e in reversed(self._opening) if isinstance(e, ActionTaken)), None)

    @property
    def action(self) -> JsonObject | None:
        """The A2UI action of the click that opened this turn: ``{name, surfaceId, context, ...}``."""
        return None if self.click is None else self.click.action

    @property
    def context(self) -> JsonObject:
        """What the runtime says of the person's surroundings: ``{turn, now, timezone, locale}``, if it did."""
        return next((e.payload for e in self.injections if e.kind == CONTEXT), {})

    @property
    def data_model(self) -> Json:
        """The data model that came with the click or with the person's words, or None."""
        if self.click is not None and self.click.data_model is not None:
            return self.click.data_model
        return next((e.payload for e in self.injections if e.kind == DATA_MODEL), None)

    @property
    def replies(self) -> int:
        """How many replies the model has given in this turn already."""
        return len(self._replies)

    @property
    def calls(self) -> list[JsonObject]:
        """The tool calls of this turn so far: ``{id, name, input, ...}``."""
        return [
            block for reply in self._replies for block in reply["content"] if block.get("type") == "tool_use"
        ]

    @property
    def outcomes(self) -> list[Outcome]:
        """Every result in this turn, in order; a call may have a preliminary and a late one."""
        names = {call["id"]: call["name"] for call in self.calls}
        found: list[Outcome] = []
        for entry in self._turn:
            if isinstance(entry, ToolResult):
                name = names.get(entry.call_id, "")
                found.append(Outcome(name, entry.call_id, entry.content, entry.is_error))
            elif isinstance(entry, Injection) and entry.kind == "tool-result":
                content, is_error = _told_late(entry.payload)
                found.append(Outcome(entry.tool, entry.call_id, content, is_error, late=True))
        return found

    def results(self, tool: str) -> list[Outcome]:
        """The results of the tool of that name in this turn."""
        return [outcome for outcome in self.outcomes if outcome.tool == tool]

    def result(self, tool: str) -> Outcome | None:
        """Its last result."""
        return next(reversed(self.results(tool)), None)

    @property
    def injections(self) -> list[Injection]:
        """What the runtime put in during this turn."""
        return [entry for entry in self._turn if isinstance(entry, Injection)]

    @property
    def corrections(self) -> list[str]:
        """What the runtime asked to do better in this turn."""
        return [entry.text for entry in self._turn if isinstance(entry, Correction)]

    @property
    def earlier(self) -> list[Said]:
        """Earlier turns as text, oldest first."""
        said: list[Said] = []
        for message in self._before:
            if message["role"] == "user":
                said += [Said("user", e.text) for e in entries(message) if isinstance(e, UserText)]
            else:
                said += [Said("assistant", b["text"]) for b in message["content"] if b.get("type") == "text"]
        return said


def _told_late(payload: Json) -> tuple[Json, bool]:
    """What a call gave that was answered with something preliminary, and whether that is an error: models read
    ``{"result": ...}`` or ``{"error": ...}``."""
    if isinstance(payload, dict) and len(payload) == 1:
        for name in ("result", "error"):
            if name in payload:
                return payload[name], name == "error"
    return payload, False


def _opens(entry: Entry) -> bool:
    return isinstance(entry, (UserText, ActionTaken)) or (
        isinstance(entry, Injection) and entry.kind == CONTEXT
    )
