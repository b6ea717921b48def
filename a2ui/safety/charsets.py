"""Sets of characters: ranges of code points, and what only Unicode's tables know, in the spelling of google-re2."""

from __future__ import annotations

from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

import re2

from a2ui.safety.compiling import compiled

Ranges: TypeAlias = "tuple[tuple[int, int], ...]"

_LAST: Final = 0x10FFFF
_ASCII: Final = 0x7F
_PROPERTY_BYTES: Final = 1 << 16
_LONG_NAMES: Final = {
    "Letter": "L", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Titlecase_Letter": "Lt",
    "Modifier_Letter": "Lm", "Other_Letter": "Lo", "Mark": "M", "Nonspacing_Mark": "Mn", "Spacing_Mark": "Mc",
    "Enclosing_Mark": "Me", "Number": "N", "Decimal_Number": "Nd", "Letter_Number": "Nl", "Other_Number": "No",
    "Punctuation": "P", "Connector_Punctuation": "Pc", "Dash_Punctuation": "Pd", "Open_Punctuation": "Ps",
    "Close_Punctuation": "Pe", "Initial_Punctuation": "Pi", "Final_Punctuation": "Pf", "Other_Punctuation": "Po",
    "Symbol": "S", "Math_Symbol": "Sm", "Currency_Symbol": "Sc", "Modifier_Symbol": "Sk", "Other_Symbol": "So",
    "Separator": "Z", "Space_Separator": "Zs", "Line_Separator": "Zl", "Paragraph_Separator": "Zp",
    "Control": "Cc", "Format": "Cf", "Private_Use": "Co",
}  # fmt: skip
# What re2 does not have: it leaves unassigned characters out of `C`.
_INCOMPLETE: Final = frozenset({"C", "Cn", "Cs"})


class CharsetError(ValueError):
    """There is no such set here. The message names it, in the plural."""


@dataclass(frozen=True, slots=True)
class Charset:
    """The characters in `ranges` or in one of `properties` (such as `\\p{L}`), or with `negated` all others.

    `fold`: in either case.
    """

    ranges: Ranges = ()
    properties: tuple[str, ...] = ()
    negated: bool = False
    fold: bool = False

    def inverted(self) -> Charset:
        """All other characters."""
        if self.properties or self.fold:
            return Charset(self.ranges, self.properties, not self.negated, self.fold)
        return Charset(_complement(_merged(self.ranges)))

    def joined(self, other: Charset) -> Charset:
        """The characters of both. Neither may be negated or folded."""
        return Charset(self.ranges + other.ranges, self.properties + other.properties)

    def folded(self) -> Charset:
        """The same in either case."""
        return self if self.fold else Charset(self.ranges, self.properties, self.negated, fold=True)

    @property
    def plain(self) -> bool:
        """Whether the ranges say everything."""
        return not self.properties and not self.fold

    @property
    def weight(self) -> int:
        """About how many instructions of re2 may be alive at once for it."""
        return self._measured(2, 300)

    @property
    def instructions(self) -> int:
        """About how many instructions of re2 it takes: those of UTF-8, which has up to four bytes."""
        return self._measured(8, 1_200)

    def _measured(self, beyond_ascii: int, of_property: int) -> int:
        ranges = sum([1 if last <= _ASCII else beyond_ascii for _, last in _merged(self.ranges)])
        return max(1, ranges + of_property * len(set(self.properties))) * (2 if self.fold else 1)

    def text(self) -> str:
        """The class for re2."""
        ranges = _merged(self.ranges)
        single = len(ranges) == 1 and ranges[0][0] == ranges[0][1]
        if single and not self.properties and not self.negated:
            text = _code(ranges[0][0])
        else:
            inside = "".join([_code(a) if a == b else f"{_code(a)}-{_code(b)}" for a, b in ranges])
            inside += "".join(dict.fromkeys(self.properties))
            text = f"[{'^' if self.negated else ''}{inside}]" if inside else _nothing(self.negated)
        return f"(?i:{text})" if self.fold else text

    def members(self, chars: list[str]) -> set[str]:
        """Those of the (sorted) characters that are in a `plain` set."""
        ranges = _merged(self.ranges)
        starts = [first for first, _ in ranges]
        found = set()
        for char in chars:
            at = bisect_right(starts, ord(char)) - 1
            if at >= 0 and ord(char) <= ranges[at][1]:
                found.add(char)
        return found


@lru_cache(maxsize=512)
def property_text(name: str, *, negated: bool) -> str:
    """The spelling of `\\p{name}` (or `\\P{name}`) for re2. Raises CharsetError."""
    kind, _, value = name.rpartition("=")
    if kind in {"", "Script", "sc", "General_Category", "gc"} and value not in _INCOMPLETE:
        text = f"\\{'P' if negated else 'p'}{{{_LONG_NAMES.get(value, value)}}}"
        with suppress(re2.error):
            compiled(text, _PROPERTY_BYTES)
            return text
    raise CharsetError(f"properties such as \\p{{{name:.40}}}")


def _merged(ranges: Ranges) -> Ranges:
    found: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple(found)


def _complement(ranges: Ranges) -> Ranges:
    found, following = [], 0
    for first, last in ranges:
        if first > following:
            found.append((following, first - 1))
        following = last + 1
    if following <= _LAST:
        found.append((following, _LAST))
    return tuple(found)


def _code(point: int) -> str:
    char = chr(point)
    return char if char.isascii() and char.isalnum() else f"\\x{{{point:x}}}"


def _nothing(negated: bool) -> str:
    everything = f"\\x{{0}}-\\x{{{_LAST:x}}}"
    return f"[{everything}]" if negated else f"[^{everything}]"
