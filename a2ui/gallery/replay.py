"""A program played again from the beginning: what every message did, and where that leaves the surfaces."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from a2ui import (
    ActionError,
    CallsDue,
    Diagnostic,
    Engine,
    EngineOptions,
    InputError,
    OpenUrl,
    PatchError,
    SurfaceChange,
    ops,
)
from a2ui.catalog.beach import BEACH_CATALOG, BEACH_CATALOG_1_0
from a2ui.data.values import JSON
from a2ui.gallery.request import Doing, PlayRequest
from a2ui.ops import Op
from a2ui.protocol import answers
from a2ui.protocol.adapters import outgoing
from a2ui.protocol.dialects import KNOWN, V08, V08_VERBS, V1_0

SECONDS = 3.0
"""How long a replay may take. One message may always end: the engine's own limits bound it."""
HTML_CHARS = 8_000_000
"""HTML of all surfaces on the page together."""


@dataclass(frozen=True, slots=True)
class Step:
    """One message and what came of it. `number` counts from 1, `size` is what a page was sent for it, in bytes.

    Only the chosen step keeps its operations: all of them together may be many times what is shown.
    """

    number: int
    message: Any
    faults: tuple[Diagnostic, ...]
    size: int
    ops: tuple[Op, ...]
    ms: float


@dataclass(frozen=True, slots=True)
class Said:
    """Something that an agent is sent: a message and, where it asked for that, the metadata with the data models.

    Without `message`: something that happens between page and server only, told in `note`.
    """

    step: int
    message: dict[str, Any] | None
    data: dict[str, Any] | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """The surfaces at the chosen step."""

    surfaces: tuple[tuple[str, str, str], ...]
    """Id, version and HTML; without the HTML where the page would become too large."""
    models: dict[str, JSON]
    before: dict[str, JSON]
    """The models before the last thing that happened."""


@dataclass(slots=True)
class Played:
    """`stopped`: number of the first message that was not run any more, 0 if all were."""

    steps: list[Step] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    seen: Seen = Seen((), {}, {})
    journal: list[Doing] = field(default_factory=list)
    stopped: int = 0
    lost: int = 0
    """Rows of the journal that could not be done again."""


@dataclass(frozen=True, slots=True)
class Done:
    """What one doing did: fragments for the page, an address to open. The journal of `played` is without it."""

    ops: list[Op]
    played: Played
    url: str = ""


