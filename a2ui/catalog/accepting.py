"""What a definition is read with: whose property it is, how it is written, and where its problems go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from a2ui.binding.parsing import Trail, pointer
from a2ui.binding.values import SYSTEM
from a2ui.data.pointer import ABSENT, Absent
from a2ui.errors import VALIDATION_FAILED, Diagnostic, must_be
from a2ui.protocol.dialects import PLAIN, Notation
from a2ui.safety.limits import Limits
from a2ui.schema.dynamic import Signature

_LISTED = 100

SignatureOf: TypeAlias = Callable[[str, str], Signature | None]
"""(name, id of the catalog or "" for the surface's own) -> what the function takes, None where that is not known."""


def _unknown(name: str, catalog_id: str) -> None:
    return None


class AcceptContext:
    """The property that is being read, and the list that its problems go to.

    `index` is the position in the message's `components`, None outside a message (restoring a snapshot).
    """

    __slots__ = ("_signature_of", "entries", "index", "key", "limits", "notation", "problems", "surface_id")

    def __init__(
        self,
        limits: Limits,
        surface_id: str,
        problems: list[Diagnostic],
        notation: Notation = PLAIN,
        signature_of: SignatureOf = _unknown,
    ) -> None:
        self.limits = limits
        self.surface_id = surface_id
        self.problems = problems
        self.notation = notation
        self._signature_of = signature_of
        self.index = 0
        self.key = ""
        self.entries = 0
        """Entries of lists so far, see the limit of that name."""

    def takes(self, entries: list[Any]) -> bool:
        """Counts the entries of a list; False where they are too many: then the message is refused anyway."""
        self.entries += len(entries)
        return self.entries <= self.limits.entries

    def takes_data(self, name: str, catalog_id: str, argument: str) -> bool:
        """Whether an argument may be a literal object: one of any value, or of a function that says nothing of it."""
        if catalog_id == SYSTEM:
            return False
        signature = self._signature_of(name, catalog_id)
        return signature is None or signature.takes_data(argument)

    def add(self, message: str, code: str = VALIDATION_FAILED, *, sub: str = "", **facts: Any) -> None:
        """Reports a problem of the property, at `sub` below it. The first hundred of a message are enough: there may be
        as many as properties."""
        if len(self.problems) < _LISTED:
            self._note(message, code, sub, facts, refused=False)

    def refuse(self, message: str, trail: Trail = None, code: str = VALIDATION_FAILED, **facts: Any) -> None:
        """Reports a problem for which the whole message is refused, inside of the property."""
        if len(self.problems) < 2 * _LISTED:
            self._note(message, code, pointer(trail), facts, refused=True)

    def _note(self, message: str, code: str, sub: str, facts: dict[str, Any], *, refused: bool) -> None:
        key = "/" + self.key.replace("~", "~0").replace("/", "~1") if self.key else ""
        path = f"/components/{self.index}{key}{sub}"
        self.problems.append(Diagnostic(code, message, path, self.surface_id, refused, facts))

    def wrong(self, expected: str, got: object, sub: str = "", *, quoted: bool = False) -> Absent:
        """Reports a value of the wrong kind, which then counts as absent; see `must_be`."""
        self.add(must_be(self.key + sub, expected, got, quoted=quoted), sub=sub, unusable=True)
        return ABSENT
