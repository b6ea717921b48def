# ruff: noqa: DTZ001 - naive dates are a subject of these tests
from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from babel import dates
from hypothesis import given, settings
from hypothesis import strategies as st

from a2ui.functions.basic import BASIC
from a2ui.functions.dates import iso_text, parse_date
from a2ui.functions.locales import find_locale
from a2ui.functions.registry import Env

MOMENT = "2026-01-16T14:05:09.123Z"


def call(value, pattern=None, locale="en-US", zone=UTC):
    return BASIC.get("formatDate").evaluate(
        {"value": value, "format": pattern}, Env(locale=locale, timezone=zone)
    )


class TestParse:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ("2026-09-04", datetime(2026, 9, 4)),
            (" 2026-09-04 ", datetime(2026, 9, 4)),
            ("2026-09-04T12:30", datetime(2026, 9, 4, 12, 30)),
            ("2026-09-04 12:30:05", datetime(2026, 9, 4, 12, 30, 5)),
            ("2026-09-04T12:30:05.5Z", datetime(2026, 9, 4, 12, 30, 5, 500_000, UTC)),
            ("2026-09-04T12:30:05,123456789Z", datetime(2026, 9, 4, 12, 30, 5, 123_456, UTC)),
            ("2026-09-04t12:30z", datetime(2026, 9, 4, 12, 30, tzinfo=UTC)),
            (
                "2026-09-04T12:30-0530",
                datetime(2026, 9, 4, 12, 30, tzinfo=timezone(-timedelta(hours=5, minutes=30))),
            ),
            ("2026-09-04T12:30+02", datetime(2026, 9, 4, 12, 30, tzinfo=timezone(timedelta(hours=2)))),
            (0, datetime(1970, 1, 1, tzinfo=UTC)),
            (1.5, datetime(1970, 1, 1, 0, 0, 0, 1500, UTC)),
        ],
    )
    def test_reads(self, value, expected):
        found = parse_date(value)

        assert found == expected
        assert (found.tzinfo is None) == (expected.tzinfo is None)

    @pytest.mark.parametrize(
        "value",
        [
            "",
            "soon",
            "2026-02-30",
            "2026-13-01",
            "2026-1-1",
            "2026-01-01T24:00",
            "2026-01-01T10:60",
            "2016-12-31T23:59:60Z",
            "+012026-01-01T00:00:00Z",
            "0000-01-01",
            "2026-01-01T10:00+99:00",
            "2026-01-01\n2",
            "\u0662\u0660\u0662\u0666-01-01",
            "x" * 99,
            "1768573800000",
            "14:30",
            True,
            None,
            [],
            {},
            1e300,
            -1e300,
            float("nan"),
            10**400,
            -(10**16),
        ],
    )
    def test_refuses(self, value):
        assert parse_date(value) is None
        assert call(value, "yyyy") == ""


class TestFormat:
    @pytest.mark.parametrize(
        ("pattern", "text"),
        [
            ("yyyy-MM-dd", "2026-01-16"),
            ("yy", "26"),
            ("y", "2026"),
            ("M/d/yyyy", "1/16/2026"),
            ("MMM d", "Jan 16"),
            ("MMMM", "January"),
            ("MMMMM", "J"),
            ("E", "Fri"),
            ("EEE", "Fri"),
            ("EEEE", "Friday"),
            ("EEEEE", "F"),
            ("h:mm a", "2:05 PM"),
            ("hh", "02"),
            ("HH:mm:ss", "14:05:09"),
            ("H", "14"),
            ("m", "5"),
            ("s", "9"),
            ("S", "1"),
            ("SSS", "123"),
            ("K", "2"),
            ("k", "14"),
            ("MMM d 'at' h a", "Jan 16 at 2 PM"),
            ("''yy''", "'26'"),
            ("'it''s' d", "it's 16"),
            ("'open", "open"),
            ("YYYY-MM-DD", "2026-01-16"),
            ("Q QQQ QQQQ", "1 Q1 1st quarter"),
            ("LLLL", "January"),
            ("cccc", "Friday"),
            ("D", "16"),
            ("Z", "+0000"),
            ("XXX", "Z"),
            ("xxx", "+00:00"),
            ("ZZZZ", "GMT"),
            ("z", "UTC"),
            ("w", "3"),
            ("G", "AD"),
            ("b", "b"),
            ("yyyy年M月d日", "2026年1月16日"),
            ("ddd", "ddd"),
            ("[d]", "[16]"),
            ("e", "6"),
        ],
    )
    def test_english(self, pattern, text):
        assert call(MOMENT, pattern) == text

    @pytest.mark.parametrize(
        ("locale", "pattern", "text"),
        [
            ("de-DE", "EEEE, d. MMMM", "Freitag, 16. Januar"),
            ("pl-PL", "d MMMM", "16 stycznia"),
            ("pl-PL", "LLLL", "stycze\u0144"),
            ("fr-FR", "EEE d MMM", "ven. 16 janv."),
            ("ja-JP", "a", "午後"),
            ("xx", "MMMM", "January"),
        ],
    )
    def test_other_languages(self, locale, pattern, text):
        assert call(MOMENT, pattern, locale) == text

    def test_instants_move_to_the_zone_and_wall_clock_times_do_not(self):
        tokyo = ZoneInfo("Asia/Tokyo")

        assert call("2026-01-16T20:00Z", "dd HH:mm Z", zone=tokyo) == "17 05:00 +0900"
        assert call("2026-01-16T20:00", "dd HH:mm Z", zone=tokyo) == "16 20:00 "
        assert call("2026-01-16", "dd HH:mm", zone=tokyo) == "16 00:00"
        assert (
            call("2026-01-16T20:00Z", "xxx x ZZZZ", zone=ZoneInfo("America/St_Johns"))
            == "-03:30 -0330 GMT-03:30"
        )

    @pytest.mark.parametrize("pattern", [None, "", "ISO"])
    def test_iso(self, pattern):
        assert call("2026-08-26T14:00:00+02:00", pattern) == "2026-08-26T12:00:00.000Z"
        assert call("2026-08-26", pattern) == "2026-08-26T00:00:00.000Z"

    def test_iso_of_an_early_year_has_four_digits(self):
        assert iso_text(datetime(33, 4, 3, tzinfo=UTC)) == "0033-04-03T00:00:00.000Z"

    def test_the_edges_of_time_are_empty_in_other_zones(self):
        assert call("9999-12-31T23:59Z", "yyyy", zone=ZoneInfo("Asia/Tokyo")) == ""
        assert call("0001-01-01T00:00+05:00", "ISO") == ""

    def test_a_huge_pattern_is_cut(self):
        assert len(call(MOMENT, "d" * 1_000_000)) <= 256

    @settings(deadline=None)
    @given(
        st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC)),
        st.sampled_from(["en-US", "de-DE", "pl-PL", "ja-JP", "ar-EG", "fr-FR", "hi-IN", "sv-SE"]),
        st.sampled_from(
            [
                "yyyy-MM-dd",
                "EEEE d MMMM y",
                "EEE, MMM d",
                "h:mm a",
                "HH:mm:ss",
                "LLLL cccc",
                "QQQQ",
                "MMMMM EEEEE",
                "K k S",
                "XXX Z",
            ]
        ),
    )
    def test_agrees_with_babel(self, moment, locale, pattern):
        expected = dates.parse_pattern(pattern).apply(moment, find_locale(locale))

        assert call(moment.isoformat(), pattern, locale) == expected

    @given(st.text(max_size=30))
    def test_any_pattern_gives_text(self, pattern):
        assert isinstance(call(MOMENT, pattern), str)
