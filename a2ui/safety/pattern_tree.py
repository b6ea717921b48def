"""The tree of a regular expression, and why a text has none.

`size` says how many characters, sets and edges a tree has once its counts are written out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from a2ui.safety.charsets import Charset


class PatternError(ValueError):
    """The text is no ECMAScript pattern."""


class UnsupportedError(PatternError):
    """The pattern uses something that is never answered, see docs/limits.md; `feature` names it."""

    def __init__(self, feature: str) -> None:
        self.feature = feature
        super().__init__(f"{feature} are not supported")


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set."""

    chars: Charset
    size: int = 1


@dataclass(frozen=True, slots=True)
class Edge:
    """The start or the end of the text, or whether a word begins or ends here."""

    kind: Literal["^", "$", "b", "B"]
    size: int = 1


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[Node, ...]
    size: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", max(1, sum(part.size for part in self.parts)))


@dataclass(frozen=True, slots=True)
class Choice:
    options: tuple[Node, ...]
    size: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", sum(option.size for option in self.options))


@dataclass(frozen=True, slots=True)
class Repeat:
    """`high` None: as often as one likes."""

    item: Node
    low: int
    high: int | None
    size: int = field(init=False)

    def __post_init__(self) -> None:
        times = max(1, self.low if self.high is None else self.high)
        object.__setattr__(self, "size", self.item.size * times)


@dataclass(frozen=True, slots=True)
class Look:
    """Whether the item matches from here on (`ahead`) or up to here, or not (`negative`)."""

    item: Node
    ahead: bool
    negative: bool
    size: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", self.item.size)


Node: TypeAlias = Chars | Edge | Sequence | Choice | Repeat | Look
