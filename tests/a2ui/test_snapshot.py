"""Snapshots: plain JSON that another process goes on from."""

from __future__ import annotations

import json

import pytest

from a2ui import A2uiError, Engine
from tests.a2ui.programs import components, create, data, ops, path, row, run, surface
from tests.fuzz.cost import BOUND_MS, cost

ROWS = [
    row("root", "Column", children=["t", "t", "later"]),
    row("t", "Text", text=path("/a")),
]


def again(surfaces):
    return Engine().restore(json.loads(json.dumps(surfaces.snapshot())))


def test_everything_comes_back():
    surfaces = run(
        {**create(theme={"primaryColor": "#112233"}, sendDataModel=True), "version": "v0.9.1"},
        components(*ROWS),
        data({"a": 1}),
    )
    surfaces.apply(create(), owner="other")

    restored = again(surfaces)
    before, after = surfaces.get("", "s"), restored.get("", "s")

    assert after.html() == before.html()
    assert (after.version, after.theme, after.send_data_model) == ("v0.9.1", before.theme, True)
    assert after.data_model == {"a": 1}
    assert restored.get("other", "s").dom_id == "a2"


def test_a_restored_surface_goes_on_like_the_old_one():
    surfaces, _ = surface(*ROWS, model={"a": 1})
    restored = again(surfaces)
    assert restored.flush() == []
    restored.get("", "s").html()

    for change in (components(row("later", "Text", text="L")), data(2, "/a")):
        surfaces.apply(change)
        restored.apply(change)

    assert ops(restored) == ops(surfaces)
    assert restored.snapshot() == surfaces.snapshot()


def test_a_click_works_before_anything_was_rendered():
    surfaces, _ = surface(
        row("root", "Button", child="t", action={"event": {"name": "go"}}), row("t", "Text", text="Go")
    )

    assert again(surfaces).act("a1-0").label == "Go"


def test_a_known_id_without_type_survives():
    surfaces, _ = surface(row("root", "Text", text="x"))
    surfaces.apply(components({"id": "root", "text": "y"}))

    assert ">y</div>" in again(surfaces).get("", "s").html()


def test_two_long_lists_of_the_same_components_come_back_soon():
    names = [f"c{n}" for n in range(4_000)]
    both = [row(name, "Column", children=names) for name in ("a", "b")]
    surfaces = run(create(), components(row("root", "Row", children=["a", "b"]), *both))
    snapshot = surfaces.snapshot()
    restored = Engine().restore(snapshot)

    assert cost(lambda: Engine().restore(snapshot)) <= BOUND_MS
    assert restored.snapshot() == snapshot


def test_a_snapshot_stays_what_it_was():
    surfaces = run(create(), components(row("root", "Column", children=["a"])))
    snapshot = surfaces.snapshot()
    written = json.dumps(snapshot)

    surfaces.apply(components(row("a", "Column", children=["b"])))

    assert json.dumps(snapshot) == written


def test_another_format_is_refused():
    with pytest.raises(A2uiError, match="format"):
        Engine().restore({"format": 99})


def test_a_catalog_that_is_gone_is_refused():
    snapshot = run(create()).snapshot()
    snapshot["surfaces"][0]["catalogId"] = "gone"

    with pytest.raises(A2uiError) as caught:
        Engine().restore(snapshot)

    assert caught.value.code == "CATALOG_NOT_FOUND"
