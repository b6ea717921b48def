"""Surfaces at rest: on pages, and not compiled until something happens to them."""

from __future__ import annotations

import gc
from weakref import ref

from a2ui import ComponentTarget, SurfaceSet
from tests.a2ui import asking
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


def test_what_it_asked_of_an_agent_before_is_asked_and_drawn_only_as_long_as_it_is_shown():
    """1.0, section 9 of the reading: calls outlive how the surface is compiled, what asks for them does not."""
    surfaces = asking.engine().surfaces()
    asked = {"@call": "judge", "args": {"q": 1}}
    button = row("root", "Button", child="word", action={"event": {"name": "go"}})
    surfaces.apply(
        asking.create(
            {**button, "@checks": [{"condition": asked, "message": "No."}]}, row("word", "Text", text="Go")
        )
    )
    (due,) = asking.made(surfaces)
    surfaces.flush()
    surfaces.rest()
    surfaces.apply(asking.message("updateComponents", components=[row("root", "Text", text="Gone")]))
    surfaces.flush()

    surfaces.apply(asking.response(due.messages[0]["callAgentFunction"]["functionCallId"], value=False))

    assert ops(surfaces) == []
    (surface,) = surfaces
    assert surface.calls is not None
    assert not surface.calls.parts
