"""A surface is drawn the first time without places; whatever happens later, nobody can tell."""

from __future__ import annotations

import gc
import json
from random import Random
from typing import Any
from weakref import ref

import pytest

from a2ui import Engine, EngineOptions, Limits
from a2ui.catalog.basic import BASIC_CATALOG
from a2ui.catalog.basic.text import Text
from a2ui.interaction.act import ClientAction
from tests.a2ui.page import Page, shown
from tests.a2ui.programs import call, components, create, data, ops, path, row, run, surface
from tests.shared import SHARED, needs_shared

LEAVES = ["Text", "Text", "Text", "Image", "Icon", "Divider"]
HOLDERS = ["Row", "Column", "List", "Card", "Button"]
MODEL = {"t": "text", "n": 3.5, "b": "**bold**", "u": "/x.png", "o": {"k": [1, "<i>"]}, "long": "x" * 300}
PATHS = ["/t", "t", "/n", "/b", "/u", "/o", "/o/k/1", "/missing", "/long"]
SITE = frozenset({"img.example"})


def value(random: Random) -> Any:
    return random.choice(
        [
            "plain", "*marked*", "<b>&", "\u202eturned", "", 7, True,
            path(random.choice(PATHS)),
            call("formatString", value=random.choice(["${/t} and ${n}", "fixed", "a ${/o/k/0} b ${/b}", "${"])),
            call("formatString", value="${formatCurrency(value: ${/n}, currency: 'EUR')}!"),
            call("formatCurrency", value=path("/n"), currency="USD"),
            call("formatNumber", value=path("/t")),
            call("nowhere", value=path("/t")),
            call("and", values=[path("/t"), path("/missing")]),
        ]
    )  # fmt: skip


def definition(random: Random, component_id: str, children: list[str]) -> dict[str, Any]:
    """A component that only shows something, in any form that its type has."""
    more: dict[str, Any] = {}
    if random.random() < 0.2:
        more["weight"] = random.choice([1, 2.5, 0, 200])
    if random.random() < 0.2:
        more["accessibility"] = {"label": value(random), "description": value(random)}
    if children:
        kind = random.choice(HOLDERS if len(children) == 1 else HOLDERS[:3])
        if kind in ("Card", "Button"):
            more["child"] = children[0]
        else:
            more |= {"children": children, "align": random.choice(["start", "center", "stretch"])}
        if kind == "Button":
            more |= {"action": {"event": {"name": "go", "context": {"v": path("/t")}}}}
            more["variant"] = random.choice(["default", "primary", "borderless"])
        return row(component_id, kind, **more)
    kind = random.choice(LEAVES)
    if kind == "Text":
        more |= {"text": value(random), "variant": random.choice(["body", "h1", "h4", "caption"])}
    elif kind == "Image":
        more |= {"url": random.choice([path("/u"), "https://img.example/a.png", "javascript:1"])}
        more |= {"variant": random.choice(["icon", "avatar", "header"])}
        if random.random() < 0.5:
            more["description"] = value(random)
    elif kind == "Icon":
        more["name"] = random.choice(["home", "no such icon", path("/t"), {"svgPath": "M0 0h24v24z"}])
    else:
        more["axis"] = random.choice(["horizontal", "vertical"])
    return row(component_id, kind, **more)


def display(random: Random, count: int) -> list[dict[str, Any]]:
    """A tree of so many components that only show something, each at one place."""
    names = ["root", *[f"c{number}" for number in range(1, count)]]
    below: dict[str, list[str]] = {name: [] for name in names}
    for at, name in enumerate(names[1:], 1):
        below[names[random.randrange(max(0, at - 4), at)]].append(name)
    return [definition(random, name, children) for name, children in below.items()]


def twice(messages: list[dict[str, Any]], **options: Any) -> tuple[Any, Any]:
    """The same program drawn as usual, and with its places from the start."""
    engine = Engine(EngineOptions(image_hosts=SITE, **options))
    usual, compiled = run(*messages, engine=engine), run(*messages, engine=engine)
    for found in compiled:
        found.view.compiled()
    return usual, compiled


def report(surfaces: Any) -> list[Any]:
    return [(problem.code, problem.message, problem.facts) for problem in surfaces.diagnostics()]


@pytest.mark.parametrize("seed", range(120))
def test_both_ways_give_the_same_html_reports_and_fragments(seed):
    random = Random(seed)
    rows = display(random, random.randrange(1, 30))
    usual, compiled = twice([create(), data(MODEL), components(*rows)])
    first, second = usual.flush(), compiled.flush()
    assert first == second
    assert report(usual) == report(compiled)

    page = Page()
    page.apply_changes(first)
    for _ in range(6):
        name = random.choice([found["id"] for found in rows])
        change = random.choice(
            [
                data(
                    random.choice(["new", 1, None, "*new*", {"k": [2]}]),
                    random.choice(["/t", "/n", "/o", "/b"]),
                ),
                data(MODEL),
                components(row(name, "Text", text=value(random))),
            ]
        )
        for surfaces in (usual, compiled):
            surfaces.apply(change)
        first, second = usual.flush(), compiled.flush()
        assert first == second
        page.apply_changes(first)
        assert page.markup == shown(usual) == shown(compiled)
    assert report(usual) == report(compiled)


def test_what_only_shows_something_is_drawn_without_places():
    drawn = 0
    for seed in range(60):
        found = next(iter(run(create(), data(MODEL), components(*display(Random(seed), 12)))))
        found.html()
        drawn += found.view.root is None
    assert drawn > 30


