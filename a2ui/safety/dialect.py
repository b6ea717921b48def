"""ECMAScript regular expressions in the spelling of google-re2 and of the module `regex`.

The dialects differ in what a backslash, a bracket or a brace means, in what `.`, `$` and `\\s` match, and in
syntax that ECMAScript does not have at all (`(?i)`, `a++`, `\\Z`). The translator walks the pattern once, writes
every construct so that both engines read what ECMAScript means, and refuses the rest.
"""

from __future__ import annotations

import re

# ECMAScript white space and line ends, as ranges for the inside of a class, and everything else.
_SPACE_RANGES = (
    (0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
    (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
_LAST = 0x10FFFF

_COUNT = re.compile(r"\{([0-9]{1,6})(?:(,)([0-9]{0,6}))?\}")
_GROUP = re.compile(r"\?(?::|=|!|<=|<!|[ims]*(?:-[ims]+)?:)")
_GROUP_NAME = re.compile(r"\?<([A-Za-z_][A-Za-z0-9_]*)>")
_NAME_REFERENCE = re.compile(r"k<([A-Za-z_][A-Za-z0-9_]*)>")
_CODE_POINT = re.compile(r"u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})")
_PROPERTY = re.compile(r"[pP]\{\^?[A-Za-z_=]+\}")
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_MAX_DEPTH = 50


class PatternError(ValueError):
    """The text is no ECMAScript pattern."""


def translate(pattern: str) -> tuple[str, str]:
    """The pattern for re2 and for `regex` (flags ASCII and VERSION0). Raises PatternError."""
    linear = _Translator(pattern, linear=True).run()
    return linear, _Translator(pattern, linear=False).run()


class _Translator:
    def __init__(self, pattern: str, *, linear: bool) -> None:
        self.pattern = pattern
        self.linear = linear
        self.position = 0
        self.depth = 0
        self.out: list[str] = []
        # Whether a quantifier may follow here.
        self.atom = False

    def run(self) -> str:
        while self.position < len(self.pattern):
            self.step()
        if self.depth:
            raise PatternError("unterminated group")
        return "".join(self.out)

    def step(self) -> None:
        char = self.pattern[self.position]
        self.position += 1
        if char == "\\":
            self.escape()
        elif char == "[":
            self.bracket()
        elif char == "(":
            self.open_group()
        elif char == ")":
            if not self.depth:
                raise PatternError("unmatched ')'")
            self.depth -= 1
            self.emit(")")
        elif char in "*+?" or (char == "{" and _COUNT.match(self.pattern, self.position - 1)):
            self.quantifier(char)
        elif char == ".":
            self.emit(r"[^\n\r" + self.code(0x2028) + self.code(0x2029) + "]")
        elif char == "$":
            self.emit("$" if self.linear else r"\Z", atom=False)
        elif char in "^|":
            self.emit(char, atom=False)
        else:
            self.emit(self.literal(char))

    def emit(self, text: str, *, atom: bool = True) -> None:
        self.out.append(text)
        self.atom = atom

    def literal(self, char: str) -> str:
        return "\\" + char if char in "\\.^$*+?()[]{}|-&~#" else char

    def code(self, point: int) -> str:
        if self.linear:
            return f"\\x{{{point:x}}}"
        return f"\\U{point:08x}"

    def ranges(self, ranges: tuple[tuple[int, int], ...]) -> str:
        return "".join([self.code(a) if a == b else f"{self.code(a)}-{self.code(b)}" for a, b in ranges])

    # ------------------------------------------------------------------ groups and counts

    def open_group(self) -> None:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise PatternError("groups are nested too deeply")
        if not self.pattern.startswith("?", self.position):
            self.emit("(", atom=False)
        elif name := _GROUP_NAME.match(self.pattern, self.position):
            self.position = name.end()
            self.emit(f"(?P<{name[1]}>", atom=False)
        elif kind := _GROUP.match(self.pattern, self.position):
            self.position = kind.end()
            self.emit("(" + kind.group(), atom=False)
        else:
            raise PatternError("invalid group")

    def quantifier(self, char: str) -> None:
        if not self.atom:
            raise PatternError("nothing to repeat")
        text = char
        if char == "{":
            count = _COUNT.match(self.pattern, self.position - 1)
            assert count is not None  # noqa: S101 - step() has looked
            if count[3] and int(count[3]) < int(count[1]):
                raise PatternError("numbers out of order in {}")
            text = count.group()
            self.position = count.end()
        if self.pattern.startswith("?", self.position):
            self.position += 1
            text += "?"
        self.emit(text, atom=False)

    # ------------------------------------------------------------------ escapes

    def escape(self) -> None:
        if self.position >= len(self.pattern):
            raise PatternError("\\ at the end of the pattern")
        if (point := self.code_point()) is not None:
            self.emit(self.code(point))
            return
        if name := _NAME_REFERENCE.match(self.pattern, self.position):
            self.position = name.end()
            self.emit(f"(?P={name[1]})")
            return
        char = self.pattern[self.position]
        if char in "dDwW":
            self.emit("\\" + char)
        elif char in "sS":
            self.emit(f"[{'^' if char == 'S' else ''}{self.ranges(_SPACE_RANGES)}]")
        elif char in "bB":
            self.emit("\\" + char, atom=False)
        elif char in "123456789":
            end = self.position + 1
            while end < len(self.pattern) and self.pattern[end] in "0123456789":
                end += 1
            # Apart from a digit that may follow, in both engines.
            self.emit(f"(?:\\{self.pattern[self.position : end]})")
            self.position = end - 1
        elif found := _PROPERTY.match(self.pattern, self.position):
            self.emit("\\" + found.group())
            self.position = found.end() - 1
        else:
            self.emit(self.literal(char))
        self.position += 1

    def code_point(self) -> int | None:
        """The character of an escape that names one by number or letter; moves behind it."""
        char = self.pattern[self.position]
        if found := _CODE_POINT.match(self.pattern, self.position):
            point = int(found[1] or found[2] or found[3], 16)
            if point > _LAST:
                raise PatternError("there is no such character")
            if 0xD800 <= point <= 0xDFFF:
                # Half a pair: such text never reaches us, it was replaced on entry.
                point = 0xFFFD
            self.position = found.end()
            return point
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

    # ------------------------------------------------------------------ classes

    def bracket(self) -> None:
        negated = self.pattern.startswith("^", self.position)
        self.position += negated
        parts: list[str] = []
        while True:
            if self.position >= len(self.pattern):
                raise PatternError("unterminated character class")
            if self.pattern[self.position] == "]":
                self.position += 1
                break
            parts.append(self.class_member())
        if parts:
            self.emit(f"[{'^' if negated else ''}{''.join(parts)}]")
        else:
            everything = f"{self.code(0)}-{self.code(_LAST)}"
            self.emit(f"[{everything}]" if negated else f"[^{everything}]")

    def class_member(self) -> str:
        first = self.class_atom()
        following = self.pattern[self.position : self.position + 2]
        if following[:1] != "-" or following in {"-", "-]"}:
            return first if isinstance(first, str) else self.code(first)
        self.position += 1
        last = self.class_atom()
        if isinstance(first, str) or isinstance(last, str):
            # One end is a set such as \d: then the hyphen is a plain character.
            sides = [side if isinstance(side, str) else self.code(side) for side in (first, last)]
            return f"{sides[0]}{self.code(ord('-'))}{sides[1]}"
        if first > last:
            raise PatternError("range out of order in character class")
        return f"{self.code(first)}-{self.code(last)}"

    def class_atom(self) -> int | str:
        """A code point, or the text of a set."""
        char = self.pattern[self.position]
        self.position += 1
        if char != "\\":
            return ord(char)
        if self.position >= len(self.pattern):
            raise PatternError("\\ at the end of the pattern")
        if (point := self.code_point()) is not None:
            return point
        char = self.pattern[self.position]
        if found := _PROPERTY.match(self.pattern, self.position):
            self.position = found.end()
            return "\\" + found.group()
        self.position += 1
        if char in "dDwW":
            return "\\" + char
        if char == "s":
            return self.ranges(_SPACE_RANGES)
        if char == "S":
            return self.ranges(_complement(_SPACE_RANGES))
        return 8 if char == "b" else ord(char)


def _complement(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    starts = [0, *[last + 1 for _, last in ranges]]
    ends = [*[first - 1 for first, _ in ranges], _LAST]
    return tuple(zip(starts, ends, strict=True))
