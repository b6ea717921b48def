"""An answer that is too long to be read as Markdown: what it begins with in blocks, the rest of it in pieces.

A browser lays out each piece by itself: however long the answer is, more of it touches the last piece only.
"""

from __future__ import annotations

from itertools import takewhile

from a2ui.safety.limits import DEFAULT_LIMITS
from a2ui.safety.markdown_blocks import Size
from a2ui.safety.streamed_markdown import StreamedMarkdown
from envelopes.markup.html import SafeString, html, text

PIECE = 2_000
"""Code points of a piece, mostly: at most half of them more, and less where that is the end of a line or a word."""


def beginning(source: str) -> tuple[str, int]:
    """Sanitised HTML of the blocks with which a text begins, as far as the limits of Markdown go, and the code point
    at which they end."""
    size, stream = Size(), StreamedMarkdown()
    lines = [f"{line}\n" for line in source[: DEFAULT_LIMITS.markdown_chars].split("\n")[:-1]]
    stream.feed("".join(takewhile(lambda line: size.allows(line, DEFAULT_LIMITS), lines)))
    return "".join(stream.blocks), stream.closed


def piece_of(rest: str, offset: int) -> int:
    """How many code points the piece has that ``rest`` begins with, at ``offset`` in its text; 0 while that is not
    known. It ends before a fixed place, so that whoever begins elsewhere comes to the same pieces."""
    most = PIECE // 2 + -(offset + PIECE // 2) % PIECE
    if len(rest) < most:
        return 0
    return rest.rfind("\n", 0, most) + 1 or rest.rfind(" ", 0, most) + 1 or most


def pieces(rest: str, offset: int) -> tuple[list[SafeString], str]:
    """The pieces that ``rest`` begins with, and what is behind them."""
    found = []
    while size := piece_of(rest, offset):
        found.append(drawn(rest[:size]))
        rest, offset = rest[size:], offset + size
    return found, rest


def drawn(piece: str) -> SafeString:
    """A piece as it stands on the page."""
    return html('<div class="b-plain">{}</div>', text(piece))
