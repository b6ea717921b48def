"""Data models, patches of people and agents, and readers of each version: for tests of surfaces elsewhere."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from a2ui import Engine, EngineOptions, SurfaceSet
from envelopes.transports.live.surfaces import Version
from envelopes.transports.live.surfaces.versions import VERSIONS
from envelopes.types import JsonObject

BASIC = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
BASIC_1_0 = "https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json"
ENGINE = Engine(EngineOptions())

NAMES = st.sampled_from(["a", "b", "list", "0", "1", "a/b", "~", "é", " ", "", ".", "~1"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, 1.0, 2**70, 1e30]),
    st.sampled_from(["", "x", "a longer text that costs more than a short one", "ü"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=12,
)
MODELS = st.dictionaries(NAMES, VALUES, min_size=1, max_size=5)


@st.composite
def patches(draw: st.DrawFn, model: Any) -> list[JsonObject]:
    """One to three RFC 6902 operations that fit a model; those behind the first may turn out not to."""
    return [draw(_operation(model)) for _ in range(draw(st.integers(1, 3)))]


@st.composite
def _operation(draw: st.DrawFn, model: Any) -> JsonObject:
    places = list(_places("", model))
    path, value = draw(st.sampled_from(places))
    kinds = ["replace", "remove"] if path else ["replace"]
    if isinstance(value, dict | list):
        kinds += ["add", "add"]
    if len(places) > 2 and path:
        kinds.append("move")
    kind = draw(st.sampled_from(kinds))
    if kind == "remove":
        return {"op": "remove", "path": path}
    if kind == "move":
        target, _ = draw(st.sampled_from(places))
        return {"op": "move", "from": path, "path": target or path}
    if kind == "add":
        name = draw(NAMES) if isinstance(value, dict) else str(draw(st.integers(0, len(value))))
        path = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
    return {"op": kind, "path": path, "value": draw(VALUES)}


def _places(path: str, value: Any) -> Any:
    yield path, value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _places(f"{path}/{name.replace('~', '~0').replace('/', '~1')}", inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _places(f"{path}/{index}", inner)


def surfaces_with(model: Any, version: str = "v0.9") -> SurfaceSet:
    """Ours: a surface ``s`` of an agent, with this model. In 1.0 a model comes with the surface."""
    surfaces = ENGINE.surfaces()
    if version == "1.0":
        body = {"surfaceId": "s", "catalogId": BASIC_1_0, "dataModel": model}
        assert surfaces.apply({"version": version, "createSurface": body}, owner="agent") == []
    else:
        body = {"surfaceId": "s", "catalogId": BASIC}
        assert surfaces.apply({"version": version, "createSurface": body}, owner="agent") == []
        body = {"surfaceId": "s", "path": "/", "value": model}
        assert surfaces.apply({"version": version, "updateDataModel": body}, owner="agent") == []
    return surfaces


def reader_of(messages: list[JsonObject], surfaces: SurfaceSet | None = None) -> SurfaceSet:
    """A reader elsewhere that takes these messages, as they travel; each must be one that it takes."""
    read = ENGINE.surfaces() if surfaces is None else surfaces
    for message in json.loads(json.dumps(messages)):
        found = read.apply(message, owner="reader")
        assert [one for one in found if one.refused] == [], (message, found)
        read.skip()
    return read


def reader_with(model: Any, version: str = "v0.9") -> SurfaceSet:
    """One that has this model already."""
    kept = surfaces_with(model, version).snapshot()
    for surface in kept["surfaces"]:
        surface["owner"] = "reader"
    return ENGINE.restore(kept)


def model_of(surfaces: SurfaceSet, owner: str = "reader", surface_id: str = "s") -> Any:
    surface = surfaces.get(owner, surface_id)
    assert surface is not None
    return surface.data_model


def exactly(value: Any) -> str:
    """Text that is the same for values that are: true is not 1, and 1.0 is."""
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def size_of(messages: list[JsonObject]) -> int:
    return sum(
        len(json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()) for message in messages
    )


def replacing(before: Any, after: Any, version: Version, path: str = "") -> JsonObject:
    """The message that replaces the nearest container of all that changed."""
    if isinstance(before, dict) and isinstance(after, dict):
        changed = [
            name
            for name in before.keys() | after.keys()
            if name not in before or name not in after or exactly(before[name]) != exactly(after[name])
        ]
        if len(changed) == 1 and changed[0] in before and changed[0] in after and changed[0]:
            name = changed[0]
            inner_before, inner_after = before[name], after[name]
            if type(inner_before) is type(inner_after) and isinstance(inner_after, dict | list):
                where = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
                return replacing(inner_before, inner_after, version, where)
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        differing = [
            index
            for index, pair in enumerate(zip(before, after, strict=True))
            if exactly(pair[0]) != exactly(pair[1])
        ]
        if len(differing) == 1:
            index = differing[0]
            if type(before[index]) is type(after[index]) and isinstance(after[index], dict | list):
                return replacing(before[index], after[index], version, f"{path}/{index}")
    body = {"surfaceId": "s", "path": path or "/", "value": after}
    return {"version": VERSIONS[version].name, "updateDataModel": body}
