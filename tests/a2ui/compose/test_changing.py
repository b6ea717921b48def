"""Changes lead from one surface to the other, and touch no more than that takes."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from a2ui import Engine
from a2ui.compose import Column, Component, Row, Surface, Text, TextField, changes, path
from tests.a2ui.strategies import FUZZ

keys = st.sampled_from(["a", "b", "a/b", "~"])
# One member each: which stands first is no data, but a text that shows a whole object has to show one first.
values = st.recursive(
    st.integers(0, 3) | st.text("xy", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=1),
)
models = st.dictionaries(keys, values, max_size=3)
leaves = st.sampled_from([Text("One"), Text("Two"), Text(path("/a")), TextField("B", value=path("/b"))])
roots = st.recursive(
    leaves, lambda inner: st.builds(Row, inner, inner) | st.builds(Column, inner), max_leaves=5
)


def _body(root: Component, data: Any, **more: Any) -> Any:
    return Surface("s", root, data, **more).create()[0]["createSurface"]


def _shown(*messages: Any) -> tuple[Any, str]:
    surfaces = Engine().surfaces()
    for message in messages:
        assert surfaces.apply(message, owner="a") == []
    surface = surfaces.get("a", "s")
    assert surface is not None
    html = surface.html()
    return surface.data_model, "".join(part.split(">", 1)[-1] for part in html.split("<"))


@settings(max_examples=30 * FUZZ, deadline=None)
@given(roots, models, roots, models)
def test_they_lead_from_one_to_the_other(old: Component, before: Any, new: Component, after: Any) -> None:
    first, second = _body(old, before), _body(new, after)
    found = changes(first, second)
    made = {"version": "1.0", "createSurface": first}
    assert _shown(made, *found) == _shown({"version": "1.0", "createSurface": second})
    assert changes(second, _body(new, after)) == []


def test_only_what_differs_is_written() -> None:
    before = _body(Column(Text(path("/a/b")), Text("One")), {"a": {"b": 1, "c": [1]}, "old": 1})
    after = _body(Column(Text(path("/a/b")), Text("Two")), {"a": {"b": 2, "c": [1]}})
    found = changes(before, after)
    written = {one["updateDataModel"]["path"]: one["updateDataModel"]["value"] for one in found[:-1]}
    assert written == {"/a/b": 2, "/old": None}
    assert [row["id"] for row in found[-1]["updateComponents"]["components"]] == ["root-1"]


def test_a_surface_that_is_made_otherwise_is_made_anew() -> None:
    before, after = _body(Text("a"), {}), _body(Text("a"), {}, send_data_model=True)
    assert [[*one][1] for one in changes(before, after)] == ["deleteSurface", "createSurface"]


def test_many_writes_are_one() -> None:
    before = _body(Text("a"), {str(key): 0 for key in range(60)})
    after = _body(Text("a"), {str(key): 1 for key in range(60)})
    (one,) = changes(before, after)
    assert one["updateDataModel"]["path"] == "/"
