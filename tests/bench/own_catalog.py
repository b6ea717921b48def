"""Rows of our own catalog: one cell of a large table, and one point of a chart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import orjson

from a2ui import BEACH_CATALOG_1_0, Engine, EngineOptions, Limits, SurfaceSet
from tests.bench.report import Target
from tests.bench.timing import in_turn, per_call

COLUMNS = 8
ROWS = 1_000
POINTS = 200
_CALLS = 200


def rows(limits: Limits, seconds: float, floor: Callable[[], float]) -> Iterator[Target]:
    """All of them, each measured for so long; `floor` measures the update of a hand-written program."""
    engine = Engine(EngineOptions(own=(BEACH_CATALOG_1_0,), limits=limits))
    large, small, chart = table(engine, ROWS), table(engine, 10), points(engine)
    runs = [changing(large, "/rows/5/c3"), changing(small, "/rows/5/c3"), changing(chart, "/points/7/value")]
    steps: list[Callable[[], float]] = [lambda run=run: per_call(run, _CALLS) for run in runs]  # type: ignore[misc]
    in_large, in_small, in_chart, least, drawn = in_turn(
        [*steps, floor, lambda: per_call(lambda: next(iter(chart)).html(), 20)], seconds
    )
    name = f"cell of a table of {ROWS} x {COLUMNS}"
    yield Target.at_most(name, in_large / in_small, "x of 10 rows", 1.3, f"{in_large * 1e6:,.1f} us")
    yield Target.at_most(
        f"{name}, whole way", in_large / least, "x update_limit", 25, f"floor {least * 1e6:,.1f} us"
    )
    about = f"{in_chart * 1e6:,.1f} us against {drawn * 1e6:,.1f} us"
    yield Target.at_most(f"one of {POINTS} points of a chart", in_chart / drawn, "x drawing it", 1, about)
    yield Target.at_most("fragments of that", len(sent(chart, "/points/7/value", 3)), "fragments", 2, "")


def table(engine: Engine, count: int) -> SurfaceSet:
    """A table on a page, of numbers with an identity."""
    columns = [{"label": f"C{n}", "value": {"@path": f"c{n}"}, "type": "number"} for n in range(COLUMNS)]
    items = [{"id": at, **{f"c{n}": at * n for n in range(COLUMNS)}} for at in range(count)]
    root = {"id": "root", "component": "Table", "columns": columns, "rows": {"@path": "/rows"}}
    return shown(engine, root, {"rows": items})


def points(engine: Engine) -> SurfaceSet:
    """A chart on a page. Its axis stays: the ends are given."""
    items = [{"name": str(n), "value": 100 if n == 0 else n % 90} for n in range(POINTS)]
    root = {
        "id": "root", "component": "Chart", "type": "bar", "data": {"@path": "/points"}, "label": {"@path": "name"},
        "series": [{"label": "S", "value": {"@path": "value"}}],
    }  # fmt: skip
    return shown(engine, root, {"points": items})


def shown(engine: Engine, root: dict[str, Any], model: Any) -> SurfaceSet:
    surfaces = engine.surfaces()
    body = {"surfaceId": "s", "catalogId": BEACH_CATALOG_1_0.id, "components": [root], "dataModel": model}
    assert not surfaces.apply({"version": "1.0", "createSurface": body})
    surfaces.flush()
    return surfaces


def sent(surfaces: SurfaceSet, path: str, value: int) -> list[Any]:
    """The fragments of one write."""
    surfaces.apply({"version": "1.0", "updateDataModel": {"surfaceId": "s", "path": path, "value": value}})
    return [op for change in surfaces.flush() for op in change.ops]


def changing(surfaces: SurfaceSet, path: str) -> Callable[[], object]:
    """Message text to frame bytes, each time with another value."""
    texts = [
        orjson.dumps({"version": "1.0", "updateDataModel": {"surfaceId": "s", "path": path, "value": value}})
        for value in (11, 12)
    ]
    at = 0

    def run() -> bytes:
        nonlocal at
        at = 1 - at
        surfaces.apply(orjson.loads(texts[at]))
        ops = [op for change in surfaces.flush() for op in change.ops]
        assert ops
        return orjson.dumps({"seq": 1, "prev": 0, "ops": ops, "busy": False})

    return run
