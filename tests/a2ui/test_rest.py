"""Surfaces at rest: on pages, and not compiled until something happens to them."""

from __future__ import annotations

import gc
from weakref import ref

from a2ui import ComponentTarget, SurfaceSet
from tests.a2ui.programs import components, create, data, ops, path, row, run

ROWS = [
    row("root", "Column", children=["name", "said", "items"]),
    row("name", "TextField", label="Name", value=path("/name")),
    row("said", "Text", text=path("/name")),
    row("items", "List", children={"componentId": "item", "path": "/items"}),
    row("item", "Text", text=path("")),
]


def shown() -> SurfaceSet:
    surfaces = run(create(), data({"name": "Ann", "items": ["a", "b"]}), components(*ROWS))
    surfaces.flush()
    return surfaces


def test_what_was_compiled_goes_at_once_without_the_garbage_collector():
    surfaces = shown()
    (surface,) = surfaces
    view = ref(surface.view)
    assert surface.view.root is not None
    gc.disable()
    try:
        surfaces.rest()
        assert view() is None
        assert not surface.view.live
    finally:
        gc.enable()


def test_the_next_fragments_are_those_of_a_surface_that_did_not_rest():
    rested, other = shown(), shown()
    rested.rest()
    for message in (
        data("Bob", "/name"),
        data(["b", "c", "d"], "/items"),
        components(row("said", "Divider")),
    ):
        rested.apply(message)
        other.apply(message)
        assert ops(rested) == ops(other) != []
        rested.rest()


def test_it_is_used_as_before():
    rested, other = shown(), shown()
    rested.rest()
    field = ComponentTarget("", "s", "name", "")
    assert rested.edit(field, "Eve") == other.edit(field, "Eve")
    assert rested.snapshot() == other.snapshot()
