"""The registry, and the shared tables that run through all families."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from a2ui.data.pointer import ABSENT, parse_scoped, read
from a2ui.errors import DefinitionError, ExpressionError
from a2ui.functions.basic import BASIC, MINIMAL
from a2ui.functions.expressions import evaluate, parse_template
from a2ui.functions.registry import Env, Function, FunctionRegistry
from a2ui.safety.text import to_text
from tests.shared import SHARED, case, needs_shared


def call(name, args, env=None):
    function = BASIC.get(name)
    assert function is not None
    return function.evaluate(args, env or Env())


class Resolver:
    """A few lines that do what the binding layer does, enough for the tables."""

    def __init__(self, model, env):
        self.model = model
        self.env = env

    def value(self, raw):
        if isinstance(raw, dict) and "path" in raw:
            found = read(self.model, parse_scoped(raw["path"])[0])
            return None if found is ABSENT else found
        if isinstance(raw, dict) and "call" in raw:
            return self.call(
                raw["call"], {name: self.value(arg) for name, arg in raw.get("args", {}).items()}
            )
        return raw

    def call(self, name, args):
        if name == "formatString":
            return evaluate(
                parse_template(to_text(args.get("value"))),
                lambda path: read(self.model, path.tokens),
                self.call,
            )
        return call(name, args, self.env)

    def text(self, raw):
        return to_text(self.value(raw))


# Rulebook 9.4 follows the conformance suite (explicit zero, one, two first); the case follows CLDR alone.
RULEBOOK_WINS = {
    ("en-US", "0"): "Z",
    ("en-US", "2"): "2",
    ("fr-FR", "0"): "Z",
    ("fr-FR", "2"): "2",
    ("pl-PL", "2"): "2",
    ("ja-JP", "0"): "Z",
    ("ja-JP", "1"): "1",
    ("ja-JP", "2"): "2",
    ("ru-RU", "2"): "2",
}


def rows():
    """Every row of the function tables as (locale, zone, model, call, expected)."""
    if SHARED is None:
        return []
    found = []
    for name in (
        "fn-date-only-and-bad-dates",
        "fn-formatstring-escapes-quotes-braces",
        "fn-number-and-currency-formats",
        "fn-plural-categories-by-locale",
        "fn-string-conversion-is-json-not-python",
    ):
        loaded = case(f"functions/{name}.yaml")
        given, expected = loaded["input"], loaded["expected"]
        locale, zone, model = (
            given.get("locale", "en-US"),
            given.get("timezone", "UTC"),
            given.get("model", {}),
        )

        def add(key, raw, want, locale=locale, zone=zone, model=model, name=name):
            wants = want["any_of"] if isinstance(want, dict) else [want]
            found.append(pytest.param(locale, zone, model, raw, wants, id=f"{name}:{key}"))

        for key, raw in given.get("rows", {}).items():
            add(key, raw, expected["rows"][key])
        for number, (row_locale, raw) in enumerate(given.get("rows_with_locale", [])):
            add(str(number), raw, expected["results"][number], locale=row_locale)
        for row_zone, table in given.get("by_timezone", {}).items():
            for key, raw in table.items():
                add(key, raw, expected["by_timezone"][row_zone][key], zone=row_zone)
        for row_locale, table in given.get("rows_by_locale", {}).items():
            for key, raw in table.items():
                want = RULEBOOK_WINS.get((row_locale, key), expected["rows_by_locale"][row_locale][key])
                add(f"{row_locale}:{key}", raw, want, locale=row_locale)
        for key, row in given.get("extra_rows", {}).items():
            add(
                key,
                row["call"],
                expected["extra_rows"][key],
                locale=row["locale"],
                model=row.get("model", {}),
            )
    return found


@needs_shared
@pytest.mark.parametrize(("locale", "zone", "model", "raw", "wants"), rows())
def test_table(locale, zone, model, raw, wants):
    assert Resolver(model, Env(locale=locale, timezone=ZoneInfo(zone))).text(raw) in wants


class TestRegistry:
    def test_the_basic_catalog_has_its_fourteen_functions(self):
        assert {function.name for function in BASIC} == {
            "required",
            "regex",
            "length",
            "numeric",
            "email",
            "formatString",
            "formatNumber",
            "formatCurrency",
            "formatDate",
            "pluralize",
            "openUrl",
            "and",
            "or",
            "not",
        }
        assert len(BASIC) == 14
        assert [function.name for function in BASIC if function.effect] == ["openUrl"]
        assert BASIC.get("regex").literal_args == {"pattern"}

    def test_the_minimal_catalog_adds_capitalize(self):
        assert "capitalize" in MINIMAL
        assert "capitalize" not in BASIC
        assert MINIMAL.get("capitalize").evaluate({"value": "élan"}, Env()) == "Élan"
        assert MINIMAL.get("capitalize").evaluate({}, Env()) == ""

    def test_a_taken_name_is_refused_and_extend_replaces(self):
        first, second = (Function("f", lambda args, env, n=n: n) for n in (1, 2))
        registry = FunctionRegistry([first])

        with pytest.raises(ValueError, match="registered already"):
            registry.register(second)
        with pytest.raises(DefinitionError, match="`replacing` names those"):
            registry.extend(second)
        assert registry.extend(second, replacing={"f"}).get("f") is second
        assert registry.get("f") is first
        assert registry.get("g") is None

    def test_the_clock_is_aware(self):
        assert Env().now().tzinfo is not None

    def test_functions_take_missing_arguments(self):
        for function in BASIC:
            try:
                function.evaluate({}, Env())
            except ExpressionError as error:
                assert error.expression == function.name  # noqa: PT017 - both outcomes are right


class TestFormatStringWithoutScope:
    def test_pure_calls_run_and_effects_do_not(self):
        assert call("formatString", {"value": "${formatNumber(value: 1234)}${/a}"}) == "1,234"
        with pytest.raises(ExpressionError):
            call("formatString", {"value": "${openUrl(url: 'https://a.example')}"})
        with pytest.raises(ExpressionError):
            call("formatString", {"value": "${nope()}"})
