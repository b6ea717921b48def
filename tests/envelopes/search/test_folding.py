"""Tokens of texts: the quick way for ASCII finds what the general one does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from envelopes.search import folding
from envelopes.search.folding import JOINERS, TOKEN_CHARACTERS, fold, tokens_of

_TEXTS = st.text(st.sampled_from(f"abzAZ019{JOINERS}!,; \n\t\r_éßİł漢字かなｶｶ\u0301\u2028"), max_size=60)


def _in_general(text: str) -> set[str]:
    return {
        token for compound in folding._COMPOUND.findall(fold(text)) for token in folding._tokens(compound)
    }


@given(_TEXTS)
def test_each_line_by_itself_has_the_tokens_of_the_whole(text: str) -> None:
    assert tokens_of([text]) == _in_general(text)


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_ascii_has_the_tokens_of_the_general_way(text: str) -> None:
    assert tokens_of([text]) == _in_general(text)


def test_long_words_are_cut_alone_and_joined() -> None:
    word = "w" * (TOKEN_CHARACTERS + 5)

    assert tokens_of([word]) == {word[:TOKEN_CHARACTERS]}
    assert tokens_of([f"a.{word}"]) == {"a", word[:TOKEN_CHARACTERS], f"a.{word}"[:TOKEN_CHARACTERS]}
