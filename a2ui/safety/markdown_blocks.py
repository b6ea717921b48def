"""The blocks of a Markdown text of which more may follow: where each stands, and from where on it is open."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markdown_it.token import Token

from a2ui.safety import markdown
from a2ui.safety.limits import Limits
from a2ui.safety.text import clean_text

LISTS = ("bullet_list_open", "ordered_list_open")
_OTHER_LINE_ENDS = re.compile("[\u2028\u2029]")
OPEN_TO_THE_END = ("paragraph_open", "blockquote_open")


class Lines:
    """Complete lines of a text. Numbers count from `first`, the number of lines that the parser was given before them;
    `count` is the number after the last."""

    def __init__(self, text: str, first: int) -> None:
        self.text, self.first = text, first
        self._offsets = [0]
        for line in text.split("\n")[:-1]:
            self._offsets.append(self._offsets[-1] + len(line) + 1)
        self.count = first + len(self._offsets) - 1

    def offset(self, line: int) -> int:
        """Where a line begins."""
        return self._offsets[line - self.first]

    def between(self, start: int, end: int) -> str:
        return self.text[self.offset(max(start, self.first)) : self.offset(end)]

    def is_blank(self, line: int) -> bool:
        return not clean_text(self.between(line, line + 1)).strip(" \t\n")

    def text_from(self, line: int) -> int | None:
        """The first line from this one on that is not blank."""
        return next((at for at in range(line, self.count) if not self.is_blank(at)), None)


@dataclass
class Size:
    """What the limits of a finished text count."""

    chars: int = 0
    marks: int = 0
    lines: int = 1
    bars: int = 0
    widest: int = 0

    def allows(self, text: str, limits: Limits) -> bool:
        """Take in more of it. Returns whether it may be drawn so far."""
        self.chars += len(text)
        self.marks += markdown.marks_in(text)
        self.lines += text.count("\n")
        if self.bars or "|" in text:
            first, *others = [line.count("|") for line in text.split("\n")]
            self.widest = max(self.widest, self.bars + first, *others)
            self.bars = others[-1] if others else self.bars + first
        return (
            self.chars <= limits.markdown_chars
            and self.marks <= limits.markdown_marks
            and not markdown.crowded(self.lines, self.widest)
            and not ("\r" in text or (not text.isascii() and _OTHER_LINE_ENDS.search(text)))
        )


@dataclass
class Block:
    """A top-level block. One that may go on has, beside its `html`: the `source` that stands, its HTML in `body`
    between `opens` and `closes`, and `lead`, what the parser has to be given before what follows."""

    html: str = ""
    source: str = ""
    opens: str = ""
    body: str = ""
    closes: str = ""
    lead: str = ""
    tight: bool = True
    after_blank: bool = False
    redrawn: int = 0


class Change(NamedTuple):
    """The top-level block number `at` is now `html`."""

    at: int
    html: str


class Group(NamedTuple):
    """The tokens of one block, and its lines."""

    tokens: list[Token]
    start: int
    end: int

    @property
    def kind(self) -> str:
        return self.tokens[0].type

    @property
    def first(self) -> Token:
        return self.tokens[0]


def groups_of(tokens: Sequence[Token]) -> list[Group]:
    """Blocks that stand beside each other."""
    found: list[Group] = []
    begun = depth = 0
    for at, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            start, end = tokens[begun].map or (0, 0)
            found.append(Group(list(tokens[begun : at + 1]), start, end))
            begun = at + 1
    return found


def inside(group: Group) -> list[Group]:
    """The items of a list, the blocks of an item."""
    return groups_of(group.tokens[1:-1])


def is_ended(group: Group, lines: Lines) -> bool:
    """Whether the last block of a text has ended, whatever follows. Lists and indented code have not, ever."""
    blank = lines.is_blank(lines.count - 1)
    match group.kind:
        case _ if may_head_table(group, lines):
            return False
        case "heading_open" | "hr":
            return True
        case "fence":
            # The lines of one that has not been closed are its mark and its content.
            return group.first.content.count("\n") < group.end - group.start - 1
        case "paragraph_open" | "blockquote_open" | "table_open":
            return blank
        case _:
            return False


def standing(item: Group, lines: Lines) -> int:
    """The line up to which the last item of the last list stands, whatever follows: that of its beginning where nothing
    does."""
    if lines.is_blank(lines.count - 1):
        return lines.count
    blocks = inside(item)
    if not blocks:
        return item.start
    last = blocks[-1]
    if last.kind in LISTS:
        stands = standing(inside(last)[-1], lines)
        if stands > last.start:
            return stands
    elif last.kind not in OPEN_TO_THE_END and not may_head_table(last, lines):
        return last.end
    return last.start if len(blocks) > 1 else item.start


def stands_upto(groups: Sequence[Group], lines: Lines) -> int:
    """The line up to which a text stands whose last block is open."""
    last = groups[-1]
    if last.kind in LISTS:
        return standing(inside(last)[-1], lines)
    if last.kind not in OPEN_TO_THE_END and not may_head_table(last, lines):
        return lines.count
    # The paragraph may turn out to be the title of a target right above it.
    above = lines.text_from(groups[-2].end if len(groups) > 1 else lines.first)
    is_title = above is not None and above < last.start and not lines.is_blank(last.start - 1)
    return above if is_title and above is not None else last.start


def may_head_table(group: Group, lines: Lines) -> bool:
    """Whether the next line can make the first of a table of what looks like something else: the last line has bars."""
    return group.start == lines.count - 1 and "|" in lines.between(group.start, lines.count)


def direct_paragraphs(tokens: Sequence[Token]) -> list[Token]:
    """The beginnings and ends of the paragraphs right inside the items of a list: hidden where it is tight."""
    level = tokens[0].level + 2
    return [
        token
        for token in tokens
        if token.type in ("paragraph_open", "paragraph_close") and token.level == level
    ]


def is_tight(group: Group) -> bool:
    """Whether a list has no blank lines in it. One without a paragraph looks the same either way."""
    return all(token.hidden for token in direct_paragraphs(group.tokens))


def lead_of(group: Group, lines: Lines) -> str:
    """What puts the parser to where an open list, table or fence goes on."""
    match group.kind:
        case "bullet_list_open":
            return f"{group.first.markup}    a\n"
        case "ordered_list_open":
            return f"1{group.first.markup}    a\n"
        case "fence":
            opening = lines.between(group.start, group.start + 1)
            return " " * (len(opening) - len(opening.lstrip(" "))) + f"{group.first.markup}\n"
        case _:
            heads = [token for token in group.tokens if token.type == "th_open"]
            marks = [_MARK_OF_COLUMN[str(token.attrGet("style") or "")] for token in heads]
            return f"|{'a|' * len(marks)}\n|{'|'.join(marks)}|\n"


_MARK_OF_COLUMN = {"": "-", "text-align:left": ":-", "text-align:center": ":-:", "text-align:right": "-:"}
_BODY = re.compile(r"(?:<tbody>\n(.*)</tbody>\n)?</table>\n\Z", re.DOTALL)


def table_parts(html: str) -> tuple[str, str]:
    """What a table begins with, and its rows."""
    found = _BODY.search(html)
    if found is None:
        raise ValueError("That is no table.")
    return html[: found.start()], found[1] or ""
