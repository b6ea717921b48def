"""A surface that is cut shows the same whatever its history: as drawn fresh, and as restored from a snapshot."""

from __future__ import annotations

from random import Random

import pytest

from a2ui import Engine, EngineOptions, Limits
from tests.a2ui.page import Page, shown
from tests.a2ui.programs import components, create, data, path, row

pytestmark = pytest.mark.usefixtures("each_version")

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


def test_an_item_that_becomes_larger_takes_room_in_every_item():
    small = [row("i", "Column", children=["t"]), row("t", "Text", text=path("."))]
    large = row("i", "Column", children=["t", "t", "t", "t"])
    steps = [
        create(),
        data({"a": list(range(6)), "b": list(range(3))}),
        components(
            row("root", "Column", children=["a", "b"]),
            row("a", "List", children={"componentId": "i", "path": "/a"}),
            row("b", "List", children={"componentId": "t", "path": "/b"}),
            *small,
        ),
    ]

    assert "of" not in same_everywhere(steps)
    assert "of 6 shown" in same_everywhere([*steps, components(large)])


def test_what_a_list_offers_does_not_depend_on_which_list_came_first():
    model = {name: list(range(12)) for name in "ab"}
    steps = [create(), data({**model, "a": [1]}), lists("a", "b"), data(list(range(12)), "/a")]

    assert same_everywhere(steps) == same_everywhere([create(), data(model), lists("a", "b")])


def test_a_tree_that_is_too_deep_has_its_notice_in_one_place():
    engine = Engine(EngineOptions(limits=Limits(depth=3)))
    surfaces, page = engine.surfaces(), Page()
    first = components(
        row("root", "Column", children=["a"]),
        row("a", "Column", children=["b"]),
        row("b", "Column", children=["c", "d"]),
        row("c", "Text", text="c"),
        row("d", "Text", text="d"),
    )
    for message in (
        create(),
        first,
        components(row("b", "Column", children=["d", "c"])),
        components(row("c", "Divider")),
    ):
        surfaces.apply(message)
        page.apply_changes(surfaces.flush())
        assert page.markup == shown(surfaces) == shown(engine.restore(surfaces.snapshot()))
