"""Functions of an agent in rows and points: called for rows of the data model, refused where there is no telling them
apart."""

from __future__ import annotations

import pytest

from a2ui import Engine, EngineOptions
from a2ui.catalog.beach import BEACH_CATALOG_1_0
from a2ui.functions.pending import PENDING_TEXT
from a2ui.functions.registry import agent_function
from a2ui.schema.dynamic import Signature, dynamic_value
from tests.a2ui.asking import SHOP, ask, asked, create, made, path, response
from tests.a2ui.programs import row

CATALOG = BEACH_CATALOG_1_0.extended(
    SHOP,
    functions=BEACH_CATALOG_1_0.functions.extend(
        agent_function("ask", Signature("string", {}, {"q": dynamic_value}))
    ),
)
ITEMS = [{"id": 1, "n": "one"}, {"id": 2, "n": "two"}]
PER_ITEM = [{"label": "Asked", "value": ask(q=path("n"))}]
LATER = {"@call": "formatString", "args": {"value": path("text")}}


def started(root, model=None):
    surfaces = Engine(EngineOptions(own=(CATALOG, BEACH_CATALOG_1_0))).surfaces()
    assert surfaces.apply(create(root, model=model or {"items": ITEMS})) == []
    (surface,) = surfaces
    return surfaces, surface


def table(rows, columns=PER_ITEM):
    return row("root", "Table", columns=columns, rows=rows)


def chart(rows, **more):
    series = more.pop("series", [{"label": "S", "value": path("n")}])
    return row("root", "Chart", type="bar", data=rows, series=series, **{"label": path("n"), **more})


def test_rows_of_the_data_model_are_asked_one_by_one():
    surfaces, surface = started(table(path("/items")))

    assert surface.html().count(PENDING_TEXT) == 2
    due = made(surfaces)
    assert asked(due) == [{"q": "one"}, {"q": "two"}]
    call = due[0].messages[0]["callAgentFunction"]["functionCallId"]
    assert surfaces.apply(response(call, value="first")) == []
    surfaces.flush()
    assert ">first</td>" in surface.html()


@pytest.mark.parametrize(
    "root",
    [
        table(ITEMS),
        table(ITEMS, [{"label": "L", "value": "x", "type": "link", "url": ask(q=path("n"))}]),
        table([{"text": "${ask(q: 'x')}"}], [{"label": "L", "value": LATER}]),
        chart(path("/items"), series=PER_ITEM),
        chart(ITEMS, label=ask(q=path("n"))),
    ],
    ids=["cell", "link", "text", "value", "name"],
)
def test_what_would_wait_for_ever_is_refused_and_said(root):
    surfaces, surface = started(root)
    surfaces.flush()

    assert PENDING_TEXT not in surface.html()
    assert made(surfaces) == []
    assert ["cannot be asked from here" in problem.message for problem in surfaces.diagnostics()] == [True]
