"""What somebody looks for: plain words, all of which have to be there. Nothing that is typed is syntax."""

from __future__ import annotations

import re
from dataclasses import dataclass

from envelopes.protocol.text import clean_text
from envelopes.search.folding import asked_tokens, fold

CHARACTERS, WORDS = 200, 8
"""So much is looked for, as characters and as words. What is beyond is said (R6)."""

_ID = re.compile(r"[0-9a-z]{26}")


@dataclass(frozen=True)
class Query:
    """``text`` as it is shown again; ``tokens`` each with whether it may be the beginning of one; ``words``, folded,
    are marked where they are found. ``public_id``, where it may be one. ``cut``: there was more (R6)."""

    text: str
    tokens: tuple[tuple[str, bool], ...]
    words: tuple[str, ...]
    public_id: str = ""
    cut: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is no word in it."""
        return not self.tokens


def read_query(typed: str) -> Query:
    """Any text at all."""
    text = " ".join(clean_text(typed).split())
    kept = text[:CHARACTERS]
    asked = tuple(asked_tokens(kept))
    cut = len(text) > CHARACTERS or len(asked) > WORDS
    if len(asked) > WORDS:
        asked = (*asked[: WORDS - 1], (asked[WORDS - 1][0], True))
    words = tuple(dict.fromkeys(token for token, _ in asked))
    public_id = kept.lower() if _ID.fullmatch(fold(kept)) else ""
    return Query(text, asked, words, public_id, cut)
