"""ECMAScript regular expressions, read into a tree whose size is known before anything runs.

`parse` reads what ECMAScript means under the flag `u`, without the flag's extra strictness: a text is code points,
`\\p{...}` has its meaning, braces and escapes without a meaning stand for themselves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from a2ui.safety.charsets import Charset, CharsetError, Ranges, property_text
from a2ui.safety.pattern_tree import (
    Chars,
    Choice,
    Edge,
    Look,
    Node,
    PatternError,
    Repeat,
    Sequence,
    UnsupportedError,
)

# ECMAScript white space and line ends, digits, word characters, and what `.` leaves out.
_SPACE: Final[Ranges] = (
    (0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
    (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
_DIGITS: Final[Ranges] = ((0x30, 0x39),)
_WORD: Final[Ranges] = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_LINE_ENDS: Final[Ranges] = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
_LAST: Final = 0x10FFFF

_SETS: Final[dict[str, Charset]] = {
    "d": Charset(_DIGITS), "D": Charset(_DIGITS).inverted(),
    "w": Charset(_WORD), "W": Charset(_WORD).inverted(),
    "s": Charset(_SPACE), "S": Charset(_SPACE).inverted(),
}  # fmt: skip

_COUNT = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_LOOK = re.compile(r"\?(<?)([=!])")
_FLAGS = re.compile(r"\?([ims]*)(?:-([ims]+))?:")
_GROUP_NAME = re.compile(r"\?<((?:[^\W\d]|\$)[\w$]*)>")
_NAME_REFERENCE = re.compile(r"k<[^>]*>")
_CODE_POINT = re.compile(r"u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})")
_PROPERTY = re.compile(r"([pP])\{([A-Za-z_=]+)\}")
_CONTROLS: Final = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_MAX_DEPTH: Final = 50


_EMPTY: Final = Sequence(())


def parse(pattern: str) -> Node:
    """The tree of a pattern. Raises PatternError."""
    return _Parser(pattern).run()


@dataclass(frozen=True, slots=True)
class _Flags:
    ignore_case: bool = False
    multiline: bool = False
    dot_all: bool = False

    def changed(self, on: str, off: str) -> _Flags:
        def value(letter: str, now: bool) -> bool:
            return (now or letter in on) and letter not in off

        return _Flags(value("i", self.ignore_case), value("m", self.multiline), value("s", self.dot_all))


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.depth = 0
        self.flags = _Flags()
        self.names: set[str] = set()

    def run(self) -> Node:
        tree = self.choice()
        if self.position < len(self.pattern):
            raise PatternError("unmatched ')'")
        return tree

    def at(self, text: str) -> bool:
        return self.pattern.startswith(text, self.position)

    def choice(self) -> Node:
        """Alternatives up to the end of the group."""
        options: list[Node] = []
        parts: list[Node] = []
        while self.position < len(self.pattern) and not self.at(")"):
            if self.at("|"):
                self.position += 1
                options.append(_sequence(parts))
                parts = []
            else:
                parts.append(self.term())
        options.append(_sequence(parts))
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def term(self) -> Node:
        """An atom with its quantifier, or an assertion."""
        char = self.pattern[self.position]
        if char in "*+?" or (char == "{" and _COUNT.match(self.pattern, self.position)):
            raise PatternError("nothing to repeat")
        self.position += 1
        if char in "^$":
            return self.edge(char)
        if char == "\\" and self.pattern[self.position : self.position + 1] in ("b", "B"):
            self.position += 1
            return Edge("b" if self.pattern[self.position - 1] == "b" else "B")
        node = self.group() if char == "(" else Chars(self.atom(char))
        if isinstance(node, Look) and not node.ahead:
            return node
        return self.repeated(node)

    def atom(self, char: str) -> Charset:
        if char == "\\":
            found = self.escape()
        elif char == "[":
            found = self.bracket()
        elif char == ".":
            found = Charset() if self.flags.dot_all else Charset(_LINE_ENDS)
            return found.inverted()
        else:
            found = ord(char)
        chars = Charset(((found, found),)) if isinstance(found, int) else found
        return chars.folded() if self.flags.ignore_case else chars

    def edge(self, char: str) -> Node:
        if self.flags.multiline:
            # At a line: nothing but a line end stands on the other side.
            return Look(Chars(Charset(_LINE_ENDS).inverted()), ahead=char == "$", negative=True)
        return Edge("^" if char == "^" else "$")

    def repeated(self, node: Node) -> Node:
        if self.position >= len(self.pattern):
            return node
        char = self.pattern[self.position]
        if char in "*+?":
            self.position += 1
            low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[char]
        elif char == "{" and (count := _COUNT.match(self.pattern, self.position)):
            self.position = count.end()
            low = int(count[1])
            high = low if count[2] is None else int(count[3]) if count[3] else None
            if high is not None and high < low:
                raise PatternError("numbers out of order in {}")
        else:
            return node
        if self.at("?"):
            # Lazy: another order of trying, the same texts.
            self.position += 1
        return Repeat(node, low, high)

    def group(self) -> Node:
        """What stands behind an opening parenthesis, with the closing one."""
        outer = self.flags
        look: re.Match[str] | None = None
        if self.at("?"):
            opened = look = _LOOK.match(self.pattern, self.position)
            if name := _GROUP_NAME.match(self.pattern, self.position):
                opened = name
                if name[1] in self.names:
                    raise PatternError("two groups of one name")
                self.names.add(name[1])
            elif flags := _FLAGS.match(self.pattern, self.position):
                opened = flags
                self.flags = outer.changed(flags[1], flags[2] or "")
            if opened is None:
                raise PatternError("invalid group")
            self.position = opened.end()
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise PatternError("groups are nested too deeply")
        inside = self.choice()
        if not self.at(")"):
            raise PatternError("unterminated group")
        self.position += 1
        self.depth -= 1
        self.flags = outer
        if look:
            return Look(inside, ahead=not look[1], negative=look[2] == "!")
        # A group may be repeated whatever is inside.
        return Sequence((inside,)) if isinstance(inside, Look) else inside

    # ------------------------------------------------------------------ escapes

    def escape(self) -> int | Charset:
        """What a backslash outside of a class means."""
        if _NAME_REFERENCE.match(self.pattern, self.position) or self.pattern[
            self.position : self.position + 1
        ] in set("123456789"):
            raise UnsupportedError("back-references such as \\1 or \\k<name>")
        return self.escaped()

    def escaped(self) -> int | Charset:
        if self.position >= len(self.pattern):
            raise PatternError("\\ at the end of the pattern")
        if (point := self.code_point()) is not None:
            return point
        if found := _PROPERTY.match(self.pattern, self.position):
            self.position = found.end()
            try:
                return Charset(properties=(property_text(found[2], negated=found[1] == "P"),))
            except CharsetError as error:
                raise UnsupportedError(str(error)) from error
        char = self.pattern[self.position]
        self.position += 1
        return _SETS.get(char) or ord(char)

    def code_point(self) -> int | None:
        """The character of an escape that names one by number or letter; moves behind it."""
        char = self.pattern[self.position]
        if found := _CODE_POINT.match(self.pattern, self.position):
            point = int(found[1] or found[2] or found[3], 16)
            if point > _LAST:
                raise PatternError("there is no such character")
            self.position = found.end()
            return self.whole_pair(point) if found[2] and 0xD800 <= point <= 0xDFFF else _valid(point)
        following = self.pattern[self.position + 1 : self.position + 2]
        if char == "c" and following.isascii() and following.isalpha():
            self.position += 2
            return ord(following) % 32
        if char == "0" and not following.isdigit():
            self.position += 1
            return 0
        if char in _CONTROLS:
            self.position += 1
            return _CONTROLS[char]
        return None

    def whole_pair(self, first: int) -> int:
        """The character of two escapes that are the halves of one; half of one stands for what such text becomes."""
        second = _CODE_POINT.match(self.pattern, self.position + 1) if self.at("\\u") else None
        low = int(second[2], 16) if second and second[2] else 0
        if second is None or first > 0xDBFF or not 0xDC00 <= low <= 0xDFFF:
            return _valid(first)
        self.position = second.end()
        return 0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00)

    # ------------------------------------------------------------------ classes

    def bracket(self) -> Charset:
        negated = self.at("^")
        self.position += negated
        found = Charset()
        while not self.at("]"):
            if self.position >= len(self.pattern):
                raise PatternError("unterminated character class")
            found = found.joined(self.class_member())
        self.position += 1
        # Case first: what a negated class leaves out is left out in either case.
        if self.flags.ignore_case:
            found = found.folded()
        return found.inverted() if negated else found

    def class_member(self) -> Charset:
        first = self.class_atom()
        following = self.pattern[self.position : self.position + 2]
        if following[:1] != "-" or following in {"-", "-]"}:
            return _charset(first)
        self.position += 1
        last = self.class_atom()
        if isinstance(first, Charset) or isinstance(last, Charset):
            # One end is a set such as \d: then the hyphen is a plain character.
            return _charset(first).joined(_charset(ord("-"))).joined(_charset(last))
        if first > last:
            raise PatternError("range out of order in character class")
        return Charset(((first, last),))

    def class_atom(self) -> int | Charset:
        char = self.pattern[self.position]
        self.position += 1
        if char != "\\":
            return ord(char)
        if self.at("b"):
            self.position += 1
            return 8
        return self.escaped()


def _sequence(parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts)) if parts else _EMPTY


def _charset(found: int | Charset) -> Charset:
    return Charset(((found, found),)) if isinstance(found, int) else found


def _valid(point: int) -> int:
    # Half of a pair never reaches us in a text, it was replaced on entry.
    return 0xFFFD if 0xD800 <= point <= 0xDFFF else point
