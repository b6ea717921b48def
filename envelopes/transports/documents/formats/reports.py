"""What the normaliser did to a document: every repair, every drop and every cut, with a pointer to it (R6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from envelopes.types import JsonObject

Action = Literal["cut", "dropped", "renamed", "replaced"]

MOST = 100
"""Repairs that are told one by one; how many more there were is told as well."""


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that is not as it was sent. ``path`` is a JSON Pointer into what was sent; a cut also has ``allowed``
    and ``got``."""

    action: Action
    path: str
    message: str
    allowed: int | None = None
    got: int | None = None

    def as_json(self) -> JsonObject:
        """``{action, path, message, allowed?, got?}``."""
        told: JsonObject = {"action": self.action, "path": self.path, "message": self.message}
        if self.allowed is not None:
            told |= {"allowed": self.allowed, "got": self.got}
        return told


class Report:
    """The repairs of one document, in the order in which it is read."""

    def __init__(self) -> None:
        self.repairs: list[Repair] = []
        self.count = 0

    def add(self, action: Action, path: str, message: str, **cut: Any) -> None:
        """Note one repair."""
        self.count += 1
        if len(self.repairs) < MOST:
            self.repairs.append(Repair(action, path, message, **cut))

    def extend(self, other: Report) -> None:
        """Note what ``other`` has."""
        self.count += other.count
        self.repairs += other.repairs[: max(0, MOST - len(self.repairs))]

    def cut(self, path: str, what: str, allowed: int, got: int) -> None:
        """Note that only the first ``allowed`` of ``got`` were kept."""
        self.add("cut", path, f"Only the first {allowed:,} {what} are kept.", allowed=allowed, got=got)

    def as_json(self) -> list[JsonObject]:
        """The repairs; where there were too many to tell, the last entry says how many."""
        told = [repair.as_json() for repair in self.repairs]
        if (more := self.count - len(self.repairs)) > 0:
            told.append({"action": "cut", "path": "", "message": f"{more:,} more repairs are not listed."})
        return told
