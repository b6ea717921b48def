"""A second catalog: own components and functions under an own id, registered in one call."""

from __future__ import annotations

import pytest

from a2ui import Engine, EngineOptions, InputError
from a2ui.catalog.basic import BASIC_CATALOG, MINIMAL_CATALOG
from a2ui.catalog.kinds import child, enum, literal_number, text
from a2ui.components import BaseComponent, BaseInput
from a2ui.errors import ExpressionError
from a2ui.functions.registry import Function
from a2ui.programs.tree import tree
from a2ui.rendering.build import always
from a2ui.safety.text import escape, to_text
from a2ui.schema.dynamic import Signature, dynamic_string
from tests.a2ui.page import Page, shown
from tests.a2ui.programs import call, components, create, data, path, row, run

OWN = "https://beach.example/catalogs/own.json"


class Banner(BaseComponent):
    """Holds one component under a heading."""

    name = "Banner"
    properties = {"title": text, "tone": enum("calm", "loud"), "child": child}
    required = frozenset({"title"})
    slots = ("child",)

    def build(self, build):
        title, inner = always(build.html("title")), build.child("child")
        tone = build.props.get("tone", "calm")
        start, css = f'<section id="{build.id}', build.classes(f"own-{tone}")

        def render(scope, context):
            below = inner.render(scope, context) if inner else ""
            return f'{start}{context}" class="{css}"{build.role()}><b>{title(scope)}</b>{below}</section>'

        build.done(render)


class Stars(BaseInput):
    """A rating from 0 to `of`."""

    name = "Stars"
    properties = {"value": text, "of": literal_number}
    required = frozenset({"value", "of"})
    input_kind = "slider"

    def build(self, build):
        get, most = build.getter("value"), build.props.get("of", 5)
        start = f'<div id="{build.id}'

        def render(scope, context):
            value = escape(to_text(get(scope)))
            return (
                f'{start}{context}" data-in="slider"><input type="range" max="{most}" value="{value}"></div>'
            )

        build.done(render)

    def entered(self, value, instance):
        most = instance.component.props.get("of", 5)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
            raise InputError(f"Give 0 to {most} stars.")
        return value


def _reversed(args, env):
    if not isinstance(args.get("value"), str):
        raise ExpressionError("reversed needs a text.", expression="reversed")
    return args["value"][::-1]


CATALOG = BASIC_CATALOG.extended(
    OWN,
    components=[Banner(), Stars()],
    functions=BASIC_CATALOG.functions.extend(
        Function("reversed", _reversed, signature=Signature("string", {"value": dynamic_string}))
    ),
)

ROWS = (
    row("root", "Column", children=["b", "s", "l"]),
    row("b", "Banner", title=call("reversed", value=path("/name")), tone="loud", child="t", weight=2),
    row("t", "Text", text=call("formatString", value="${reversed(value: /name)}!")),
    row("s", "Stars", value=path("/stars"), of=5),
    row("l", "List", children={"componentId": "item", "path": "/items"}),
    row("item", "Banner", title=path("n")),
)
MODEL = {"name": "<abc>", "stars": 3, "items": [{"n": "one"}, {"n": "two"}]}


@pytest.fixture
def engine():
    return Engine(EngineOptions(catalogs=(BASIC_CATALOG, MINIMAL_CATALOG, CATALOG)))


@pytest.fixture
def surfaces(engine):
    return run(create(catalogId=OWN), components(*ROWS), data(MODEL), engine=engine)


def test_it_is_announced(engine):
    assert OWN in engine.capabilities()["v0.9"]["supportedCatalogIds"]


def test_own_components_render_and_follow_the_data(surfaces):
    page = Page()
    page.apply_changes(surfaces.flush())
    assert "<b>&gt;cba&lt;</b>" in page.markup
    assert "own-loud" in page.markup

    for change in (
        data("xyz", "/name"),
        data("ONE", "/items/0/n"),
        data({"n": "three"}, "/items/2"),
        data(4, "/stars"),
    ):
        surfaces.apply(change)
        page.apply_changes(surfaces.flush())
        assert page.markup == shown(surfaces)
    assert all(
        part in page.markup for part in ("<b>zyx</b>", "zyx!", "<b>ONE</b>", "<b>three</b>", 'value="4"')
    )
    assert not surfaces.diagnostics()


def test_an_own_input_is_edited(surfaces):
    html = surfaces.flush()[0].html
    target = html.split('" data-in="slider"')[0].rpartition('id="')[2]

    surfaces.apply_edit(surfaces.edit(target, 5))
    assert surfaces.get("", "s").data_model["stars"] == 5
    with pytest.raises(InputError, match="0 to 5 stars"):
        surfaces.edit(target, 6)


def test_what_is_wrong_is_reported_as_for_any_component(surfaces):
    problems = surfaces.apply(components(row("b", "Banner", tone="shrill", size=3)))

    assert [problem.path for problem in problems] == [
        "/components/0/tone",
        "/components/0/size",
        "/components/0/title",
    ]


def test_errors_of_own_functions_are_reported(surfaces):
    surfaces.flush()
    surfaces.apply(data(5, "/name"))
    surfaces.flush()

    assert {problem.facts["expression"] for problem in surfaces.diagnostics()} == {"reversed"}


def test_strict_mode_knows_own_components_and_functions():
    engine = Engine(EngineOptions(catalogs=(CATALOG,), strict=True))
    surfaces = run(create(catalogId=OWN), components(*ROWS), engine=engine)

    refused = surfaces.apply(components(row("b", "Banner", title=call("reversed", text="x"), tone="shrill")))

    assert [problem.path for problem in refused] == [
        "/components/0/title/args/text",
        "/components/0/title/args/value",
        "/components/0/tone",
    ]


def test_the_other_catalogs_know_nothing_of_it(engine):
    surfaces = run(create(), engine=engine)

    (problem,) = surfaces.apply(components(row("root", "Stars", value="x", of=3)))

    assert problem.code == "UNKNOWN_COMPONENT_TYPE"


def test_it_survives_a_snapshot(engine, surfaces):
    surfaces.flush()
    again = engine.restore(surfaces.snapshot())

    assert shown(again) == shown(surfaces)
    assert tree(again.get("", "s")) == tree(surfaces.get("", "s"))