class Replay:
    """The surfaces of one agent, played to any point."""

    def __init__(
        self,
        asked: PlayRequest,
        messages: list[Any],
        *,
        hosts: frozenset[str] = frozenset(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`hosts` are those that pictures may come from."""
        self._asked = asked
        self._messages = messages
        self._clock = clock
        self._until = clock() + SECONDS
        self._now = datetime.now(UTC)
        self._secrets: dict[str, JSON] = {}
        engine = Engine(
            EngineOptions(
                own=(BEACH_CATALOG, BEACH_CATALOG_1_0),
                locale=asked.locale,
                timezone=ZoneInfo(asked.timezone),
                strict=asked.strict,
                image_hosts=hosts,
                debug=True,
                contained=True,
                clock=lambda: self._now,
                reveal=self._reveal,
            )
        )
        self._surfaces = engine.surfaces()
        self._at = 0
        self.played = Played()

    @property
    def last(self) -> int:
        """The chosen step, or the last one there is."""
        return min(self._asked.step, len(self._messages))

    def overview(self) -> Played:
        """Plays to the chosen step, looks, and goes on to the end for the list of steps."""
        self._play_to(self.last)
        self._go_on()
        return self.played

    def do(self, doing: Doing) -> Done:
        """Plays to the chosen step and does one thing more. Raises A2uiError if that cannot be done."""
        self._play_to(self.last)
        before = self._models()
        url, said = self._do(doing)
        ops = [op for change in self._surfaces.flush() for op in change.ops]
        self.played.said += [*said, *self._told(self.last, self._surfaces.diagnostics())]
        self._keep_later()
        self.played.seen = Seen((), self._models(), before)
        return Done(ops, self.played, url)

    # ------------------------------------------------------------------ messages

    def _play_to(self, last: int) -> None:
        before: dict[str, JSON] = {}
        self._again(0)
        while self._at < last:
            before = self._models()
            if not self._next():
                break
            said = self._told(self._at, self.played.steps[-1].faults)
            self.played.said += said
            self._again(self._at)
        self.played.seen = Seen(tuple(self._drawn()), self._models(), before)

    def _drawn(self) -> Iterator[tuple[str, str, str]]:
        room = HTML_CHARS
        for surface in self._surfaces:
            html = surface.html() if room > 0 else ""
            room -= len(html)
            yield surface.id, surface.version, html if room >= 0 else ""

    def _go_on(self) -> None:
        while self._at < len(self._messages) and self._next():
            self._again(self._at, aloud=False)
        self._keep_later()

    def _keep_later(self) -> None:
        """Rows of steps that were not reached are kept for when they are."""
        self.played.journal += [doing for doing in self._asked.journal if doing.at > self._at]

    def _next(self) -> bool:
        """Runs the next message, unless the time is over."""
        if self._clock() > self._until:
            self.played.stopped = self.played.stopped or self._at + 1
            return False
        start = self._clock()
        message = self._messages[self._at]
        faults = self._surfaces.apply(message)
        ops = [op for change in self._surfaces.flush() for op in _page_ops(change)]
        faults += self._surfaces.diagnostics()
        self._at += 1
        took = (self._clock() - start) * 1000
        kept = tuple(ops) if self._at == self.last else ()
        self.played.steps.append(Step(self._at, message, tuple(faults), size_of(ops), kept, took))
        return True

    def _told(self, step: int, faults: Any) -> list[Said]:
        message = self._messages[step - 1] if 0 < step <= len(self._messages) else None
        told = [(fault, answers.error(fault, self._version(fault, message))) for fault in faults]
        return [Said(step, said, note="" if said else fault.message) for fault, said in told]

    def _version(self, fault: Diagnostic, message: Any) -> str:
        """In which version an agent is told: that of the surface, else that of the message."""
        surface = self._surfaces.get("", fault.surface_id)
        if surface is not None:
            return surface.version
        if not isinstance(message, dict):
            return V1_0.version
        version = message.get("version", V08 if any(verb in message for verb in V08_VERBS) else None)
        return version if version in KNOWN else V1_0.version

    # ------------------------------------------------------------------ what was done

    def _again(self, step: int, *, aloud: bool = True) -> None:
        """What was done after this message, once more. What cannot be done any more is left out."""
        for doing in self._asked.journal:
            if doing.at != step:
                continue
            if self._clock() > self._until:
                self.played.stopped = self.played.stopped or step + 1
                self.played.journal.append(doing)
                continue
            try:
                _, said = self._do(doing)
            except (InputError, ActionError, PatchError):
                self.played.lost += 1
                continue
            self._surfaces.flush()
            self.played.journal.append(doing)
            if aloud:
                self.played.said += said

    def _do(self, doing: Doing) -> tuple[str, list[Said]]:
        self._now = datetime.fromtimestamp(doing.ms / 1000, UTC)
        if doing.type == "edit":
            self._surfaces.apply_edit(self._surfaces.edit(doing.target, doing.value, conceal=self._conceal))
            return "", []
        if doing.type == "show":
            self._surfaces.apply_more(self._surfaces.more(doing.target))
            return "", []
        action = self._surfaces.act(doing.target)
        if isinstance(action, OpenUrl):
            return action.url, [Said(doing.at, None, note=f"The browser opens {action.url}")]
        if isinstance(action, CallsDue):
            return "", [Said(doing.at, message) for message in action.messages]
        if action is None:
            return "", [Said(doing.at, None, note="A function ran; the agent is told nothing.")]
        data = self._surfaces.data_models(action.owner)
        return "", [Said(doing.at, outgoing(action.message), data or None)]

    def _models(self) -> dict[str, JSON]:
        return {surface.id: surface.data_model for surface in self._surfaces}

    # ------------------------------------------------------------------ obscured values

    def _conceal(self, value: JSON) -> JSON:
        """As in a conversation: what was typed into an obscured field is shown to nobody (D24)."""
        name = f"value-{len(self._secrets) + 1}"
        self._secrets[name] = value
        return {"$secret": name}

    def _reveal(self, handle: Any) -> Any:
        name = handle.get("$secret") if isinstance(handle, dict) else None
        return self._secrets.get(name) if isinstance(name, str) else None


def size_of(ops: list[Op]) -> int:
    """Bytes of operations as they are sent."""
    if not ops:
        return 0
    return len(json.dumps(ops, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def _page_ops(change: SurfaceChange) -> list[Op]:
    """A surface that comes or goes is an operation of the page as well."""
    if change.kind == "created":
        return [ops.insert("", "beforeend", change.html)]
    return [ops.remove(change.dom_id)] if change.kind == "deleted" else change.ops
