"""The HTML of one surface has a limit, however it came to be: drawn with places or without, and by updates."""

from __future__ import annotations

import re

import pytest

from a2ui import ActionError, Engine, EngineOptions, InputError, Limits
from tests.a2ui.page import Page, shown
from tests.a2ui.programs import components, create, data, path, row, run
from tests.fuzz import dom

pytestmark = pytest.mark.usefixtures("each_version")

ALLOWED = 8_000_000
"""What `docs/limits.md` says."""
NOTICE = "The rest is not shown"

TEXTS = [f"t{n}" for n in range(9)]
MANY_ITEMS = [
    row("root", "List", children={"componentId": "c", "path": "/l"}),
    row("c", "Column", children=TEXTS),
    *[row(name, "Text", text=path("/t"), accessibility={"label": path("/t")}) for name in TEXTS],
]
MANY_FIELDS = [
    row("root", "Column", children=["f"] * 1_900),
    row("f", "TextField", label=path("/t"), value=path("/t")),
]
MANY_COMPONENTS = [
    row("root", "Column", children=[f"c{n}" for n in range(1_500)]),
    *[row(f"c{n}", "Text", text=path("/t"), accessibility={"label": path("/t")}) for n in range(1_500)],
]


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(MANY_ITEMS, id="items of a list"),
        pytest.param(MANY_FIELDS, id="one component in many places"),
        pytest.param(MANY_COMPONENTS, id="many components"),
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_e9_a_short_program_makes_no_endless_page(rows, late):
    text = '"' * 999
    surfaces = run(create(), data({"l": list(range(1_000)), "t": "" if late else text}), components(*rows))
    made = surfaces.flush()[0].html
    if late:
        surfaces.apply(data(text, "/t"))
        made = "".join([op[-1] for change in surfaces.flush() for op in change.ops])

    assert len(made) <= ALLOWED + 1_000
    assert NOTICE in made
    told = {(problem.code, problem.facts.get("limit")): problem for problem in surfaces.diagnostics()}
    assert told["budget_exceeded", "surface_chars"].facts["allowed"] == ALLOWED


def test_e9_updates_do_not_add_up():
    texts = [f"p{n}" for n in range(40)]
    rows = [row("root", "Column", children=[name for name in texts for _ in range(40)])]
    rows += [row(name, "Text", text=path(f"/{name}")) for name in texts]
    surfaces, page = run(create(), data({}), components(*rows)), dom.Page()
    page.apply_changes(surfaces.flush())

    for name in texts:
        surfaces.apply(data('"' * 900, f"/{name}"))
        page.apply_changes(surfaces.flush())
        assert len(page.html) <= ALLOWED + 1_000

    assert page.html == next(iter(surfaces)).html()
    assert NOTICE in page.html


class Small:
    """A surface under a limit that a few texts reach, and a page that follows it."""

    def __init__(self, *messages, most=2_000, **more):
        self.engine = Engine(EngineOptions(limits=Limits(surface_chars=most, **more)))
        self.surfaces, self.page = run(create(), *messages, engine=self.engine), Page()
        self.sync()

    def sync(self):
        self.page.apply_changes(self.surfaces.flush())
        assert (
            self.page.markup == shown(self.surfaces) == shown(self.engine.restore(self.surfaces.snapshot()))
        )
        return self.page.markup

    def send(self, *messages):
        for message in messages:
            self.surfaces.apply(message)
        return self.sync()


def words(count, text="x" * 90):
    names = [f"c{n}" for n in range(count)]
    return components(
        row("root", "Column", children=names), *[row(name, "Text", text=text) for name in names]
    )


def test_what_is_drawn_without_places_is_cut_likewise():
    few, many = Small(words(10)), Small(words(30))
    (short,), (long,) = few.surfaces, many.surfaces

    assert short.view.root is None
    assert NOTICE not in few.page.markup
    assert long.view.root is not None
    assert 10 < len(re.findall("x{90}", many.page.markup)) < 20
    assert many.page.markup.count(NOTICE) == 1


def test_it_is_whole_again_once_there_is_room():
    small = Small(words(30), data({"t": "x"}))
    assert NOTICE in small.page.markup

    assert NOTICE not in small.send(words(12))
    assert NOTICE in small.send(words(14), words(40))
    assert NOTICE not in small.send(components(row("root", "Text", text=path("/t"))))


def test_a_root_that_is_too_long_by_itself_is_a_notice():
    small = Small(components(row("root", "Text", text="x " * 2_000)))

    assert small.page.find("a1-0").text.startswith(NOTICE)


def test_markup_of_what_is_open_counts():
    tabs = [{"title": f"T{n}", "child": f"c{n}"} for n in range(30)]
    texts = [row(f"c{n}", "Text", text="x" * 900) for n in range(30)]
    root = row("root", "Column", children=["t", "c1", "c2"])
    small = Small(components(root, row("t", "Tabs", tabs=tabs), *texts), most=20_000)

    assert 2 < small.page.markup.count("x" * 900) < 30
    assert small.page.markup.count(NOTICE) == 2


ROWS = [
    row("root", "Column", children=["l", "b"]),
    row("l", "List", children={"componentId": "c", "path": "/l"}),
    row("c", "Column", children=["f", "b"]),
    row("f", "TextField", label="L", value=path("n")),
    row("b", "Button", child="t", action={"event": {"name": "go"}}),
    row("t", "Text", text=path("n")),
]  # fmt: skip


def test_what_is_not_shown_cannot_be_used():
    small = Small(components(*ROWS), data({"l": [{"id": n, "n": "x" * 50} for n in range(9)]}), list_items=5)
    shown_ids = set(re.findall(r' id="(a1-4-n\d)"', small.page.markup))

    assert 0 < len(shown_ids) < 5
    for number in range(5):
        field, button = f"a1-4-n{number}", f"a1-2-n{number}-e1_2"
        if field in shown_ids:
            small.surfaces.edit(field, "y")
            small.surfaces.act(button)
            continue
        with pytest.raises(InputError):
            small.surfaces.edit(field, "y")
        with pytest.raises(ActionError):
            small.surfaces.act(button)
    with pytest.raises(ActionError):
        small.surfaces.act("a1-2")
    with pytest.raises(ActionError):
        small.surfaces.more("a1-1")
    assert "Show" not in small.page.markup


@pytest.mark.parametrize("text", ["number", "a long text " * 120])
def test_what_changes_again_and_again_is_never_sent_whole(text):
    rows = [
        row("root", "Column", children=["a", "b"]),
        row("a", "Text", text=path("/t")),
        row("b", "Text", text="b"),
    ]
    small = Small(components(*rows), most=12_000, html_chars=9_000)

    for number in range(100):
        small.surfaces.apply(data(f"{text} {number}", "/t"))
        assert [op[1] for change in small.surfaces.flush() for op in change.ops] == ["a1-1"]
