"""An incremental JSON scanner: reads JSON text in pieces and tells what it sees as soon as it is certain.

Each character is looked at once, however small the pieces. It accepts exactly what ``json.loads`` accepts (without
NaN, Infinity and duplicate keys) and never raises for bad input: it stops, and ``problem`` says why and where.
Strings are told as they grow, with escapes decoded; half an escape, half a surrogate pair is kept for the next
piece. A lone surrogate is told as it is. Pure: no clock, no I/O.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal, Protocol

import orjson

from envelopes.types import Json

Reason = Literal["malformed", "truncated", "duplicate_key", "not_a_number", "too_deep"]
Path = list[str | int]

_SPACE = re.compile(r"[ \t\n\r]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_WORD = re.compile(r"[-+.0-9A-Za-z]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_HEX = re.compile(r"[0-9a-fA-F]*")
_NOT_NUMBERS = ("NaN", "Infinity", "-Infinity")
_LITERALS: dict[str, Json] = {"true": True, "false": False, "null": None}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LONGEST_WORD = 4096


@dataclass(frozen=True)
class JsonProblem:
    """Why the text is not acceptable JSON; ``path`` leads to the value or key that was being read."""

    reason: Reason
    path: tuple[str | int, ...]


class Handler(Protocol):
    """What is told. ``path`` leads to the value (it is the scanner's own list: copy it to keep it)."""

    def opened(self, path: Path, container: Literal["object", "array"]) -> None: ...

    def closed(self, path: Path) -> None: ...

    def string_grew(self, path: Path, text: str) -> None: ...

    def string_ended(self, path: Path) -> None: ...

    def scalar(self, path: Path, value: Json) -> None:
        """A number, as its text, or True, False, None."""
        ...


class Silent:
    """Listens to nothing: for finding out only whether and where a text is wrong."""

    def opened(self, path: Path, container: Literal["object", "array"]) -> None: ...

    def closed(self, path: Path) -> None: ...

    def string_grew(self, path: Path, text: str) -> None: ...

    def string_ended(self, path: Path) -> None: ...

    def scalar(self, path: Path, value: Json) -> None: ...


Expect = Literal["value", "value or ]", "key", "key or }", ":", ", or end", "nothing"]


class JsonScanner:
    """Feed it with ``feed``; ``finish`` says that no more comes."""

    def __init__(self, handler: Handler, *, max_depth: int) -> None:
        self.problem: JsonProblem | None = None
        self._handler = handler
        self._max_depth = max_depth
        self._path: Path = []
        self._keys: list[set[str] | None] = []  # per open container: the keys seen, None for an array
        self._expect: Expect = "value"
        self._string: Literal["key", "value"] | None = None
        self._key: list[str] = []
        self._word = ""
        self._rest = ""

    def feed(self, text: str) -> None:
        """Read on. Does nothing once there is a problem."""
        text, self._rest = self._rest + text, ""
        at = 0
        while at < len(text) and self.problem is None:
            at = self._inside_string(text, at) if self._string else self._between(text, at)

    def within(self, text: str) -> str | None:
        """What ``text`` adds to the value that is being read, where that is a string and ``text`` all inside of it:
        then it need not be fed. None where ``feed`` has to look, and nothing has been read."""
        if self._string != "value" or self._rest or "\\u" in text:
            # An escape of a code unit may be half of a pair.
            return None
        try:
            read: str = orjson.loads(f'"{text}"')
        except orjson.JSONDecodeError:
            return None
        return read

    def finish(self) -> JsonProblem | None:
        """What is wrong with the text as a whole, if anything."""
        if self.problem is None and self._word:
            self._end_word()
        if self.problem is None and self._expect != "nothing":
            self._fail("truncated")
        return self.problem

    def _fail(self, reason: Reason) -> None:
        # -1 stands for an array whose first item has not begun.
        self.problem = JsonProblem(reason, tuple(step for step in self._path if step != -1))

    # -- between strings ----------------------------------------------------------------------------------------

    def _between(self, text: str, at: int) -> int:
        end = _matched(_WORD, text, at)
        if end > at or self._word:
            self._word += text[at:end]
            if len(self._word) > _LONGEST_WORD:
                self._fail("malformed")
            elif end < len(text):
                self._end_word()
            return end
        end = _matched(_SPACE, text, at)
        if end > at:
            return end
        self._punctuation(text[at])
        return at + 1

    def _end_word(self) -> None:
        word, self._word = self._word, ""
        if self._expect not in ("value", "value or ]"):
            self._fail("malformed")
        elif word in _NOT_NUMBERS:
            self._fail("not_a_number")
        elif word in _LITERALS:
            self._begin_value()
            self._handler.scalar(self._path, _LITERALS[word])
            self._end_value()
        elif _NUMBER.fullmatch(word):
            self._begin_value()
            if not word.lstrip("-").isdigit() and math.isinf(float(word)):
                self._fail("not_a_number")
                return
            self._handler.scalar(self._path, word)
            self._end_value()
        else:
            self._fail("malformed")

    def _punctuation(self, char: str) -> None:
        expect = self._expect
        if char == '"' and expect in ("value", "value or ]"):
            self._begin_value()
            self._string = "value"
        elif char == '"' and expect in ("key", "key or }"):
            self._string = "key"
        elif char in "{[" and expect in ("value", "value or ]"):
            self._open(char)
        elif char == ":" and expect == ":":
            self._expect = "value"
        elif char == "," and expect == ", or end":
            self._expect = "value" if self._keys[-1] is None else "key"
        elif (char == "]" and expect == "value or ]") or (char == "}" and expect == "key or }"):
            self._close(empty=True)
        elif expect == ", or end" and char == ("]" if self._keys[-1] is None else "}"):
            self._close(empty=False)
        else:
            self._fail("malformed")

    def _open(self, char: str) -> None:
        self._begin_value()
        if len(self._keys) >= self._max_depth:
            self._fail("too_deep")
            return
        self._handler.opened(self._path, "object" if char == "{" else "array")
        self._keys.append(set() if char == "{" else None)
        self._expect = "key or }" if char == "{" else "value or ]"
        if char == "[":
            self._path.append(-1)

    def _close(self, *, empty: bool) -> None:
        keys = self._keys.pop()
        if keys is None or not empty:
            self._path.pop()
        self._handler.closed(self._path)
        self._end_value()

    def _begin_value(self) -> None:
        if self._keys and self._keys[-1] is None:
            index = self._path[-1]
            self._path[-1] = index + 1 if isinstance(index, int) else 0

    def _end_value(self) -> None:
        self._expect = ", or end" if self._keys else "nothing"

    # -- strings ------------------------------------------------------------------------------------------------

    def _inside_string(self, text: str, at: int) -> int:
        end = _matched(_PLAIN, text, at)
        if end > at:
            self._grew(text[at:end])
        if end == len(text):
            return end
        if text[end] == '"':
            self._end_string()
            return end + 1
        if text[end] == "\\":
            return self._escape(text, end)
        self._fail("malformed")
        return end

    def _escape(self, text: str, at: int) -> int:
        """Decode the escape at ``at``; what is not all there yet waits in ``_rest``."""
        if at + 1 == len(text):
            return self._wait(text, at)
        if text[at + 1] != "u":
            plain = _ESCAPES.get(text[at + 1])
            if plain is None:
                self._fail("malformed")
            else:
                self._grew(plain)
            return at + 2
        unit = self._unit(text, at)
        if unit is None:
            return self._wait(text, at)
        if 0xD800 <= unit <= 0xDBFF:
            # Only what follows tells whether this is half of a pair.
            following = text[at + 6 : at + 8]
            if len(following) < 2 and "\\u".startswith(following):
                return self._wait(text, at)
            if following == "\\u":
                second = self._unit(text, at + 6)
                if second is None:
                    return self._wait(text, at)
                if 0xDC00 <= second <= 0xDFFF:
                    self._grew(chr(0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00)))
                    return at + 12
        if self.problem is None:
            self._grew(chr(unit))
        return at + 6

    def _unit(self, text: str, at: int) -> int | None:
        """The code unit of the escape at ``at``; None when digits are still missing. Wrong digits are a problem."""
        digits = text[at + 2 : at + 6]
        if _matched(_HEX, digits, 0) < len(digits):
            self._fail("malformed")
            return 0
        return int(digits, 16) if len(digits) == 4 else None

    def _wait(self, text: str, at: int) -> int:
        self._rest = text[at:]
        return len(text)

    def _grew(self, text: str) -> None:
        if self._string == "key":
            self._key.append(text)
        else:
            self._handler.string_grew(self._path, text)

    def _end_string(self) -> None:
        kind, self._string = self._string, None
        if kind == "value":
            self._handler.string_ended(self._path)
            self._end_value()
            return
        key, self._key = "".join(self._key), []
        keys = self._keys[-1]
        if keys is None:
            raise AssertionError("keys are read in objects only")
        if self._expect == "key or }":
            self._path.append(key)
        else:
            self._path[-1] = key
        if key in keys:
            self._fail("duplicate_key")
        keys.add(key)
        self._expect = ":"


def _matched(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where the match of ``pattern`` at ``at`` ends; these patterns match everywhere, if only nothing."""
    found = pattern.match(text, at)
    return found.end() if found else at
