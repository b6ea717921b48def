"""What is different between two JSON values, as places."""

from __future__ import annotations

from dataclasses import dataclass, field

from a2ui.data.values import JSON
from a2ui.gallery.layout import Line, token

MOST = 5_000


@dataclass(slots=True)
class Changes:
    """`there`: pointers of what is new or different. `gone`: names of what is missing, by the pointer they stood at."""

    there: set[str] = field(default_factory=set)
    gone: dict[str, list[str]] = field(default_factory=dict)
    _above: set[str] = field(default_factory=set)

    def touches(self, line: Line) -> bool:
        """Whether the line shows something that is new or different."""
        return any(self._touched(pointer, whole=line.whole) for pointer in line.pointers())

    def _touched(self, pointer: str, *, whole: bool) -> bool:
        if whole and pointer in self._above:
            return True
        while pointer not in self.there:
            if not pointer:
                return False
            pointer = pointer.rpartition("/")[0]
        return True

    def add(self, pointer: str) -> None:
        self.there.add(pointer)
        while pointer:
            pointer = pointer.rpartition("/")[0]
            if pointer in self._above:
                return
            self._above.add(pointer)


def changes(before: JSON, after: JSON) -> Changes:
    """What `after` has that `before` had not, or had otherwise. What is the very same object is not looked into."""
    found = Changes()
    waiting: list[tuple[JSON, JSON, str]] = [(before, after, "")]
    while waiting and len(found.there) < MOST:
        old, new, pointer = waiting.pop()
        if old is new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            for name, value in new.items():
                _member(found, waiting, name in old, old.get(name), value, f"{pointer}/{token(name)}")
            if gone := [name for name in old if name not in new]:
                found.gone[pointer] = gone
        elif isinstance(old, list) and isinstance(new, list):
            for at, value in enumerate(new):
                _member(
                    found,
                    waiting,
                    at < len(old),
                    old[at] if at < len(old) else None,
                    value,
                    f"{pointer}/{at}",
                )
            if len(new) < len(old):
                found.gone[pointer] = [f"{len(old) - len(new)} items"]
        elif type(old) is not type(new) or old != new:
            found.add(pointer)
    return found


def _member(
    found: Changes,
    waiting: list[tuple[JSON, JSON, str]],
    was_there: bool,
    old: JSON,
    new: JSON,
    pointer: str,
) -> None:
    if was_there:
        waiting.append((old, new, pointer))
    else:
        found.add(pointer)
