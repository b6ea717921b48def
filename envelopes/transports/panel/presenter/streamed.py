"""An answer that is being written, as the page draws it: its blocks, each as it will stand in the part (D65)."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import Any, TypeAlias

from django.utils import translation

from a2ui.safety.streamed_markdown import StreamedMarkdown
from envelopes.transports.panel.presenter.overlong import piece_of, pieces
from envelopes.transports.panel.presenter.prose import within_turn

Stroke: TypeAlias = list[Any]
"""``[at, depth, html]``. ``depth`` 0: block number ``at`` is this, be it new or not. Else ``html`` is added to what is
open in it, at its end: to the block itself (1), to the last element in that (2), and so on."""

_CLOSE = re.compile(r"</[a-z0-9]+>\n?")
_CLOSES = re.compile(r"(?:</[a-z0-9]+>\n?)+\Z")
_TAG = re.compile(r"<(/?)([a-z0-9]+)[^>]*>")
_VOID = frozenset({"br", "hr"})


class StreamedProse:
    """One bubble."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._markdown = StreamedMarkdown()
        self._blocks: list[str] = []
        # The headings that each block stands under; one more than there are blocks.
        self._levels: list[list[int]] = [[]]
        self._text = ""
        # The text behind the blocks, once it is too long for Markdown.
        self._behind: str | None = None

    @property
    def length(self) -> int:
        """How many code points have come."""
        return self._markdown.length

    @property
    def closed(self) -> int:
        """Up to where the blocks stand."""
        return self._markdown.closed if self._behind is None else self.length - len(self._behind)

    @property
    def tail(self) -> str:
        """The text behind that."""
        return self._markdown.tail if self._behind is None else self._behind

    def goes_with(self, text: str) -> bool:
        """Whether the one is how the other begins."""
        return self._text.startswith(text) or text.startswith(self._text)

    def whole(self) -> list[Stroke]:
        """For a page that has nothing of it yet."""
        return [[0, 0, "".join(self._blocks)]] if self._blocks else []

    def take(self, text: str) -> int:
        """Take in more of the text, for ``draw``. Returns how many characters that will read, mostly none: it takes
        milliseconds for a thousand."""
        if self._behind is not None:
            self._markdown.take(text)
            self._behind += text
            return 1 if piece_of(self._behind, self.closed) else 0
        # Not kept from then on: a long answer would be copied for each piece of it.
        self._text += text
        due = self._markdown.take(text)
        self._settle()
        return due

    def draw(self) -> list[Stroke]:
        """What changes about the blocks with what was taken in; where they are gone, ``closed`` is 0."""
        if self._behind is not None:
            at, stood = len(self._blocks), self.closed
            made, self._behind = pieces(self._behind, stood)
            self._blocks += made
            return [[at + number, 0, piece] for number, piece in enumerate(made)]
        strokes = [stroke for at, html in self._markdown.draw() for stroke in self._redrawn(at, html)]
        self._settle()
        return strokes

    def _settle(self) -> None:
        """It may have become too long for Markdown, by its length, or by what was drawn of it."""
        if self._markdown.plain:
            self._behind = self._text[self._markdown.closed :]
            if not self._markdown.closed:
                self._blocks.clear()

    def _redrawn(self, at: int, html: str) -> list[Stroke]:
        levels = list(self._levels[at])
        # Tables alone have a word of ours.
        with translation.override(self._language) if "<table>" in html else nullcontext():
            made = str(within_turn(html, levels))
        if at == len(self._blocks):
            self._blocks.append(made)
            self._levels.append(levels)
            return [[at, 0, made]]
        before, self._blocks[at] = self._blocks[at], made
        self._levels[at + 1] = levels
        return [] if made == before else strokes_between(at, before, made)


def strokes_between(at: int, before: str, after: str) -> list[Stroke]:
    """What makes of block ``at`` what it is now: what was added at its end and that of its last elements, inside first,
    where that is all."""
    closed = _CLOSES.search(before)
    begins = before if closed is None else before[: closed.start()]
    strokes: list[Stroke] = []
    if after.startswith(begins) and closed is not None:
        here = len(begins)
        ends = _CLOSE.findall(closed[0])
        for depth, end in zip(range(len(ends), 0, -1), ends, strict=True):
            until = _end_of_element(after, here)
            if not after.startswith(end, until):
                break
            if until > here:
                strokes.append([at, depth, after[here:until]])
            here = until + len(end)
        else:
            if here == len(after):
                return strokes
    return [[at, 0, after.removesuffix("\n")]]


def _end_of_element(html: str, start: int) -> int:
    """Where the element ends whose content goes on at ``start``."""
    depth = 0
    for tag in _TAG.finditer(html, start):
        if tag[2] not in _VOID:
            depth += -1 if tag[1] else 1
        if depth < 0:
            return tag.start()
    return len(html)


def live_id(key: str) -> str:
    """The DOM id of the bubble that streams under ``key``; empty for a key that cannot be part of an id."""
    return f"v{key}" if key and all(c.isascii() and (c.isalnum() or c in "-_") for c in key) else ""
