"""Markdown that is still being written, drawn block by block (decision D65).

What is drawn is at any time what `markdown.render` makes of the text up to `closed`. A block is drawn when nothing that
follows can make another of it; of a list, a table, a fence what is complete. Only what is open is read again.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

from markdown_it.token import Token

from a2ui.safety import markdown
from a2ui.safety.limits import DEFAULT_LIMITS, Limits
from a2ui.safety.markdown_blocks import (
    LISTS,
    OPEN_TO_THE_END,
    Block,
    Change,
    Group,
    Lines,
    Size,
    direct_paragraphs,
    groups_of,
    inside,
    is_ended,
    is_tight,
    lead_of,
    may_head_table,
    stands_upto,
    table_parts,
)
from a2ui.safety.markdown_lines import ITEM_BEGUN, skim
from a2ui.safety.markdown_targets import Targets
from a2ui.safety.text import clean_text

READINGS = 8
"""So many characters are read at most for each that came: a long block that is open is read in steps, further and
further apart."""
AHEAD = 2_000
"""Characters that may be read before that counts."""
REDRAWN = 8
"""How often a block is drawn again because links in it have got their targets; the finished part has all of them."""


class _Plain(Exception):
    """All of the text will be shown without formatting."""


@dataclass
class StreamedMarkdown:
    """One text. `closed`: code points up to which `blocks` stand; `length`: how many have come. `plain`: it has become
    too long to be read on, and what stands stays as it is. `read`: characters that the parser was given.
    """

    limits: Limits = DEFAULT_LIMITS
    closed: int = 0
    length: int = 0
    plain: bool = False
    read: int = 0
    _blocks: list[Block] = field(default_factory=list)
    _open: Block | None = None
    # What is behind blocks that nothing changes, where it begins; how much of it is complete lines, and was looked at.
    _rest: str = ""
    _start: int = 0
    _complete: int = 0
    _looked: int = 0
    _peeked: bool = False
    _begins: bool = False
    _targets: Targets = field(default_factory=Targets)
    _changed: set[int] = field(default_factory=set)
    _size: Size = field(default_factory=Size)
    _html_chars: int = 0

    @property
    def blocks(self) -> list[str]:
        """The HTML of each block."""
        return [block.html for block in self._blocks]

    @property
    def tail(self) -> str:
        """The text behind `closed`; empty once it is plain."""
        return self._rest[self.closed - self._start :]

    def feed(self, text: str) -> list[Change]:
        """Take in more of the text. Returns what is drawn now, in order; nothing any more once it is plain."""
        self.take(text)
        return self.draw()

    def take(self, text: str) -> int:
        """Take in more of the text, for `draw`. Returns how many characters that will give to the parser, which takes
        milliseconds for a thousand; less than two where it only has to hand out what was drawn here."""
        self.length += len(text)
        if self.plain:
            return 0
        self._rest += text
        if not self._size.allows(text, self.limits):
            self.plain, self._rest, self._complete, self._begins = True, "", 0, False
            return 0
        if "\n" in text:
            self._complete, self._peeked = self._rest.rindex("\n") + 1, False
        # An item that has begun ends the one before it.
        self._begins = not self._peeked and ITEM_BEGUN.match(self._rest, self._complete) is not None
        if self._is_due and self.closed == self._start:
            self._skim()
        return len(self._rest) if self._is_due else bool(self._changed)

    def draw(self) -> list[Change]:
        """Read what has to be read. Returns what is drawn now, as `feed` does. Where that shows what no page may have,
        such as more HTML than is sent, no block stands any more."""
        try:
            if self._is_due and not self._look_at_begun() and self._complete > self._looked:
                self._look()
        except _Plain:
            self._give_up()
        changed, self._changed = sorted(self._changed), set()
        return [Change(at, self._blocks[at].html) for at in changed]

    def _give_up(self) -> None:
        self.plain, self.closed, self._rest, self._complete, self._begins = True, 0, "", 0, False
        self._blocks.clear()
        self._changed.clear()

    @property
    def _is_due(self) -> bool:
        return (self._begins or self._complete > self._looked) and self._affords(len(self._rest))

    def _look_at_begun(self) -> bool:
        is_new, self._begins, self._peeked = self._begins, False, self._peeked or self._begins
        return is_new and self._look(f"{self._rest[self._complete :]}\n")

    def _skim(self) -> None:
        """Draw what needs no parser; nothing of the rest is drawn yet."""
        begun = self._rest[self._complete :] if self._begins else ""
        done = skim(self._rest[: self._complete], self._open, begun)
        self._html_chars += done.drawn
        if markdown.is_too_long("", self._html_chars):
            self._give_up()
            return
        self._open = done.opened
        for block in done.changed:
            self._set(block, block.html)
        self._rest, self._complete = self._rest[done.chars :], self._complete - done.chars
        self._start = self.closed = self._start + done.chars
        self._looked = self._complete if done.is_all else max(0, self._looked - done.chars)
        self.read += done.chars + (self._complete if done.is_all else 0)
        if not self._complete:
            # Whatever has begun is the next to be looked at.
            self._begins, self._peeked = False, True

    def _affords(self, chars: int) -> bool:
        return self.read + chars <= READINGS * self.length + AHEAD

    # -- reading ------------------------------------------------------------------------------------------------------

    def _parse(self, source: str, references: MutableMapping[str, Any]) -> list[Token]:
        self.read += len(source)
        return markdown.block_tokens(clean_text(source), references)

    def _first(self, source: str) -> Group:
        return groups_of(self._parse(source, ChainMap({}, self._targets.known)))[0]

    def _draw(self, tokens: list[Token]) -> str:
        html = markdown.draw(tokens, self._targets.known)
        if html is None or markdown.is_too_long(html, self._html_chars):
            raise _Plain
        self._html_chars += len(html)
        return html

    def _look(self, begun: str = "") -> bool:
        """Read what is complete, draw what has closed, and remember where to go on. Nothing of that where more would
        stand than came before the line that has `begun`."""
        opened = self._open
        lead = "" if opened is None else opened.lead
        lines = Lines(self._rest[: self._complete] + begun, lead.count("\n"))
        found: dict[str, Any] = {}
        groups = groups_of(self._parse(lead + lines.text, ChainMap(found, self._targets.known)))
        last = groups[-1] if groups else None
        # Behind the last block only blank lines are seen, or targets of links, which are not.
        unseen = lines.text_from(lines.first if last is None else last.end)
        whole = last is None or unseen is not None or is_ended(last, lines)
        if last is not None and not whole:
            stands = stands_upto(groups, lines)
        elif unseen is not None and not lines.is_blank(lines.count - 1):
            stands = unseen
        else:
            stands = lines.count
        if begun and stands == lines.count:
            return False
        self._open = None
        self._learn(found, stands)
        for group in groups:
            block = opened if group is groups[0] else None
            if group is not last or whole:
                self._finish(block, group, lines)
            else:
                self._grow(block, group, lines, stands)
        if whole:
            self._go_on(lines, stands, stands)
        return True

    def _go_on(self, lines: Lines, start: int, stands: int) -> None:
        """The next look begins at line `start`; what is drawn stands up to line `stands`."""
        self.closed = self._start + lines.offset(stands)
        done = lines.offset(start)
        self._rest, self._start, self._complete = self._rest[done:], self._start + done, self._complete - done
        self._looked = self._complete

    # -- blocks -------------------------------------------------------------------------------------------------------

    def _finish(self, block: Block | None, group: Group, lines: Lines) -> None:
        """A block to which nothing can be added any more."""
        if group.kind in LISTS:
            items = inside(group)[0 if block is None else 1 :]
            block = block or Block()
            source = self._add_items(block, group, items, lines, group.end)
            self._set(block, block.opens + block.body + block.closes, wants=source)
        elif block is not None and block.lead:
            self._add_lines(block, group, lines)
        else:
            block = block or Block()
            block.source = lines.between(group.start, group.end)
            self._set(block, self._draw(group.tokens), wants=block.source)

    def _grow(self, block: Block | None, group: Group, lines: Lines, stands: int) -> None:
        """The last block, which is open."""
        match group.kind:
            case kind if kind in OPEN_TO_THE_END or (may_head_table(group, lines) and kind not in LISTS):
                self._go_on(lines, stands, stands)
            case "code_block":
                self._open = block or Block()
                self._set(self._open, self._draw(group.tokens))
                self._go_on(lines, group.start, stands)
            case kind if kind in LISTS:
                self._grow_list(block, group, lines, stands)
            case _:
                self._open = block or Block(lead=lead_of(group, lines))
                self._add_lines(self._open, group, lines)
                self._go_on(lines, stands, stands)

    def _add_lines(self, block: Block, group: Group, lines: Lines) -> None:
        """Lines of a table or a fence."""
        html = self._draw(group.tokens)
        source = lines.between(group.start, group.end)
        if group.kind == "table_open":
            opens, body = table_parts(html)
            block.opens = block.opens or opens
            block.source += source
            block.body += body
            rows = f"<tbody>\n{block.body}</tbody>\n" if block.body else ""
            self._set(block, f"{block.opens}{rows}</table>\n", wants=source)
        else:
            block.body += html.removeprefix("<pre><code>").removesuffix("</code></pre>\n")
            self._set(block, f"<pre><code>{block.body}</code></pre>\n")

    def _grow_list(self, block: Block | None, group: Group, lines: Lines, stands: int) -> None:
        """Items that nothing can change any more stay; what stands of the last one is drawn for the time being."""
        *items, last = inside(group)[0 if block is None else 1 :]
        if block is not None or items or stands > last.start:
            self._open = block = block or Block()
            source = self._add_items(block, group, items, lines, last.start)
            block.lead = lead_of(group, lines)
            tail = ""
            if stands > last.start:
                part = self._first(block.lead + lines.between(last.start, stands))
                if (block.body and block.after_blank) or not is_tight(part):
                    self._loosen(block)
                tail = self._items_html(block, part, inside(part)[1:])
            self._set(block, block.opens + block.body + tail + block.closes, wants=source)
        self._go_on(lines, last.start, stands)

    def _add_items(self, block: Block, group: Group, items: list[Group], lines: Lines, end: int) -> str:
        """Items that stand, up to line `end`. Returns their text."""
        start = max(group.start, lines.first)
        source = lines.between(start, end)
        if not block.opens:
            ends = self._draw([group.first, group.tokens[-1]])
            at = ends.index("</")
            block.opens, block.closes = f"{ends[:at]}\n", ends[at:]
        if items:
            if block.tight and not self._stays_tight(block, group, lines, source, end):
                self._loosen(block)
            block.body += self._items_html(block, group, items)
            block.source += source
            block.after_blank = lines.is_blank(end - 1)
        return source

    def _stays_tight(self, block: Block, group: Group, lines: Lines, source: str, end: int) -> bool:
        if block.body and block.after_blank:
            return False
        if is_tight(group) or end == group.end:
            return is_tight(group)
        # It may be the last item that loosens the list, and that one is not drawn yet.
        return is_tight(self._first(lead_of(group, lines) + source))

    def _items_html(self, block: Block, group: Group, items: list[Group]) -> str:
        tokens = [group.first, *(token for item in items for token in item.tokens), group.tokens[-1]]
        for token in direct_paragraphs(tokens):
            token.hidden = block.tight
        html = self._draw(tokens)
        return html[html.index(">") + 2 : html.rindex("</")]

    def _loosen(self, block: Block) -> None:
        """A blank line between two items makes paragraphs of them all."""
        if block.tight:
            block.tight = False
            self._redraw(block)

    def _learn(self, found: dict[str, Any], stands: int) -> None:
        """Blocks that waited for these are drawn again."""
        for at in self._targets.learn(found, stands):
            block = self._blocks[at]
            block.redrawn += 1
            if block.redrawn <= REDRAWN and self._affords(len(block.source)):
                self._redraw(block)
                self._changed.add(at)

    def _redraw(self, block: Block) -> None:
        if not block.source:
            return
        group = self._first(block.source)
        if group.kind in LISTS:
            block.body = self._items_html(block, group, inside(group))
            block.html = block.opens + block.body + block.closes
            return
        block.html = self._draw(group.tokens)
        if block.opens:
            block.opens, block.body = table_parts(block.html)

    def _set(self, block: Block, html: str, wants: str = "") -> None:
        """`wants`: text that was added for good, in which links may still be without their targets."""
        if not self._blocks or self._blocks[-1] is not block:
            self._blocks.append(block)
        block.html = html
        at = len(self._blocks) - 1
        self._changed.add(at)
        self._targets.want(wants, at)
