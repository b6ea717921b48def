"""DOM ids: from stored counters and keys, the same however and wherever the messages were applied (D28, D40)."""

from __future__ import annotations

import json
import re
from random import Random

import pytest

from a2ui import Engine, PatchError
from a2ui.safety.ids import _numbers, base36, base36_counters
from tests.a2ui import chaos
from tests.a2ui.page import Page
from tests.a2ui.programs import components, create, data, path, row, run, surface


def ids(html: str) -> list[str]:
    return re.findall(r' id="([^"]+)"', html)


def test_components_are_numbered_as_they_are_mentioned():
    _, only = surface(row("root", "Column", children=["b", "a"]), row("a", "Divider"), row("b", "Divider"))

    assert ids(only.html()) == ["a1", "a1-0", "a1-1", "a1-2"]


def test_the_root_is_zero_whenever_it_comes():
    surfaces = run(create(), components(row("x", "Divider")), components(row("root", "Card", child="x")))

    assert ids(surfaces.flush()[0].html) == ["a1", "a1-0", "a1-1"]


def test_further_places_of_a_component_get_a_token():
    _, only = surface(
        row("root", "Column", children=["x", "x", "c"]), row("x", "Divider"), row("c", "Card", child="x")
    )

    assert ids(only.html()) == ["a1", "a1-0", "a1-1", "a1-1-e1_1", "a1-2", "a1-1-e2_1"]


def test_tokens_of_different_ancestors_cannot_be_confused():
    _, only = surface(
        row("root", "Column", children=["p", "p", "q"]),
        row("p", "Card", child="c"),
        row("q", "Card", child="c"),
        row("c", "Divider"),
    )
    found = ids(only.html())

    assert len(found) == len(set(found))


def test_items_are_named_by_their_keys():
    _, only = surface(
        row("root", "List", children={"componentId": "t", "path": "/l"}),
        row("t", "Text", text=path("n")),
        model={"l": [{"id": 5}, {"id": "x y"}, {"id": "five"}]},
    )
    found = ids(only.html())

    assert found[2] == "a1-1-n5"
    assert re.fullmatch(r"a1-1-h[A-Za-z0-9_-]{11}", found[3])
    assert found[4] == "a1-1-kfive"


def test_ids_do_not_change_when_other_places_go():
    surfaces, only = surface(row("root", "Column", children=["x", "x"]), row("x", "Divider"))

    surfaces.apply(components(row("root", "Column", children=["y", "x"]), row("y", "Card", child="x")))

    assert ids(only.html()) == ["a1", "a1-0", "a1-2", "a1-1-e2_1", "a1-1"]


@pytest.mark.parametrize("seed", range(20))
def test_one_by_one_or_in_one_batch(seed):
    random = Random(seed)
    steps = [create(), *chaos.start(random), *[chaos.step(random) for _ in range(30)]]
    engine = Engine()
    one_by_one, batch, copied = engine.surfaces(), engine.surfaces(), engine.surfaces()
    for step in steps:
        for surfaces in (one_by_one, batch, copied):
            if isinstance(step, list):
                try:
                    surfaces.patch("", "s", step)
                except PatchError:
                    continue
            else:
                surfaces.apply(step)
        one_by_one.flush()
        copied = engine.restore(json.loads(json.dumps(copied.snapshot())))
    batch.flush()

    assert one_by_one.get("", "s").html() == batch.get("", "s").html() == copied.get("", "s").html()


def test_surface_ids_are_never_used_again():
    surfaces = run(create("a"), create("b"))
    surfaces.flush()
    surfaces.apply({"version": "v0.9", "deleteSurface": {"surfaceId": "b"}})
    restored = Engine().restore(surfaces.snapshot())

    restored.apply(create("c"))

    assert [surface.dom_id for surface in restored] == ["a1", "a3"]


def test_odd_names_make_harmless_ids():
    odd = ["a b", "ü", "x/y", "__proto__", '"><b>', "a.b", "a-b", "A-B"]
    surfaces = run(
        create(), components(row("root", "Column", children=odd), *[row(name, "Divider") for name in odd])
    )
    page = Page()

    page.apply_changes(surfaces.flush())

    page.check_ids()
    assert len(list(page.root.iter("hr"))) == len(odd)


def test_data_does_not_change_while_keys_do():
    surfaces, only = surface(
        row("root", "List", children={"componentId": "t", "path": "/l"}),
        row("t", "Text", text=path("n")),
        model={"l": [{"id": 1, "n": "a"}]},
    )

    surfaces.apply(data(2, "/l/0/id"))

    assert ids(only.html()) == ["a1", "a1-0", "a1-1-n2"]


def test_counters_of_many_names_are_not_kept():
    before = _numbers.cache_info().currsize
    assert base36_counters(40_000)[39_999] == base36(39_999)
    assert _numbers.cache_info().currsize == before
