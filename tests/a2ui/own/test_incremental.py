"""What is sent bit by bit makes what a fresh drawing shows, whatever was tried and undone in between."""

from __future__ import annotations

import json
from random import Random

import pytest

from a2ui import A2uiError, Limits
from tests.a2ui.own import BEACH_CATALOG, engine
from tests.a2ui.page import Page, shown
from tests.a2ui.programs import components, create, data, path, row
from tests.a2ui.strategies import FUZZ

COLUMNS = [
    {"label": "Name", "value": path("name"), "rowHeader": True, "sortable": True},
    {"label": path("/label"), "value": path("n"), "type": "number", "sortable": True},
    {"label": "Status", "value": path("s"), "type": "status", "tones": {"b": "success"}},
    {"label": "Of", "value": {"call": "formatString", "args": {"value": "${n} of ${/label}"}}},
]
FIELDS = [
    {"id": "name", "label": "Name", "required": True},
    {"id": "n", "label": path("/label"), "type": "number", "max": 9},
    {"id": "s", "label": "S", "type": "select", "options": ["a", "b"]},
    {"id": "id", "label": "T", "type": "checkbox", "default": True},
]
SERIES = [{"label": "N", "value": path("n")}, {"label": path("/label"), "value": path("id")}]
VALUES = ("a", "b", 1, 20.5, None, True, [], {"x": 1}, -3, "# t", "<b>")
LIMITS = Limits(list_items=5)


def rows(random: Random) -> list[dict[str, object]]:
    return [
        row("root", "Column", children=random.sample(["t", "l", "m", "f", "c"], 5)),
        row("t", "Table", columns=random.sample(COLUMNS, random.randrange(1, 5)), rows=path("/items")),
        row("l", "List", children={"componentId": "group", "path": "/groups"}),
        row("group", "Column", children=random.choice([["inner", "small"], ["inner", "asked"]])),
        row("inner", "Table", columns=COLUMNS[:2], rows=path("items"), caption=path("/label")),
        row("small", "Chart", type="sparkline", data=path("items"), label=path("id"), series=SERIES[:1]),
        row("asked", "Form", fields=FIELDS[:2], value=path("items/0"), action={"event": {"name": "go"}}),
        row("f", "Form", fields=random.sample(FIELDS, 3), value=path("/items/0"), action={"event": {"name": "go"}}),
        row(
            "c", "Chart", type=random.choice(["bar", "line", "area"]), title=path("/label"), data=path("/items"),
            label=path("name"), series=SERIES,
        ),
        row("m", "Markdown", text=path("/label")),
    ]  # fmt: skip


def item(random: Random) -> dict[str, object]:
    return {"id": random.randrange(12), "name": random.choice(VALUES), "n": random.choice(VALUES), "s": "b"}


def listed(random: Random) -> list[object]:
    return [item(random) for _ in range(random.randrange(9))]


def step(random: Random, surfaces) -> None:
    kind = random.randrange(9)
    if kind == 0:
        surfaces.apply(components(random.choice(rows(random))))
    elif kind == 1:
        surfaces.apply(data(listed(random), random.choice(["/items", "/groups/0/items"])))
    elif kind == 2:
        surfaces.apply(data(random.choice(VALUES), "/label"))
    elif kind == 3:
        surfaces.apply(data([{"items": listed(random)} for _ in range(random.randrange(4))], "/groups"))
    elif kind in (4, 5):
        where = random.choice(["/items", "/groups/0/items", "/groups/1/items"])
        member = random.choice(["name", "n", "s", "id"])
        surfaces.apply(data(random.choice(VALUES), f"{where}/{random.randrange(7)}/{member}"))
    else:
        at, to = random.randrange(5), random.randrange(5)
        op = random.choice(
            [
                {"op": "remove", "path": f"/items/{at}"},
                {"op": "add", "path": f"/items/{at}", "value": item(random)},
                {"op": "move", "from": f"/items/{at}", "path": f"/items/{to}"},
            ]
        )
        try:
            surfaces.patch("", "s", [op])
        except A2uiError:
            return


def ask_for_more(random: Random, surfaces) -> None:
    for target in ("a1-1-xr", "a1-6-i0-xr"):
        if random.random() < 0.2:
            try:
                surfaces.apply_more(surfaces.more(target))
            except A2uiError:
                continue


@pytest.mark.parametrize("seed", range(25 * FUZZ))
def test_fragments_make_what_is_drawn_afresh(seed):
    random = Random(seed)
    used = engine(limits=LIMITS)
    surfaces = used.surfaces()
    model = {"items": listed(random), "groups": [{"items": listed(random)}], "label": "x"}
    for message in (create(catalogId=BEACH_CATALOG.id), data(model), components(*rows(random))):
        surfaces.apply(message)
    page = Page()
    page.apply_changes(surfaces.flush())
    for _ in range(12):
        if random.random() < 0.3:
            attempt = surfaces.attempt()
            step(random, surfaces)
            surfaces.flush()
            attempt.undo()
        for _ in range(random.randrange(1, 3)):
            step(random, surfaces)
        ask_for_more(random, surfaces)
        page.apply_changes(surfaces.flush())
        assert page.markup == shown(surfaces)
    again = used.restore(json.loads(json.dumps(surfaces.snapshot())))
    assert shown(again) == page.markup
