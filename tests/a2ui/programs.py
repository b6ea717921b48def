"""Short ways to write A2UI messages in tests."""

from __future__ import annotations

from typing import Any

from a2ui import Engine, EngineOptions, Surface, SurfaceSet
from a2ui.programs.conversion import convert

BASIC = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"


def message(verb: str, surface: str = "s", **body: Any) -> dict[str, Any]:
    return {"version": "v0.9", verb: {"surfaceId": surface, **body}}


def create(surface: str = "s", **more: Any) -> dict[str, Any]:
    return message("createSurface", surface, **{"catalogId": BASIC, **more})


def components(*rows: dict[str, Any], surface: str = "s") -> dict[str, Any]:
    return message("updateComponents", surface, components=list(rows))


def data(value: Any, path: str = "/", surface: str = "s") -> dict[str, Any]:
    return message("updateDataModel", surface, path=path, value=value)


def row(component_id: str, kind: str, **properties: Any) -> dict[str, Any]:
    return {"id": component_id, "component": kind, **properties}


def path(name: str) -> dict[str, str]:
    return {"path": name}


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"call": name, "args": args}


SPOKEN = "0.9"
"""What `run` and `surface` say their messages in: see the fixture `each_version`."""


def spoken(*messages: Any) -> list[Any]:
    """The messages in the version that is spoken now."""
    return convert(messages, "1.0").messages if SPOKEN == "1.0" else list(messages)


def run(*messages: Any, engine: Engine | None = None, **options: Any) -> SurfaceSet:
    """A set after these messages; none of them may be refused."""
    surfaces = (engine or Engine(EngineOptions(**options))).surfaces()
    for one in spoken(*messages):
        problems = surfaces.apply(one)
        assert not [problem for problem in problems if problem.refused], problems
    return surfaces


def surface(*rows: dict[str, Any], model: Any = None, **options: Any) -> tuple[SurfaceSet, Surface]:
    """One surface of these components, already on the page."""
    surfaces = run(create(), components(*rows), **options)
    if model is not None:
        (message,) = spoken(data(model))
        assert not surfaces.apply(message)
    surfaces.flush()
    only = surfaces.get("", "s")
    assert only is not None
    return surfaces, only


def ops(surfaces: SurfaceSet) -> list[list[str]]:
    """All fragments of one flush."""
    return [op for change in surfaces.flush() for op in change.ops]
