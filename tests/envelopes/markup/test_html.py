"""HTML from pieces is what Django makes of them."""

from __future__ import annotations

from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy
from hypothesis import given
from hypothesis import strategies as st

from envelopes.markup.html import html
from envelopes.registries.statuses import TurnStatus


class Picture:
    def __html__(self) -> str:
        return "<img>"


VALUES = st.one_of(
    st.text(),
    st.sampled_from(["<b>", "&amp;", "\"'", "{}"]),
    st.builds(SafeString, st.sampled_from(["<b>&</b>", "{}"])),
    st.integers(),
    st.none(),
    st.sampled_from([gettext_lazy("Yes & no"), Picture(), TurnStatus.RUNNING]),
)


@given(st.lists(VALUES, min_size=1, max_size=4))
def test_pieces_that_are_no_markup_are_escaped_as_django_does(values: list[Any]) -> None:
    markup = "<p>" + "{}|" * len(values) + "</p>"
    made = html(markup, *values)
    assert made == format_html(markup, *values)
    assert type(made) is SafeString
