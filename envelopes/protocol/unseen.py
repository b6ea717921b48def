"""What a text hides from whoever reads it, by the properties of its characters (UAX #44).

``marks`` takes a text apart so that nothing of it is lost: whoever puts the ``text`` of all marks together has the text
again. Whatever decides what people are shown of it says what each mark holds; nothing here is for a screen or a locale.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import Literal, NamedTuple

import regex  # type: ignore[import-untyped]

Kind = Literal["text", "blanks", "tabs", "lines", "hidden", "marks", "alike"]

MARKS = 3
"""Combining marks on one letter that any language needs; more than that are written over what stands around it."""

_LEFTWARDS = ("R", "AL", "AN")
_WITHOUT_SHAPE = {"Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn"}
# Characters of other categories that are drawn as nothing: by property, and glyphs that are blank by design (braille,
# hieroglyphs, Khitan, a notehead).
_DRAWN_AS_NOTHING = regex.compile(
    r"[\p{Default_Ignorable_Code_Point}\u2800\U00013441\U00013442\U00016fe4\U0001d159]"
)
_C0 = (
    "null/start of heading/start of text/end of text/end of transmission/enquiry/acknowledge/bell/backspace/tab/"
    "line feed/line tab/form feed/carriage return/shift out/shift in/data link escape/device control one/"
    "device control two/device control three/device control four/negative acknowledge/synchronous idle/"
    "end of transmission block/cancel/end of medium/substitute/escape/file separator/group separator/"
    "record separator/unit separator"
)
_UNNAMED = {"Cc": "control", "Co": "private use", "Cs": "lone surrogate", "Cn": "unassigned"}
_ALPHABETS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "COPTIC", "CHEROKEE")
"""Alphabets with letters that look like those of another."""
_PROPER = {"arabic", "braille", "hangul", "khmer", "mongolian", "egyptian", "khitan"} | {
    name.lower() for name in _ALPHABETS
}
_WORD = re.compile("(?:[^\\W\\d_]|[\u0300-\u036f])+")
_RUNS: dict[str, Kind] = {" ": "blanks", "\t": "tabs", "\n": "lines"}
# Latin letters and the signs of Western print, none of which hides or passes for another alphabet's.
_SEEN = "!-~\u00a1-\u00ac\u00ae-\u024f\u2013\u2014\u2018-\u201e\u2026\u20ac"
_PLAIN = re.compile(f"[{_SEEN}]+(?: [{_SEEN}]+)*")


class Mark(NamedTuple):
    """A stretch of a text.

    ``text``: can be read as it stands. ``blanks``, ``tabs``, ``lines``: spaces (two or more, or one at an end), tabs,
    line feeds. ``hidden``: one character, ``length`` times, that cannot be seen or turns the direction of others.
    ``marks``: combining marks, too many or on nothing. ``alike``: a letter of another alphabet than its word's.
    """

    kind: Kind
    text: str

    @property
    def length(self) -> int:
        return len(self.text)

    @property
    def name(self) -> str:
        """The Unicode name of the first character, in lower case."""
        return name_of(self.text[0])

    @property
    def width(self) -> int:
        """How much room it takes where it is shown, in characters; roughly, for anything but text."""
        if self.kind == "hidden":
            return len(self.name) + 2
        return len(self.text) if self.kind == "text" else 12


def is_plain(text: str) -> bool:
    """Whether all of it is known to be seen at a glance: words as Western languages write them, with single blanks
    between. One stretch, or none."""
    if text.isascii():
        return text.isprintable() and "  " not in text and text == text.strip(" ")
    return _PLAIN.fullmatch(text) is not None


def marks(text: str) -> list[Mark]:
    """``text`` in stretches, each of one kind."""
    if is_plain(text):
        return [Mark("text", text)] if text else []
    return taken_apart(text)


def taken_apart(text: str) -> list[Mark]:
    """``marks`` of a text of at least one character, each of which is looked at."""
    found: list[Mark] = []
    kinds, start = _kinds(text), 0
    for at in range(1, len(text) + 1):
        kind = kinds[start]
        # Neighbours that are hidden, or letters of another alphabet, are told apart by what they are.
        if at == len(text) or kinds[at] != kind or (kind in ("hidden", "alike") and text[at] != text[start]):
            found.append(Mark(kind, text[start:at]))
            start = at
    return found


@lru_cache(maxsize=4096)
def name_of(character: str) -> str:
    """What to call a character: "zero-width space", "escape", "private use U+E000"."""
    code = ord(character)
    if code < 0x20:
        return _C0.split("/")[code]
    named = unicodedata.name(character, "")
    if not named:
        return f"{_UNNAMED.get(unicodedata.category(character), 'character')} U+{code:04X}"
    words = named.lower().replace("zero width", "zero-width").split(" ")
    return " ".join(word.capitalize() if word in _PROPER else word for word in words)


@lru_cache(maxsize=4096)
def hides(character: str) -> bool:
    """Whether it is drawn as nothing, as a blank other than the space, or not by itself."""
    if character in _RUNS:
        return False
    return (
        unicodedata.category(character) in _WITHOUT_SHAPE
        or _DRAWN_AS_NOTHING.fullmatch(character) is not None
    )


def turns(text: str) -> bool:
    """Whether a letter or digit in it is written from right to left (UAX #9), and what stands around it with it."""
    return not text.isascii() and any(
        unicodedata.bidirectional(character) in _LEFTWARDS for character in text
    )


@lru_cache(maxsize=4096)
def _alphabet(character: str) -> str:
    if not character.isalpha():
        return ""
    first = unicodedata.name(character, "").partition(" ")[0]
    return first if first in _ALPHABETS else ""


@lru_cache(maxsize=4096)
def _combines(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Me")


def _kinds(text: str) -> list[Kind]:
    kinds: list[Kind] = ["hidden" if hides(character) else _RUNS.get(character, "text") for character in text]
    for start, end in _runs(kinds, "blanks"):
        # One space between two things that can be seen is what everybody expects there.
        if end - start == 1 and start > 0 and end < len(text) and kinds[start - 1] != "lines" != kinds[end]:
            kinds[start] = "text"
    if not text.isascii():
        _mark_combining(text, kinds)
        _mark_alike(text, kinds)
    return kinds


def _runs(kinds: list[Kind], kind: Kind) -> Iterator[tuple[int, int]]:
    start = 0
    for found, group in groupby(kinds):
        end = start + sum(1 for _ in group)
        if found == kind:
            yield start, end
        start = end


def _mark_combining(text: str, kinds: list[Kind]) -> None:
    start = 0
    for combining, group in groupby(
        range(len(text)), key=lambda at: kinds[at] == "text" and _combines(text[at])
    ):
        end = start + sum(1 for _ in group)
        bare = start == 0 or kinds[start - 1] != "text" or text[start - 1] == " "
        if combining and (bare or end - start > MARKS):
            kinds[start:end] = ["marks"] * (end - start)
        start = end


def _mark_alike(text: str, kinds: list[Kind]) -> None:
    for word in _WORD.finditer(text):
        if word[0].isascii():
            continue
        used = Counter(filter(None, map(_alphabet, word[0])))
        if len(used) > 1:
            most = max(used, key=lambda name: (used[name], name == "LATIN"))
            for at in range(*word.span()):
                if kinds[at] == "text" and _alphabet(text[at]) not in ("", most):
                    kinds[at] = "alike"


class Glimpse(NamedTuple):
    """Both ends of a text that is too long to show whole. ``characters`` are left out between them, of which so many
    are ``blanks`` (spaces, tabs and line feeds) and ``hidden``."""

    head: list[Mark]
    tail: list[Mark]
    characters: int
    blanks: int
    hidden: int


WORD = 16
"""Characters that an end of a glimpse gives up rather than break a word."""


def glimpse(found: list[Mark], whole: int, head: int, tail: int, lines: int) -> Glimpse | None:
    """``found`` with its middle left out; None when all of it fits into ``whole`` characters and ``lines``.

    Otherwise ``head`` and ``tail`` characters of it are kept at most, whole words if they are not long, and as many
    lines of each.
    """
    broken = sum(mark.length for mark in found if mark.kind == "lines")
    if sum(mark.width for mark in found) <= whole and broken < 2 * lines:
        return None
    first, rest = _take(found, head, lines)
    last, middle = _take([Mark(mark.kind, mark.text[::-1]) for mark in reversed(rest)], tail, lines)
    left = [mark for mark in middle if mark.text]
    return Glimpse(
        first,
        [Mark(mark.kind, mark.text[::-1]) for mark in reversed(last)],
        sum(mark.length for mark in left),
        sum(
            mark.text.count(" ") if mark.kind == "text" else mark.length
            for mark in left
            if mark.kind in ("text", *_RUNS.values())
        ),
        sum(mark.length for mark in left if mark.kind in ("hidden", "marks")),
    )


def _take(found: list[Mark], room: int, lines: int) -> tuple[list[Mark], list[Mark]]:
    """What fits from the beginning, and the rest."""
    taken: list[Mark] = []
    for at, mark in enumerate(found):
        lines -= mark.length if mark.kind == "lines" else 0
        if mark.width <= room and lines > 0:
            taken.append(mark)
            room -= mark.width
            continue
        if mark.kind != "text" or room < 1:
            return taken, found[at:]
        # Between words, if there is a place near.
        place = mark.text.rfind(" ", max(1, room - WORD), room + 1)
        cut = place if place > 0 else room
        return [*taken, Mark("text", mark.text[:cut])], [Mark("text", mark.text[cut:]), *found[at + 1 :]]
    return taken, []
