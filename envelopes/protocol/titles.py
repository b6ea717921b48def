"""The name of a conversation: what its list, its page and the page's head call it."""

from __future__ import annotations

from a2ui.safety.text import clean_text
from envelopes.protocol.text import shorten

TITLE_CHARACTERS = 80


def title_of(words: str) -> str:
    """The title that a person's first message gives: one line, cut between words, without characters that cannot be
    seen or turn the direction of what follows."""
    return shorten(clean_text(words), TITLE_CHARACTERS)
