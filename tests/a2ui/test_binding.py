"""Stage two: dynamic values, scopes, functions, and errors that do not spread."""

from __future__ import annotations

import pytest

from a2ui import Engine, EngineOptions, Limits
from a2ui.catalog.basic import BASIC_CATALOG
from a2ui.catalog.basic.text import Text
from a2ui.functions.registry import Function
from a2ui.rendering.build import Build
from tests.a2ui.programs import call, components, create, data, ops, path, row, run, surface

MODEL = {"a": "A", "n": 5, "l": [1, "two"], "o": {"k": "v"}, "people": [{"name": "Ann", "tags": ["x"]}]}


def value(raw, scope=None, **options):
    """One dynamic value, with the first person as scope unless given."""
    surfaces = run(create(), data(MODEL), **options)
    only = surfaces.get("", "s")
    return only.evaluate(raw, MODEL["people"][0] if scope is None else scope)


class TestBindings:
    @pytest.mark.parametrize(
        ("raw", "found"),
        [
            (path("/a"), "A"),
            (path("/l/1"), "two"),
            (path("/l/01"), None),
            (path("/l/-"), None),
            (path("/a/b"), None),
            (path("name"), "Ann"),
            (path("tags/0"), "x"),
            (path("."), MODEL["people"][0]),
            (path(""), MODEL["people"][0]),
            (path("../n"), None),
            (path("/a~2"), None),
            ({"path": 5}, {"path": 5}),
            ({"path": "/a", "call": "nope"}, "A"),
            ({"x": path("/a")}, {"x": path("/a")}),
            ([path("/a"), 2, [path("/n")]], ["A", 2, [5]]),
            ([1, 2], [1, 2]),
            (None, None),
        ],
    )
    def test_values(self, raw, found):
        assert value(raw) == found


class TestFunctions:
    @pytest.mark.parametrize(
        ("raw", "found"),
        [
            (call("formatString", value="${name} of ${/a}"), "Ann of A"),
            (call("formatString", value="${/n}${/l}${/o}"), '5[1,"two"]{"k":"v"}'),
            (call("formatString", value="${/n} ${/n} ${/n} 100%"), "5 5 5 100%"),
            (call("formatString", value=path("/a")), "A"),
            (call("formatString"), ""),
            (call("formatString", value="${nope(a: 1)}|${/a}"), "|A"),
            (call("formatString", value="${/a"), None),
            (call("and", values=[True, call("not", value=False)]), True),
            (call("required", value=path("/nope")), False),
            ({"call": "required"}, False),
            ({"call": "required", "args": 5}, False),
            (call("nope"), None),
            (call("regex", value="a", pattern=path("/a")), None),
        ],
    )
    def test_values(self, raw, found):
        assert value(raw) == found

    def test_nesting_is_limited(self):
        raw = True
        for _ in range(30):
            raw = call("not", value=raw)

        surfaces = run(create())

        (problem,) = surfaces.apply(components(row("root", "Text", text=raw)))

        assert (problem.code, problem.facts["limit"], problem.refused) == (
            "budget_exceeded",
            "call_depth",
            False,
        )

    def test_locale_and_zone(self):
        from zoneinfo import ZoneInfo

        options = {"locale": "de-DE", "timezone": ZoneInfo("America/Los_Angeles")}
        raw = call(
            "formatString",
            value="${formatNumber(value: 1234.5)} ${formatDate(value: '2026-03-01T02:00:00Z', format: 'd.M.')}",
        )

        assert value(raw, **options) == "1.234,5 28.2."

    def test_a_template_from_the_data_is_followed(self):
        surfaces, only = surface(
            row("root", "Text", text=call("formatString", value=path("/t"))),
            model={"t": "${/a}", "a": 1, "b": 2},
        )
        assert ">1</div>" in only.html()

        surfaces.apply(data("${/b}", "/t"))
        assert ops(surfaces) == [["t", "a1-0", "2"]]
        surfaces.apply(data(3, "/b"))
        assert ops(surfaces) == [["t", "a1-0", "3"]]


class TestErrors:
    ROWS = (
        row("root", "Column", children=["a", "b"]),
        row("a", "Text", text=call("nope", x=path("/n"))),
        row("b", "Text", text="fine"),
    )

    def test_they_do_not_spread(self):
        surfaces, only = surface(*self.ROWS)

        assert ">fine</div>" in only.html()
        (problem,) = surfaces.diagnostics()
        assert problem.as_message()["error"] == {
            "code": "EXPRESSION_ERROR",
            "surfaceId": "s",
            "message": "There is no function 'nope'.",
            "expression": "nope",
            "component": "a",
        }

    def test_once_per_cause(self):
        surfaces, only = surface(*self.ROWS)
        surfaces.diagnostics()

        for number in range(5):
            surfaces.apply(data(number, "/n"))
            only.html()

        assert surfaces.diagnostics() == []

    def test_again_after_a_new_definition(self):
        surfaces, _ = surface(*self.ROWS)
        surfaces.diagnostics()

        surfaces.apply(components(self.ROWS[1]))
        surfaces.flush()

        assert len(surfaces.diagnostics()) == 1

    def test_capped(self):
        rows = [row(f"t{n}", "Text", text=call(f"nope{n}")) for n in range(10)]
        surfaces, _ = surface(
            row("root", "Column", children=[r["id"] for r in rows]), *rows, limits=Limits(errors=3)
        )

        problems = surfaces.diagnostics()

        assert [problem.code for problem in problems] == ["EXPRESSION_ERROR"] * 3 + ["TOO_MANY_ERRORS"]


class Shout(Text):
    """A component of another catalog."""

    name = "Shout"

    def build(self, build: Build) -> None:
        get = build.getter("text")
        build.done(lambda scope, context: f'<b id="{build.id}{context}">{get(scope)}</b>')


def test_a_second_catalog_registers_in_one_call():
    twice = Function("twice", lambda args, env: args["value"] * 2)
    mine = BASIC_CATALOG.extended(
        "https://example.org/mine.json", components=[Shout()], functions=BASIC_CATALOG.functions.extend(twice)
    )
    engine = Engine(EngineOptions(catalogs=(BASIC_CATALOG, mine)))

    surfaces = run(
        create(catalogId=mine.id),
        components(row("root", "Shout", text=call("twice", value=path("/a")))),
        data({"a": "ha"}),
        engine=engine,
    )

    assert '<b id="a1-0">haha</b>' in surfaces.flush()[0].html
    surfaces.apply(data("ho", "/a"))
    assert ops(surfaces) == [["r", "a1-0", '<b id="a1-0">hoho</b>']]
