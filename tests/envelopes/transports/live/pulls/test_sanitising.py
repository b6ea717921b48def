from __future__ import annotations

import pytest

from envelopes.transports.live.pulls.sanitising import MAX_CHARACTERS, sanitised


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("plain words: 404", "plain words: 404"),
        ("sent Bearer abc.def-1, got 401", "sent Bearer [removed], got 401"),
        ("basic dXNlcjpwYXNz failed", "basic [removed] failed"),
        ("Authorization: Digest a=b, c\nnext", "Authorization: [removed]\nnext"),
        ("GET https://x.test/?q=1&api_key=abc&n=2#z", "GET https://x.test/?q=1&api_key=[removed]&n=2#z"),
        ("https://x.test/?access_token=a", "https://x.test/?access_token=[removed]"),
        ("postgres://me:word@host/db", "postgres://[removed]@host/db"),
        ("set $STRIPE_SECRET_KEY first", "set [removed] first"),
    ],
)
def test_what_may_be_secret_is_not_told(text: str, told: str) -> None:
    assert sanitised(text) == told


def test_it_is_cut_with_a_mark() -> None:
    assert sanitised("a" * MAX_CHARACTERS) == "a" * MAX_CHARACTERS
    told = sanitised("a" * 10**6)
    assert told == "a" * MAX_CHARACTERS + "… [cut]"
    # What is cut off cannot leave half of a secret: it was removed before.
    assert "abc" not in sanitised("x" * (MAX_CHARACTERS - 10) + " bearer abcabcabc")
