"""The text of a respond() call while the model is still writing the call (D7).

Only text streams. Everything else of a call is final when the call is complete, and is read by ``close``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from envelopes.delivery.rules import may_stream
from envelopes.errors import RespondRefused, ValidationFailed
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.protocol.json_scan import JsonScanner, Path
from envelopes.protocol.strict_json import INPUT_DEPTH, MAX_BYTES, join_surrogates, parse_strict
from envelopes.protocol.surface_reading import SurfaceReader
from envelopes.protocol.text import UNSAFE, clean_json, clean_text
from envelopes.registries.part_types import part_types
from envelopes.types import Json, JsonObject

_LONGEST_ID = 128


@dataclass(slots=True)
class TextGrown:
    """The text of part number ``part`` grew by ``text`` at ``offset`` (code points, contiguous from 0). Not frozen, as
    a ``Delta`` is not."""

    part: int
    part_type: str
    part_id: str | None
    offset: int
    text: str


@dataclass(frozen=True)
class SurfaceGrown:
    """Messages of the interface that part number ``part`` is, as far as they are written (D65)."""

    part: int
    messages: list[JsonObject]


@dataclass
class _Part:
    """One part as far as it has been written. ``shown`` None: its type is not known yet, its text is held."""

    number: int
    shown: bool | None = None
    part_type: list[str] = field(default_factory=list)
    part_id: list[str] | None = None
    fits: bool = True
    held: list[str] = field(default_factory=list)
    offset: int = 0
    surface: SurfaceReader | None = None
    is_surface: bool = False

    def decide(self) -> None:
        """The type is complete: may its text be shown? A part that gives it twice is not valid: no."""
        if self.shown is not None:
            self.shown, self.held = False, []
            self.is_surface = False
            return
        kind = part_types.get("".join(self.part_type))
        long_id = self.part_id is not None and len("".join(self.part_id)) > _LONGEST_ID
        self.shown = (
            self.fits and not long_id and kind is not None and "actor" in kind.origins and may_stream(kind)
        )
        self.is_surface = self.fits and kind is A2UI_SURFACE
        if not self.is_surface:
            self.surface = None

    def grown(self) -> TextGrown | None:
        """What can be told now, if anything."""
        if not self.shown or not self.held:
            return None
        text = clean_text("".join(self.held))
        self.held = []
        return self.told(text)

    def told(self, text: str) -> TextGrown:
        """``text``, which is clean, as what comes next."""
        offset, self.offset = self.offset, self.offset + len(text)
        part_id = None if self.part_id is None else clean_text("".join(self.part_id))
        return TextGrown(self.number, "".join(self.part_type), part_id, offset, text)

    def drawn(self) -> SurfaceGrown | None:
        """What can be told of an interface now, if anything."""
        if not self.is_surface or self.surface is None:
            return None
        messages = self.surface.take()
        return SurfaceGrown(self.number, clean_json(messages, depth=INPUT_DEPTH)) if messages else None


class RespondStream:
    """Fed with the JSON text of one call's input as it is written.

    A part's text is told once ``metadata`` has closed (or a flat ``partType`` has ended), names a registered type
    that an actor may emit and whose text streams; what came earlier is held and told then. What is told is always a
    prefix of the cleaned text that ``close`` and ``check_respond`` end up with: where the call cannot become valid,
    telling stops. Nothing here raises but ``close``.

    ``limit``: UTF-8 bytes of the whole input.
    """

    def __init__(self, *, limit: int = MAX_BYTES) -> None:
        self._limit = limit
        self._size = 0
        self._half = ""
        self._scanner = JsonScanner(self, max_depth=INPUT_DEPTH)
        self._part: _Part | None = None
        self._touched: list[_Part] = []
        # The text of a part that is shown is being written.
        self._in_text = False

    def is_plain_text(self, fragment: str) -> bool:
        """Whether ``fragment``, fed next, can be nothing but more of the text that is told already."""
        return self._in_text and '"' not in fragment

    def feed(self, fragment: str) -> list[TextGrown | SurfaceGrown]:
        """What the fragment lets be told: at most one growth of each kind a part, in the order of parts."""
        self._size += len(fragment.encode("utf-8", "surrogatepass"))
        if self._size > self._limit or self._scanner.problem is not None:
            return []
        if (grown := self._more_text(fragment)) is not None:
            return grown
        fragment = self._half + fragment
        # A transport that counts in UTF-16 may cut a character in two.
        self._half = fragment[-1:] if "\ud800" <= fragment[-1:] <= "\udbff" else ""
        self._touched = [] if self._part is None else [self._part]
        self._scanner.feed(join_surrogates(fragment[: len(fragment) - len(self._half)]))
        told = [grown for part in self._touched for grown in (part.grown(), part.drawn())]
        return [grown for grown in told if grown is not None]

    def _more_text(self, fragment: str) -> list[TextGrown | SurfaceGrown] | None:
        """What ``fragment`` lets be told where it is nothing but text of the part that is told already, and none of it
        has to be cleaned: most are. None where it has to be scanned."""
        if not self._in_text or self._half or self._part is None:
            return None
        text = self._scanner.within(fragment)
        if text is None or UNSAFE.search(text) is not None:
            return None
        return [self._part.told(text)] if text else []

    def close(self, raw: str) -> Json:
        """The strict parse of the whole input.

        Raises ``RespondRefused`` with ``path`` (JSON Pointer) and ``reason``: ``too_large``, ``too_deep``,
        ``duplicate_key``, ``not_a_number``, ``truncated`` or ``malformed``. The value is not validated.
        """
        try:
            return parse_strict(raw, limit=self._limit)
        except ValidationFailed as error:
            raise RespondRefused(error.message, **error.facts) from error

    # -- what the scanner tells -----------------------------------------------------------------------------------

    def opened(self, path: Path, container: Literal["object", "array"]) -> None:
        match path:
            case ["parts", int(number)] if container == "object":
                self._part = _Part(number)
                self._touched.append(self._part)
            case _:
                self._other_than_text(path)
                if (reader := self._surface(path)) is not None:
                    reader.opened(path[3:], container)

    def _surface(self, path: Path) -> SurfaceReader | None:
        """Who reads what stands there, if that may be the data of an interface."""
        part = self._part
        if (
            part is None
            or len(path) < 4
            or path[2] != "data"
            or (part.shown is not None and not part.is_surface)
        ):
            return None
        if part.surface is None:
            part.surface = SurfaceReader()
        return part.surface

    def closed(self, path: Path) -> None:
        if (reader := self._surface(path)) is not None:
            reader.closed(path[3:])
            return
        match path:
            case ["parts", int()]:
                self._part = None
            case ["parts", int(), "metadata"] if self._part is not None:
                self._part.decide()

    def string_grew(self, path: Path, text: str) -> None:
        if self._part is None:
            return
        if self._in_text:
            self._part.held.append(text)
            return
        if (reader := self._surface(path)) is not None:
            reader.string_grew(path[3:], text)
            return
        match path[2:]:
            case ["text"]:
                if self._part.shown is not False:
                    self._part.held.append(text)
                self._in_text = self._part.shown is True
            case ["metadata", "partType"] | ["partType"] if self._part.shown is None:
                self._part.part_type.append(text)
            case ["metadata", "partId"]:
                self._part.part_id = [*(self._part.part_id or ()), text]

    def string_ended(self, path: Path) -> None:
        self._in_text = False
        if self._part is None:
            return
        if (reader := self._surface(path)) is not None:
            reader.string_ended(path[3:])
            return
        match path[2:]:
            case ["partType"]:
                # The older flat shape (D1); beside metadata it is one key too many.
                self._part.decide()
            case ["metadata", "partId"] if self._part.part_id is None:
                self._part.part_id = []

    def scalar(self, path: Path, value: Json) -> None:
        if (reader := self._surface(path)) is not None:
            reader.scalar(path[3:], value)
        if path[2:] != ["metadata", "partId"] or value is not None:
            self._other_than_text(path)

    def _other_than_text(self, path: Path) -> None:
        """A value that is no string, where only a string makes a valid part: nothing of that part is shown."""
        if self._part is not None and path[2:] in (
            ["metadata", "partType"],
            ["metadata", "partId"],
            ["partType"],
        ):
            self._part.fits = False
