"""What one kind of reader gets over a transport, asked of the rules once for each part type."""

from __future__ import annotations

from functools import lru_cache

from envelopes.delivery import rules
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.protocol.bubbles import SURFACE_PREVIEW
from envelopes.registries.part_types import PartType, part_types
from envelopes.registries.transports import Transport


class Wanted:
    """Shared by all readers of a kind: a process has a thousand at one door. Thread-safe, as what it keeps is the same
    whoever finds it out."""

    def __init__(self, transport: Transport, reader: rules.Reader) -> None:
        self._connection, self._reader = transport.connection, reader
        self._previews = "previews" in transport.capabilities
        # With the definition that it was made of: names can be registered anew.
        self._text: dict[str, tuple[PartType, bool]] = {}
        self._part: dict[tuple[str, bool], tuple[PartType, bool]] = {}

    def text(self, part_type: str) -> bool:
        """Whether the reader gets text of this type while it is being written."""
        if part_type == SURFACE_PREVIEW:
            return self._previews and self.part(A2UI_SURFACE.name, False)
        kind = part_types.get(part_type)
        if kind is None:
            return False
        known = self._text.get(part_type)
        if known is None or known[0] is not kind:
            known = self._text[part_type] = kind, rules.streams_text(kind, self._connection, self._reader)
        return known[1]

    def part(self, part_type: str, late: bool) -> bool:
        """Whether the reader gets parts of this type."""
        kind = part_types.get(part_type)
        if kind is None:
            return False
        known = self._part.get((part_type, late))
        if known is None or known[0] is not kind:
            gets = rules.gets(kind, self._connection, self._reader, late=late)
            known = self._part[part_type, late] = kind, gets
        return known[1]


@lru_cache(maxsize=64)
def wanted_by(transport: Transport, reader: rules.Reader) -> Wanted:
    """The one of this process."""
    return Wanted(transport, reader)
