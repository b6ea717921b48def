from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2ui.safety.colours import (
    BLACK,
    READABLE,
    WHITE,
    Colour,
    contrast,
    parse_hex,
    readable_on,
)
from tests.shared import SHARED, case, needs_shared, xss_payloads

COLOURS = st.builds(Colour, *[st.integers(0, 255)] * 3)
BAD = case("sanitising/san-theme-values-cannot-leave-their-slot.yaml")["input"]["values"] if SHARED else []


class TestParseHex:
    def test_reads_six_digits(self):
        assert parse_hex("#00BFff") == Colour(0, 0xBF, 0xFF)
        assert str(parse_hex("#00BFff")) == "#00bfff"

    @pytest.mark.parametrize(
        "value", ["#fff", "#00bfff\n", " #00bfff", "#00bfff ", "#\uff10\uff10BFFF", "red", "", None, 255]
    )
    def test_refuses(self, value):
        assert parse_hex(value) is None

    @needs_shared
    @pytest.mark.parametrize("value", BAD, ids=repr)
    def test_refuses_the_case_values(self, value):
        assert parse_hex(value) is None

    @needs_shared
    @pytest.mark.parametrize("entry", xss_payloads("theme"))
    def test_refuses_payloads(self, entry):
        assert parse_hex(entry["payload"]) is None

    @given(COLOURS)
    def test_is_the_inverse_of_str(self, colour):
        assert parse_hex(str(colour)) == colour


class TestContrast:
    def test_known_values(self):
        assert contrast(BLACK, WHITE) == pytest.approx(21)
        assert contrast(Colour(0x76, 0x76, 0x76), WHITE) == pytest.approx(4.54, abs=0.01)

    @given(COLOURS)
    def test_text_on_the_colour_is_readable(self, colour):
        assert contrast(readable_on(colour), colour) >= READABLE
