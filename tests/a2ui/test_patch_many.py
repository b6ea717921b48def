"""A patch with many operations below one list."""

from __future__ import annotations

from a2ui.rendering import index
from tests.a2ui.page import shown
from tests.a2ui.programs import path, row, surface


def test_the_list_is_looked_through_once_and_not_for_each(monkeypatch):
    surfaces, _ = surface(
        row("root", "List", children={"componentId": "t", "path": "/l"}),
        row("t", "Text", text=path("id")),
        model={"l": [{"id": f"k{n}"} for n in range(300)]},
    )
    html = shown(surfaces)
    looked = []
    original = index.first_keys
    monkeypatch.setattr(index, "first_keys", lambda items, most: looked.append(1) or original(items, most))

    surfaces.patch("", "s", [{"op": "replace", "path": f"/l/{n}/id", "value": f"z{n}"} for n in range(200)])
    changes = surfaces.flush()

    assert changes[0].ops
    assert shown(surfaces) != html
    assert len(looked) <= 2
