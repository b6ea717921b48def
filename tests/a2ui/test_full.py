"""A surface that is cut shows the same whatever its history: as drawn fresh, and as restored from a snapshot."""

from __future__ import annotations

from random import Random

import pytest

from a2ui import Engine, EngineOptions, Limits
from tests.a2ui.page import Page, shown
from tests.a2ui.programs import components, create, data, path, row

ENGINE = Engine(EngineOptions(limits=Limits(instances=24, list_items=6, repeats=8)))


def lists(*names):
    rows = [row("root", "Column", children=list(names)), row("t", "Text", text=path("."))]
    return components(
        *rows, *[row(name, "List", children={"componentId": "t", "path": f"/{name}"}) for name in names]
    )


def same_everywhere(messages):
    """The page that followed everything shows what a new one gets, and what another process makes of the snapshot."""
    surfaces, page = ENGINE.surfaces(), Page()
    for message in messages:
        assert not [problem for problem in surfaces.apply(message) if problem.refused]
        page.apply_changes(surfaces.flush())
        assert page.markup == shown(surfaces)
        assert page.markup == shown(ENGINE.restore(surfaces.snapshot()))
    return page.markup


def test_a_list_that_shrinks_makes_room_for_those_behind_it():
    model = {name: list(range(6)) for name in "abcdefgh"}
    steps = [
        create(),
        data(model),
        lists(*"abcdefgh"),
        data([1], "/a"),
        data([], "/b"),
        data(list(range(9)), "/a"),
    ]

    assert "elements" not in same_everywhere(steps[:2])
    assert "0 of 6 shown" in same_everywhere(steps)


def test_a_list_that_grows_takes_the_room_of_those_behind_it():
    model = {name: [1] for name in "abcdefgh"}

    assert "0 of 1 shown" in same_everywhere([create(), data(model), lists(*"abcdefgh"), data(list(range(6)), "/a"),
                                              data(list(range(6)), "/b"), data(list(range(6)), "/c")])  # fmt: skip


def random_tree(random):
    names = [f"c{n}" for n in range(random.randrange(20, 40))]
    rows = [row("root", "Column", children=names[:10])]
    for at, name in enumerate(names):
        below = names[at + 1 : at + 1 + random.randrange(4)]
        kind = "Column" if below and random.random() < 0.6 else "Text"
        rows.append(row(name, kind, **({"children": below} if kind == "Column" else {"text": name})))
    return rows


@pytest.mark.parametrize("seed", range(12))
def test_components_that_are_redefined(seed):
    random = Random(seed)
    steps = [create(), data({"l": list(range(5))}), components(*random_tree(random))]
    for _ in range(8):
        steps.append(components(*random.sample(random_tree(random)[1:], 3)))
        steps.append(components(row("c5", "List", children={"componentId": "c39", "path": "/l"})))
    same_everywhere([step for step in steps if step])
