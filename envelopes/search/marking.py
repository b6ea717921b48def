"""Where the words that were looked for stand, as lines with marks: escaped, and hidden
characters by their names, whatever people or agents wrote."""

from __future__ import annotations

from collections.abc import Sequence

from envelopes.markup.html import SafeString, html, join, reveal
from envelopes.protocol.text import shorten
from envelopes.search.folding import fold

BEFORE, AROUND = 40, 140
"""Characters of a line before what was found in it, and in all."""


def best_line(said: str, words: Sequence[str]) -> str:
    """The line of ``said`` that has the most of ``words``, the latest of those; "" where none has any. ``words`` are
    folded."""
    best, most = "", 0
    folded_words = set(words)
    for line in reversed(said.split("\n")):
        folded = fold(line)
        count = sum(word in folded for word in folded_words)
        if count > most:
            best, most = line, count
            if most == len(folded_words):
                break
    return best


def marked(line: str, words: Sequence[str], *, around: int = AROUND) -> SafeString:
    """Some of ``line`` around the first of ``words``, with all of them marked. ``words`` are folded."""
    line = " ".join(line.split())
    first = next(iter(_found(line, words)), None)
    start = max(0, (first[0] if first else 0) - BEFORE)
    if start:
        start = line.find(" ", start, first[0] if first else None) + 1 or start
    line = ("… " if start else "") + shorten(line[start:], around)
    pieces: list[SafeString] = []
    at = 0
    for begin, end in _found(line, words):
        pieces += [_shown(line[at:begin]), html("<mark>{}</mark>", _shown(line[begin:end]))]
        at = end
    return join([*pieces, _shown(line[at:])])


def _shown(piece: str) -> SafeString:
    return reveal(piece, blanks=False)


def _found(line: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Where ``words`` begin and end, in order, none over another."""
    folded, places = _folded(line)
    hits = sorted((at, at + len(word)) for word in set(words) for at in _all(folded, word))
    found: list[tuple[int, int]] = []
    for first, after in hits:
        # Of a letter that folds to several all is marked.
        begin, end = places[first], places[after - 1] + 1
        if not found or begin >= found[-1][1]:
            found.append((begin, end))
        elif end > found[-1][1]:
            found[-1] = (found[-1][0], end)
    return found


def _all(folded: str, word: str) -> list[int]:
    """Where ``word`` begins a word of ``folded``."""
    found: list[int] = []
    at = folded.find(word)
    while at >= 0:
        if at == 0 or not folded[at - 1].isalnum() or not word.isascii():
            found.append(at)
        at = folded.find(word, at + 1)
    return found


def _folded(line: str) -> tuple[str, Sequence[int]]:
    """``line`` folded, and of each character of that where it stood."""
    if line.isascii():
        return line.lower(), range(len(line))
    pieces = [fold(letter) for letter in line]
    places = [at for at, piece in enumerate(pieces) for _ in piece]
    return "".join(pieces), places
