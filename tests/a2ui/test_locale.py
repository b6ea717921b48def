"""Locale and time zone of the session in every function, and text that runs from right to left."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from babel import Locale, dates, numbers

from a2ui import Engine, EngineOptions
from a2ui.functions.basic import BASIC
from a2ui.functions.registry import Env
from tests.a2ui.page import parse
from tests.a2ui.programs import call, components, create, data, path, row, run, surface
from tests.shared import ROOT

LOCALES = [
    "en-US",
    "en-GB",
    "de-DE",
    "pl-PL",
    "fr-FR",
    "ja-JP",
    "ar-EG",
    "he-IL",
    "fa-IR",
    "hi-IN",
    "sv-SE",
    "cy-GB",
]
ZONES = ["UTC", "Europe/Warsaw", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "Asia/Tokyo"]
MOMENT = "2026-03-29T23:30:00Z"
CATEGORIES = ("zero", "one", "two", "few", "many", "other")


def evaluated(value, locale="en-US", zone="UTC"):
    """What the engine makes of a dynamic value in a session with this locale and zone."""
    surfaces = run(create(), locale=locale, timezone=ZoneInfo(zone))
    return surfaces.get("", "s").evaluate(value, {})


def babel(tag):
    return Locale.parse(tag, sep="-")


class TestLocale:
    @pytest.mark.parametrize("tag", LOCALES)
    def test_numbers(self, tag):
        found = evaluated(call("formatNumber", value=1234567.5, decimals=1), tag)

        assert found == numbers.format_decimal(1234567.5, locale=babel(tag), decimal_quantization=False)

    @pytest.mark.parametrize("tag", LOCALES)
    @pytest.mark.parametrize("currency", ["EUR", "JPY", "KWD"])
    def test_money(self, tag, currency):
        found = evaluated(call("formatCurrency", value=1234.5, currency=currency), tag)

        digits = numbers.get_currency_precision(currency)
        assert "".join(re.findall(r"[0-9]", found)).startswith("1234" if digits else "1235")
        assert numbers.get_currency_symbol(currency, babel(tag)) in found

    @pytest.mark.parametrize("tag", LOCALES)
    @pytest.mark.parametrize("zone", ZONES)
    def test_dates(self, tag, zone):
        pattern = "EEEE, d MMMM yyyy HH:mm"
        found = evaluated(call("formatDate", value=MOMENT, format=pattern), tag, zone)

        moment = datetime(2026, 3, 29, 23, 30, tzinfo=UTC).astimezone(ZoneInfo(zone))
        assert found == dates.parse_pattern(pattern).apply(moment, babel(tag))

    @pytest.mark.parametrize("tag", LOCALES)
    @pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 6, 11, 21, 100, 1.5])
    def test_plurals(self, tag, count):
        texts = {name: name for name in CATEGORIES if name not in ("zero", "one", "two")}
        found = evaluated(call("pluralize", value=count, **texts), tag)

        category = babel(tag).plural_form(count)
        assert found == (category if category in texts else "other")

    def test_inside_of_texts(self):
        text = call(
            "formatString",
            value="${formatNumber(value: /n)} / ${formatDate(value: '2026-01-05', format: 'MMMM')}",
        )
        _, only = surface(row("root", "Text", text=text), model={"n": 1234.5}, locale="de-DE")

        assert "1.234,5 / Januar" in only.html()

    def test_sessions_do_not_mix(self):
        """Formatters are cached by everything that they depend on."""
        number, date = (
            call("formatNumber", value=1234.5),
            call("formatDate", value=MOMENT, format="MMM HH:mm"),
        )
        sessions = [(tag, zone) for tag in LOCALES for zone in ZONES]

        first = [[evaluated(number, *one), evaluated(date, *one)] for one in sessions]
        again = [[evaluated(number, *one), evaluated(date, *one)] for one in reversed(sessions)][::-1]

        assert first == again
        assert len({shown for _, shown in first}) > len(LOCALES)

    @pytest.mark.parametrize(
        "tag", ["", "xx", "tlh-Qaak", "en_US", "EN-us", "de-DE-1996", "x" * 1000, "../../etc"]
    )
    def test_tags_that_are_odd_or_unknown(self, tag):
        assert evaluated(call("formatNumber", value=1.5), tag) in ("1.5", "1,5")

    def test_what_judges_and_decides_is_the_same_everywhere(self):
        """A check must not pass in one language and fail in another."""
        args = {
            "required": {"value": "x"},
            "regex": {"value": "1,5", "pattern": "^[0-9]"},
            "length": {"value": "abc", "min": 3},
            "numeric": {"value": "1.5", "min": 1},
            "email": {"value": "a@b.example"},
            "and": {"values": [True, 1]},
            "or": {"values": [0, 1]},
            "not": {"value": 0},
        }
        for name, given in args.items():
            function = BASIC.get(name)
            assert {function.evaluate(given, Env(locale=tag)) for tag in LOCALES} == {True}, name

    def test_every_function_is_in_one_of_these_tests(self):
        written = {"formatNumber", "formatCurrency", "formatDate", "pluralize", "formatString"}
        judged = {"required", "regex", "length", "numeric", "email", "and", "or", "not"}

        assert {function.name for function in BASIC} == written | judged | {"openUrl"}


class TestTimeZone:
    def test_days_and_wall_clock_times_stay_as_written(self):
        for zone in ZONES:
            assert (
                evaluated(call("formatDate", value="2026-03-29", format="d.M. HH:mm"), zone=zone)
                == "29.3. 00:00"
            )
            assert (
                evaluated(call("formatDate", value="2026-03-29T02:30", format="HH:mm"), zone=zone) == "02:30"
            )

    def test_the_hour_that_summer_time_skips_or_repeats(self):
        def shown(value):
            return evaluated(call("formatDate", value=value, format="HH:mm xxx"), zone="Europe/Warsaw")

        assert [shown("2026-03-29T00:59:00Z"), shown("2026-03-29T01:00:00Z")] == [
            "01:59 +01:00",
            "03:00 +02:00",
        ]
        assert [shown("2026-10-25T00:30:00Z"), shown("2026-10-25T01:30:00Z")] == [
            "02:30 +02:00",
            "02:30 +01:00",
        ]

    def test_a_field_shows_instants_in_the_zone_and_writes_them_with_an_offset(self):
        field = row("root", "DateTimeInput", label="L", value=path("/d"), enableDate=True, enableTime=True)
        surfaces, only = surface(field, model={"d": "2026-03-29T23:30:00Z"}, timezone=ZoneInfo("Asia/Tokyo"))
        assert 'value="2026-03-30T08:30"' in only.html()

        surfaces.apply_edit(surfaces.edit("a1-0", "2026-03-30T09:00"))
        assert only.data_model == {"d": "2026-03-30T09:00:00+09:00"}

    def test_two_sessions_of_one_process(self):
        shown = call("formatDate", value=MOMENT, format="d HH:mm")
        engines = [Engine(EngineOptions(timezone=ZoneInfo(zone))) for zone in ZONES]
        sets = [
            run(create(), components(row("root", "Text", text=shown)), engine=engine) for engine in engines
        ]

        texts = ["".join(parse(one.flush()[0].html)[0].itertext()) for one in sets]
        assert texts == ["29 23:30", "30 01:30", "29 19:30", "30 05:00", "30 12:30", "30 08:30"]


HEBREW = "שלום!"
RULE = re.compile(r"([^{}]+)\{[^{}]*unicode-bidi: plaintext[^{}]*\}")
ROWS = (
    row("root", "Column", children=["t", "h", "b", "f", "l", "c", "p", "q", "s", "d", "tabs", "a", "e"]),
    row("t", "Text", text=HEBREW),
    row("h", "Text", text=HEBREW, variant="h2"),
    row("b", "Button", child="t", action={"event": {"name": "x"}}),
    row("f", "TextField", label=HEBREW, value=path("/v")),
    row("l", "TextField", label=HEBREW, value=path("/v"), variant="longText"),
    row("c", "CheckBox", label=HEBREW, value=True),
    row("p", "ChoicePicker", label=HEBREW, options=[{"label": HEBREW, "value": "x"}], value=["x"]),
    row("q", "ChoicePicker", options=[{"label": HEBREW, "value": "x"}], value=[], displayStyle="chips"),
    row("s", "Slider", label=HEBREW, value=1, max=3),
    row("d", "DateTimeInput", label=HEBREW, value=""),
    row("tabs", "Tabs", tabs=[{"title": HEBREW, "child": "t"}]),
    row("a", "AudioPlayer", url="/a.mp3", description=HEBREW),
    row("e", "TextField", label="L", value="", checks=[{"condition": False, "message": HEBREW}]),
)


def keeps_direction() -> set[str]:
    """`.class` and `.class > tag` of everything whose text has a direction of its own, from the stylesheet."""
    css = (ROOT / "static" / "styles" / "a2ui.css").read_text(encoding="utf-8")
    found: set[str] = set()
    for selectors in RULE.findall(css):
        found |= {one.strip() for one in re.findall(r"\.a2-[a-zA-Z0-9-]+(?: > [a-z]+)?", selectors)}
    return found


class TestRightToLeft:
    def test_every_text_of_an_agent_has_its_own_direction(self):
        """The mark at the end of a sentence stands on its right side only where the element isolates its text."""
        _, only = surface(*ROWS, model={"v": HEBREW})
        known, seen = keeps_direction(), 0

        def walk(element, parent, safe):
            nonlocal seen
            names = {f".{name}" for name in element.get("class", "").split()}
            above = {
                f".{name} > {element.tag}"
                for name in (parent.get("class", "").split() if parent is not None else ())
            }
            safe = safe or bool((names | above) & known) or element.get("dir") == "auto"
            own = (element.text or "") + "".join(child.tail or "" for child in element)
            if HEBREW in own or element.get("value") == HEBREW:
                seen += 1
                assert safe, (element.tag, element.attrib)
            for child in element:
                walk(child, element, safe)

        walk(parse(only.html())[0], None, False)
        assert seen >= len(ROWS)

    def test_fields_follow_what_is_typed(self):
        _, only = surface(row("root", "TextField", label="L", value=path("/v")), model={"v": HEBREW})

        (field,) = parse(only.html())[0].iter("input")
        assert field.get("dir") == "auto"

    def test_marks_that_turn_text_around_are_gone(self):
        """An agent cannot make `photo_exe.png` of `photo_gnp.exe` (right-to-left override)."""
        trick = "photo_\u202egnp.exe"
        surfaces, only = surface(
            row("root", "Text", text=path("/n")), row("f", "TextField", label=trick), model={"n": trick}
        )

        assert "\u202e" not in only.html()
        surfaces.apply(data(trick + "!", "/n"))
        assert "\u202e" not in str(surfaces.flush())

    def test_no_style_of_a_component_names_a_side(self):
        css = (ROOT / "static" / "styles" / "a2ui.css").read_text(encoding="utf-8")

        assert not re.findall(
            r"(?:margin|padding|border|inset)-(?:left|right)|text-align: (?:left|right)|float: ", css
        )
        assert not re.findall(r"[;{\s](?:left|right):", css)


@pytest.mark.parametrize(
    ("locale", "said"), [("ar-EG", True), ("he", True), ("fa-IR", True), ("en-US", False), ("de", False)]
)
def test_a_surface_runs_in_the_direction_of_its_locale(locale, said):
    surfaces = run(create(), components(row("root", "Text", text="x")), locale=locale)
    assert (' dir="rtl"' in surfaces.flush()[0].html.split(">", 1)[0]) is said