def test_places_come_with_the_first_change():
    surfaces, found = surface(row("root", "Text", text=path("/t")), model={"t": "a"})
    surfaces.flush()
    assert (found.view.live, found.view.root) == (True, None)
    assert found.html() == found.html()
    assert found.view.root is None

    surfaces.apply(data("b", "/t"))

    assert ops(surfaces) == [["t", "a1-0", "b"]]
    assert found.view.root is not None
    assert ">b<" in found.html()


def test_what_was_only_drawn_goes_without_the_garbage_collector():
    surfaces = run(create(), data(MODEL), components(*display(Random(1), 12)))
    surfaces.flush()
    view = ref(next(iter(surfaces)).view)
    assert view() is not None
    gc.collect()
    gc.disable()
    try:
        del surfaces
        assert view() is None
    finally:
        gc.enable()


def test_a_click_finds_its_button():
    action = {"event": {"name": "go", "context": {"v": path("/t")}}}
    surfaces, _ = surface(
        row("root", "Button", child="label", action=action), row("label", "Text", text="Go"), model={"t": "a"}
    )
    surfaces.flush()
    clicked = surfaces.act("a1-0")
    assert isinstance(clicked, ClientAction)
    assert clicked.message["action"]["context"] == {"v": "a"}


CHILD = row("child", "Text", text="x")


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([row("root", "Column", children={"componentId": "child", "path": "/l"}), CHILD], id="template"),
        pytest.param([row("root", "CheckBox", label="x", value=path("/t"))], id="input"),
        pytest.param([row("root", "Column", children=["child", "child"]), CHILD], id="used twice"),
        pytest.param([row("root", "Column", children=["child", "later"]), CHILD], id="missing"),
        pytest.param([row("root", "Column", children=["child"]), row("child", "Hologram")], id="unknown type"),
        pytest.param([row("root", "Text", text="x" * 2_000)], id="long text"),
        pytest.param([row("root", "Text", text=path("/long"))], id="long text from the data"),
        pytest.param([row("root", "Text", text=call("formatString", value=path("/t")))], id="text to be found out"),
        pytest.param(
            [row("root", "Button", child="child", action={"event": {"name": "n"}},
                 checks=[{"condition": path("/t"), "message": "m"}]), CHILD],
            id="checks",
        ),
        pytest.param(
            [row("root", "Button", child="child", action={"event": {"name": "n"}}),
             row("child", "Button", child="leaf", action={"event": {"name": "n"}}), row("leaf", "Text", text="x")],
            id="button in a button",
        ),
        pytest.param(
            [row("root", "Card", child="c0"), *[row(f"c{n}", "Card", child=f"c{n + 1}") for n in range(50)],
             row("c50", "Text", text="x")],
            id="deep",
        ),
    ],
)  # fmt: skip
def test_the_unusual_takes_places(rows):
    messages = [create(), data({"t": "t", "l": [1, 2], "long": "x" * 2_000}), components(*rows)]
    usual, compiled = twice(messages)
    assert usual.flush() == compiled.flush()
    assert report(usual) == report(compiled)
    assert all(found.view.root is not None for found in usual)


@pytest.mark.parametrize(
    "limits", [{"instances": 3}, {"text_chars": 4}, {"work": 1}, {"markdown_chars": 3}, {"depth": 1}]
)
def test_limits_cut_the_same_in_both_ways(limits):
    amount = call("formatCurrency", value=path("/n"), currency="USD")
    rows = [row(f"c{n}", "Text", text=text) for n, text in enumerate(["*long*", amount, amount, path("/t")])]
    root = row("root", "Column", children=[found["id"] for found in rows])
    usual, compiled = twice([create(), data(MODEL), components(root, *rows)], limits=Limits(**limits))
    assert usual.flush() == compiled.flush()
    assert report(usual) == report(compiled) != []


def test_problems_of_a_drawing_that_was_given_up_are_told_to_nobody():
    # Drawing counts three values in the first text; compiled, one of them is part of the text.
    texts = [call("formatString", value="${/n}${'x'}${/n}"), call("formatNumber", value=path("/n"))]
    rows = [row(f"c{n}", "Text", text=text) for n, text in enumerate(texts)]
    messages = [create(), data(MODEL), components(row("root", "Row", children=["c0", "c1"]), *rows)]
    usual, compiled = twice(messages, limits=Limits(work=2))
    assert usual.flush() == compiled.flush()
    assert report(usual) == report(compiled) == []
    assert usual.get("", "s").view.root is not None


class Loud(Text):
    """A type that builds in a way of its own, and says nothing about drawing."""

    name = "Text"

    def build(self, build: Any) -> None:
        build.done(lambda _, context: f'<b id="{build.id}{context}">LOUD</b>')


def test_a_type_with_its_own_way_of_building_is_not_drawn_as_its_parent():
    catalog = BASIC_CATALOG.extended("urn:loud", components=[Loud()])
    surfaces = Engine(EngineOptions(catalogs=(catalog,))).surfaces()
    loud = create() | {"createSurface": {"surfaceId": "s", "catalogId": "urn:loud"}}
    for message in (loud, components(row("root", "Text", text="quiet"))):
        assert not surfaces.apply(message)
    assert "LOUD" in surfaces.flush()[0].html


@pytest.mark.shared
@needs_shared
def test_all_programs_at_hand_look_the_same_in_both_ways():
    files = sorted((SHARED / "spec/a2ui/specification").glob("v*/catalogs/*/examples/*.json"))
    programs = [json.loads(file.read_text(encoding="utf-8"))["messages"] for file in files]
    drawn = 0
    for messages in programs:
        usual, compiled = twice(messages)
        assert usual.flush() == compiled.flush()
        drawn += sum(found.view.root is None for found in usual)
    assert drawn > len(programs) // 4
