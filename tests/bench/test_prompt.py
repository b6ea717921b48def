"""How the bench of the prompt measures what requests have in common."""

from __future__ import annotations

from envelopes.providers.port import ModelRequest
from tests.bench.prompt import Sent, common, prefixes, sent


def test_the_longest_common_prefix_is_found() -> None:
    for one, other, shared in (
        (b"abcd", b"abxd", 2),
        (b"abc", b"abcdef", 3),
        (b"", b"a", 0),
        (b"x", b"y", 0),
    ):
        assert common(one, other) == common(other, one) == shared


def test_what_counts_is_how_much_of_a_request_the_next_one_begins_with() -> None:
    requests = [Sent("1", b"a" * 10), Sent("1", b"a" * 20), Sent("2", b"a" * 15 + b"b")]
    whole, within, across = prefixes(requests)

    assert (whole.value, whole.ok) == (round(25 / 30, 3), False)
    assert (within.value, across.value) == (1.0, 0.75)
    assert "3 requests" in whole.about and "0.750" in whole.about


def test_a_request_is_measured_in_the_order_in_which_prefixes_are_kept() -> None:
    body = sent(ModelRequest("SYSTEM", [{"role": "user"}], [{"name": "TOOL"}], turn_id="t")).body

    assert body.index(b"TOOL") < body.index(b"SYSTEM") < body.index(b"user")
