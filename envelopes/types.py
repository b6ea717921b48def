"""Names for shapes that many modules share."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

Json: TypeAlias = Any
"""Any JSON value."""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object: text keys, JSON values."""

ConnectionClass: TypeAlias = Literal["streaming", "buffered"]
"""Streaming: each part as it comes. Buffered: the envelope of a settled turn (D13)."""

ProgramKind: TypeAlias = Literal["peer", "service"]
"""Another agent; any other program."""

PrincipalKind: TypeAlias = Literal["person", "guest"] | ProgramKind
"""Signed in; a browser with the owner cookie; a program."""

PROGRAMS: tuple[ProgramKind, ...] = ("peer", "service")
"""Those of whom a card may say what they consume; a person at a page has none."""
