"""Our own catalog."""

from __future__ import annotations

from typing import Any

from a2ui import Engine, EngineOptions, Surface, SurfaceSet
from a2ui.catalog.beach import BEACH_CATALOG, BEACH_CATALOG_1_0
from a2ui.programs.conversion import convert
from tests.a2ui.programs import components, create, data

OWN = (BEACH_CATALOG, BEACH_CATALOG_1_0)


def engine(**options: Any) -> Engine:
    return Engine(EngineOptions(own=OWN, **options))


def made(*rows: dict[str, Any], model: Any = None, version: str = "0.9", **options: Any) -> SurfaceSet:
    """A set with one surface of these components, which is on no page yet; nothing of it may be wrong."""
    messages = [create(catalogId=BEACH_CATALOG.id), components(*rows)]
    if model is not None:
        messages.append(data(model))
    surfaces = engine(**options).surfaces()
    for message in messages if version == "0.9" else convert(messages, "1.0").messages:
        problems = surfaces.apply(message)
        assert not problems, [str(problem) for problem in problems]
    return surfaces


def html(*rows: dict[str, Any], model: Any = None, **options: Any) -> str:
    """What a page gets."""
    return only(made(*rows, model=model, **options)).html()


def only(surfaces: SurfaceSet) -> Surface:
    (surface,) = surfaces
    return surface


def ops(surfaces: SurfaceSet) -> list[list[str]]:
    return [op for change in surfaces.flush() for op in change.ops]
