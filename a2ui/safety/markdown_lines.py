"""Lines of a Markdown text that say by themselves what they are: drawn without the parser, which takes twenty times as
long, and exactly as it would draw them.

That is plain text in paragraphs, headings, items of tight lists and cells of tables, and what stands in a fence.
Whatever may be anything else is left to the parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from a2ui.safety import markdown
from a2ui.safety.markdown_blocks import Block
from a2ui.safety.text import clean_text, escape

_HEADING = re.compile(r"(#{1,6}) (.*[^#])\Z")
_FENCE = re.compile(r"(`{3,}|~{3,})[^`~|]*\Z")
_ITEM = re.compile(r"([-+*]|([0-9]{1,9})[.)]) (.*)\Z")
_GOES_ON = " \t-+*0123456789"
"""What a list may go on with behind a blank line: one of these begins what is inside an item, or another one."""
ITEM_BEGUN = re.compile(r" *(?:[-+*]|[0-9]{1,9}[.)]) +[^\w\s]{0,2}\w")
# One that has begun: what else it may become, it is an item.
_BEGUN = re.compile(r"([-+*]|[0-9]{1,9}[.)]) [^\W_]")
_COLUMNS = re.compile(r"\|(?: *:?-+:? *\|)+\Z")
_MARKS = {"-": "", ":-": ' align="left"', ":-:": ' align="center"', "-:": ' align="right"'}


class Skimmed(NamedTuple):
    """`changed`: the blocks that were drawn, in order, and `opened` the one that goes on. `chars`: so much of the text
    need not be looked at any more; `is_all`: nor the rest of it, as long as nothing follows. `drawn`: characters of
    HTML that have come."""

    changed: list[Block]
    opened: Block | None
    chars: int
    drawn: int
    is_all: bool


def skim(text: str, opened: Block | None, begun: str = "") -> Skimmed:
    """Draw complete lines, from the first one on, as far as they are plain. `opened` is the block that they go on with;
    of a list the last item comes again. `begun` is the beginning of the line after them."""
    return _Skimming(text, opened, begun).skim()


class _Skimming:
    def __init__(self, text: str, opened: Block | None, begun: str) -> None:
        self.lines = text.split("\n")[:-1]
        self.at = self.chars = self.drawn = 0
        self.begun = begun
        self.opened = opened
        self.changed: list[Block] = []
        self.is_all = False

    def skim(self) -> Skimmed:
        before = -1
        while before < self.at < len(self.lines):
            before, self.is_all = self.at, False
            self._next()
        is_all = self.is_all or self.at == len(self.lines)
        return Skimmed(self.changed, self.opened, self.chars, self.drawn, is_all)

    def _next(self) -> None:
        opened, line = self.opened, self.lines[self.at]
        if opened is not None:
            match opened.lead[:1]:
                case "|":
                    self._rows(opened)
                case "`" | "~":
                    self._code(opened)
                case _:
                    self._items(opened)
        elif not line:
            self._done(1)
        else:
            match line[0]:
                case "#":
                    self._heading()
                case "`" | "~":
                    self._fence()
                case "|":
                    self._table()
                case _ if _ITEM.match(line):
                    self._items()
                case _:
                    self._paragraph()

    def _done(self, count: int) -> None:
        """So many lines need not be looked at any more."""
        self.chars += sum(map(len, self.lines[self.at : self.at + count])) + count
        self.at += count

    def _draw(self, block: Block, more: str, count: int) -> None:
        """So many lines have added this HTML to `block`."""
        if not self.changed or self.changed[-1] is not block:
            self.changed.append(block)
        self.drawn += len(more)
        self._done(count)

    def _heading(self) -> None:
        line = self.lines[self.at]
        found = _HEADING.match(line)
        if found is not None and is_plain(found[2]):
            level = len(found[1])
            html = f"<h{level}>{escape(found[2])}</h{level}>\n"
            self._draw(Block(html, source=f"{line}\n"), html, 1)

    def _paragraph(self) -> None:
        count = self._run(is_plain)
        if self.at + count == len(self.lines):
            # More of it may come.
            self.is_all = True
        elif count and not self.lines[self.at + count]:
            source = self._source(count)
            html = f"<p>{escape(source[:-1])}</p>\n"
            self._draw(Block(html, source=source), html, count + 1)

    def _run(self, fits: Callable[[str], object]) -> int:
        """How many of the next lines do."""
        for count, line in enumerate(self.lines[self.at :]):
            if not fits(line):
                return count
        return len(self.lines) - self.at

    def _source(self, count: int) -> str:
        return "\n".join([*self.lines[self.at : self.at + count], ""])

    # -- what goes on -------------------------------------------------------------------------------------------------

    def _fence(self) -> None:
        found = _FENCE.match(self.lines[self.at])
        if found is not None:
            html = "<pre><code></code></pre>\n"
            self.opened = Block(html, lead=f"{found[1]}\n")
            self._draw(self.opened, html, 1)

    def _code(self, block: Block) -> None:
        mark = block.lead[:-1]
        count = self._run(lambda line: not line.lstrip().startswith(mark[0]) and clean_text(line) == line)
        if count:
            more = escape(self._source(count))
            block.body += more
            block.html = f"<pre><code>{block.body}</code></pre>\n"
            self._draw(block, more, count)
        if self.at < len(self.lines) and self.lines[self.at] == mark:
            self.opened = None
            self._done(1)

    def _table(self) -> None:
        cells = _cells(self.lines[self.at])
        if cells is None:
            return
        if self.at + 1 == len(self.lines):
            # It may be the head of one.
            self.is_all = True
        elif _COLUMNS.match(line := self.lines[self.at + 1]) and line.count("|") == len(cells) + 1:
            marks = [_column(mark) for mark in line[1:-1].split("|")]
            lead = f"|{'a|' * len(marks)}\n|{'|'.join(marks)}|\n"
            head = f"<table>\n<thead>\n{_row('th', marks, cells)}</thead>\n"
            html = f"{head}</table>\n"
            self.opened = Block(html, source=self._source(2), opens=head, lead=lead)
            self._draw(self.opened, html, 2)

    def _rows(self, block: Block) -> None:
        if not self.lines[self.at]:
            self.opened = None
            self._done(1)
            return
        marks = block.lead.split("\n")[1].split("|")[1:-1]
        rows = []
        for line in self.lines[self.at :]:
            cells = _cells(line)
            if cells is None or len(cells) != len(marks):
                break
            rows.append(_row("td", marks, cells))
        if rows:
            more = "".join(rows)
            block.source += self._source(len(rows))
            block.body += more
            block.html = f"{block.opens}<tbody>\n{block.body}</tbody>\n</table>\n"
            self._draw(block, more, len(rows))

    def _items(self, block: Block | None = None) -> None:
        """All but the last one, which may go on unless another has begun, or the list has ended."""
        found = _ITEM.match(self.lines[self.at])
        if found is None or (block is not None and (not block.tight or block.after_blank)):
            return
        mark = found[1][-1]
        if block is not None and block.lead[:-1].removeprefix("1").rstrip(" a") != mark:
            return
        items: list[str] = []
        for line in self.lines[self.at :]:
            item = _ITEM.match(line)
            if item is None or item[1][-1] != mark or not is_plain(item[3]):
                break
            items.append(f"<li>{escape(item[3])}</li>\n")
        after = self.at + len(items)
        is_ended = self._ends(after)
        begun = _BEGUN.match(self.begun) if after == len(self.lines) else None
        count = len(items) - (not is_ended and (begun is None or begun[1][-1] != mark))
        self.is_all = after == len(self.lines) and bool(items)
        if count < 1:
            return
        if block is None:
            block = self.opened = _list(mark, found[2])
        more = "".join(items[:count])
        block.source += self._source(count)
        block.body += more
        block.html = block.opens + block.body + block.closes
        self._draw(block, more, count)
        if is_ended:
            self.opened = None

    def _ends(self, at: int) -> bool:
        """Whether a list has ended with the line before this one: something else stands behind a blank line."""
        if at >= len(self.lines) or self.lines[at]:
            return False
        following = next((line for line in self.lines[at:] if line), " ")
        return following[0] not in _GOES_ON


def _cells(line: str) -> list[str] | None:
    """The cells of a row that is between bars; None where it is not, or one of them is not plain."""
    cells = [cell.strip(" ") for cell in line.split("|")]
    if line[:1] != "|" or cells[0] or cells[-1] or not all(is_plain(cell) for cell in cells[1:-1]):
        return None
    return cells[1:-1]


def _column(mark: str) -> str:
    return re.sub("-+", "-", mark.strip(" "))


def _row(tag: str, marks: list[str], cells: list[str]) -> str:
    made = [f"<{tag}{_MARKS[mark]}>{escape(cell)}</{tag}>\n" for mark, cell in zip(marks, cells, strict=True)]
    return f"<tr>\n{''.join(made)}</tr>\n"


def _list(mark: str, number: str | None) -> Block:
    if number is None:
        return Block(opens="<ul>\n", closes="</ul>\n", lead=f"{mark}    a\n")
    start = "" if int(number) == 1 else f' start="{int(number)}"'
    return Block(opens=f"<ol{start}>\n", closes="</ol>\n", lead=f"1{mark}    a\n")


def is_plain(text: str) -> bool:
    """Whether this is plain text in one line, wherever it stands: not even the head of a table."""
    return (
        bool(text)
        and text == text.strip()
        and "|" not in text
        and text.isprintable()
        and markdown.is_plain(text)
    )
