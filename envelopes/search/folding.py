"""Texts as they are compared, and the tokens that they are found by: the same on every database, since none of them
reads a text itself."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

import regex  # type: ignore[import-untyped]  # has \p{...}, which re lacks; only fixed patterns here

TOKEN_CHARACTERS = 64
"""A longer token is cut to so many, in texts and in queries alike."""

JOINERS = "._@+-/:#"
"""What stands inside of ids, addresses and references: they are tokens whole, and so is each of their words."""

_WORD = r"[\p{L}\p{N}\p{M}]+"
_COMPOUND = regex.compile(rf"{_WORD}(?:[{regex.escape(JOINERS)}]+{_WORD})*")
_WORDS = regex.compile(_WORD)
# The same for texts that are ASCII and folded, as nearly all are.
_ASCII_COMPOUND = re.compile(rf"[a-z0-9]+(?:[{re.escape(JOINERS)}]+[a-z0-9]+)*")
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]+")
"""Scripts that put no blanks between words: looked up by pairs of characters."""

_LETTERS = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "æ": "ae",
        "œ": "oe",
        "\N{LATIN SMALL LETTER DOTLESS I}": "i",
    }
)
"""Letters that Unicode does not take apart, as people without them on their keyboard write them."""


def fold(text: str) -> str:
    """``text`` without case and accents (NFKD, Unicode's case folding)."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter)).translate(_LETTERS)


def tokens_of(texts: Iterable[str]) -> set[str]:
    """All that these texts are found by."""
    found: set[str] = set()
    for text in texts:
        # A line that is not ASCII must not take the others its way.
        for line in text.split("\n"):
            found.update(_compounds(fold(line)))
    compounds = [each for each in found if not (each.isascii() and each.isalnum())]
    found.difference_update(compounds)
    for compound in compounds:
        found.update(_tokens(compound))
    return {token[:TOKEN_CHARACTERS] for token in found}


def _compounds(folded: str) -> list[str]:
    pattern = _ASCII_COMPOUND if folded.isascii() else _COMPOUND
    found: list[str] = pattern.findall(folded)
    return found


def _tokens(compound: str) -> Iterator[str]:
    words = _WORDS.findall(compound)
    if len(words) > 1:
        yield compound[:TOKEN_CHARACTERS]
    for word in words:
        if word.isascii() or _UNSPACED.search(word) is None:
            yield word[:TOKEN_CHARACTERS]
            continue
        for run in _UNSPACED.findall(word):
            yield from _pairs(run)
            # So that it can be looked up alone: it begins no pair.
            yield run[-1]
        for rest in _UNSPACED.split(word):
            if rest:
                yield rest[:TOKEN_CHARACTERS]


def _pairs(run: str) -> Iterator[str]:
    return (run[at : at + 2] for at in range(len(run) - 1))


def asked_tokens(text: str) -> list[tuple[str, bool]]:
    """What a text has to have to be found by ``text``: tokens, and of each whether a longer one does too. That is so of
    the last one."""
    asked: list[tuple[str, bool]] = []
    for compound in _COMPOUND.findall(fold(text)):
        if compound.isascii() or _UNSPACED.search(compound) is None:
            asked.append((compound[:TOKEN_CHARACTERS], False))
            continue
        for word in _WORDS.findall(compound):
            for run in _UNSPACED.findall(word):
                asked += [(pair, False) for pair in _pairs(run)] or [(run, True)]
            asked += [(rest[:TOKEN_CHARACTERS], False) for rest in _UNSPACED.split(word) if rest]
    if asked:
        asked[-1] = (asked[-1][0], True)
    return asked
