"""Values of a document as what they have to be: each function repairs what it is given, and notes that (reading 3).

Lengths are code points. Blanks that are trimmed are those of Unicode and U+FEFF: the union of what the two stages of
the source trim; Python's own ``strip`` also takes U+001C to U+001F.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Final

from a2ui.safety.text import to_text
from envelopes.protocol.text import clean_text
from envelopes.transports.documents.formats.reports import Report
from envelopes.types import Json, JsonObject

FORBIDDEN: Final = frozenset({"__proto__", "prototype", "constructor"})
ABSENT: Final = object()
"""In place of a value that was not sent, which is no fault; null is one like any other."""

BLANKS = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f"
    "\u205f\u3000\ufeff"
)
_FOREIGN = re.compile(r"[^A-Za-z0-9:_-]")
_HYPHENS = re.compile(r"-{2,}")
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def trim(text: str) -> str:
    """``text`` without the blanks around it."""
    return text.strip(BLANKS)


def clamp_text(text: str, limit: int) -> str:
    """The first ``limit - 1`` characters and an ellipsis, where it is longer than ``limit``."""
    return text if len(text) <= limit else text[: limit - 1] + ELLIPSIS


def below(path: str, *steps: str | int) -> str:
    """The JSON Pointer of what stands below ``path``."""
    return path + "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


class Coercion:
    """Reads values for a normaliser, and notes in ``report`` what it changes."""

    def __init__(self, report: Report) -> None:
        self.report = report

    def text(self, value: Any, path: str, fallback: str, limit: int) -> str:
        """A text, trimmed and cut; ``fallback`` for what is none. A blank text is "", not the fallback."""
        if not isinstance(value, str):
            if value is not ABSENT:
                self.report.add("replaced", path, f"This has to be text; it is taken as “{fallback}”.")
            return fallback
        return self._fitted(trim(self._clean(value, path)), path, limit)

    def shown(self, value: Json, path: str, limit: int) -> str:
        """The text of any value: a text as it is, without being trimmed, null as "null", a list or an object as compact
        JSON."""
        if value is None:
            return "null"
        # One character more than fits shows that there is more.
        text = value if isinstance(value, str) else to_text(value, limit + 1)
        return self._fitted(self._clean(text, path), path, limit)

    def _clean(self, text: str, path: str) -> str:
        cleaned = clean_text(text)
        if cleaned != text:
            self.report.add("replaced", path, "Characters that cannot be kept are U+FFFD now.")
        return cleaned

    def _fitted(self, text: str, path: str, limit: int) -> str:
        if len(text) > limit:
            self.report.cut(path, "characters", limit, len(text))
        return clamp_text(text, limit)

    def flag(self, value: Any, path: str, fallback: bool = False) -> bool:
        """True or false; neither 1 nor "true" is one."""
        if isinstance(value, bool):
            return value
        if value is not ABSENT:
            self.report.add("replaced", path, f"This has to be true or false; it is {str(fallback).lower()}.")
        return fallback

    def number(self, value: Any, path: str, fallback: float, least: float, most: float) -> float:
        """A finite number within the bounds; ``fallback``, as it is, for what is none."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
            if value is not ABSENT:
                self.report.add("replaced", path, f"This has to be a number; it is {to_text(fallback)}.")
            return fallback
        fitted = min(max(value, least), most)
        if fitted != value:
            self.report.add("replaced", path, f"This has to be {to_text(least)} to {to_text(most)}.")
        return fitted

    def choice(self, value: Any, path: str, choices: Sequence[str], fallback: str) -> str:
        """One of ``choices``, whatever its case and the blanks around it."""
        found = trim(value).lower() if isinstance(value, str) else ""
        if found in choices:
            return found
        if value is not ABSENT:
            self.report.add(
                "replaced", path, f"This has to be one of {', '.join(choices)}; it is {fallback}."
            )
        return fallback

    def identifier(self, value: Any, path: str, fallback: str, limit: int) -> str:
        """A name of letters, digits, ``:``, ``_`` and ``-`` that is fit for an attribute of HTML; ``fallback`` where
        there is nothing."""
        sent = value if isinstance(value, str) else ""
        name = clamp_text(trim(sent), limit)
        name = _HYPHENS.sub("-", _FOREIGN.sub("-", name)) or fallback
        if name in FORBIDDEN:
            # No member of a data model can be called that (D29).
            name += "-"
        if value is not ABSENT and name != value:
            self.report.add("renamed", path, f"It is called {name} here.")
        return clamp_text(name, limit)

    def entries(self, value: Any, path: str, what: str, limit: int) -> list[Json]:
        """The first ``limit`` of a list; none of what is no list."""
        if not isinstance(value, list):
            if value is not ABSENT:
                self.report.add("replaced", path, f"This has to be a list; it holds no {what}.")
            return []
        if len(value) > limit:
            self.report.cut(path, what, limit, len(value))
        return value[:limit]

    def objects(self, value: Any, path: str, what: str, limit: int) -> list[tuple[int, JsonObject]]:
        """Those of the first ``limit`` entries that are objects, with their places."""
        found = []
        for number, entry in enumerate(self.entries(value, path, what, limit)):
            if isinstance(entry, dict):
                found.append((number, entry))
            else:
                self.report.add("dropped", below(path, number), "This has to be an object.")
        return found

    def known(self, value: JsonObject, path: str, names: Sequence[str]) -> None:
        """Note which members are not looked at."""
        for name in value:
            if name not in names:
                self.report.add(
                    "dropped", below(path, clean_text(str(name)[:64])), "Nothing here has this name."
                )


def _is_finite(value: float) -> bool:
    # An integer of any size is: converting a large one to a float is not possible.
    return isinstance(value, int) or math.isfinite(value)


class Names:
    """Names of one document or form, each used once."""

    def __init__(self, coercion: Coercion, limit: int) -> None:
        self._coercion = coercion
        self._limit = limit
        self._used: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, value: Any, path: str, fallback: str) -> str:
        """The name that ``value`` stands for; ``<name>-2``, ``<name>-3`` where it is taken. The name is cut before the
        number is added, so that cutting makes no name twice."""
        name = wanted = self._coercion.identifier(value, path, fallback, self._limit)
        number = self._next.get(wanted, 2)
        while name in self._used:
            suffix = f"-{number}"
            # Two hyphens in a row would be one when the name is read again.
            name = wanted[: self._limit - len(suffix)].rstrip("-") + suffix
            number += 1
        if name != wanted:
            self._next[wanted] = number
            self._coercion.report.add("renamed", path, f"{wanted} is taken; this one is called {name}.")
        self._used.add(name)
        return name
