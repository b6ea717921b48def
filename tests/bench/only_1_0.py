"""Rows of what only 1.0 has: numbers of items, and components of several catalogs in one surface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import orjson

from a2ui import Engine, EngineOptions, Limits, SurfaceSet
from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.protocol.catalog_ids import BASIC_1_0
from tests.bench.report import Target
from tests.bench.timing import in_turn, per_call

COUNT = 1_000
SECOND = "https://example.org/catalogs/second.json"
NUMBER = {"@call": "formatString", "args": {"value": "No ${@index(offset: 1)}"}}
PLAIN = {"@path": "id"}


def rows(limits: Limits, seconds: float) -> Iterator[Target]:
    """All of them, each measured for so long."""
    yield from _inserted(limits, seconds)
    yield _mixed(limits, seconds)


def _numbered(number: Any) -> bytes:
    """A keyed list whose rows have a number, a name and a note."""
    components = [
        {"id": "root", "component": "Column", "children": {"componentId": "row", "path": "/items"}},
        {"id": "row", "component": "Row", "children": ["number", "name", "note"]},
        {"id": "number", "component": "Text", "text": number},
        {"id": "name", "component": "Text", "text": {"@path": "name"}},
        {"id": "note", "component": "Text", "text": {"@path": "note"}},
    ]
    return _surface(components, {"items": [_item(n) for n in range(COUNT)]})


def _item(number: int) -> dict[str, Any]:
    return {"id": f"k{number}", "name": f"Name {number}", "note": f"Note {number}"}


def _surface(components: list[dict[str, Any]], model: Any) -> bytes:
    body = {"surfaceId": "s", "catalogId": BASIC_1_0, "components": components, "dataModel": model}
    return orjson.dumps({"version": "1.0", "createSurface": body})


def _inserted(limits: Limits, seconds: float) -> Iterator[Target]:
    """An item in front of a thousand, and its removal: all numbers change, and nothing else of their rows."""
    engine = Engine(EngineOptions(limits=limits))

    def step(number: Any) -> tuple[Callable[[], float], SurfaceSet]:
        surfaces = engine.surfaces()
        assert not surfaces.apply(orjson.loads(_numbered(number)))
        surfaces.flush()
        turn = {
            "add": [{"op": "add", "path": "/items/0", "value": _item(COUNT)}],
            "remove": [{"op": "remove", "path": "/items/0"}],
        }

        def run() -> None:
            for ops in turn.values():
                surfaces.patch("", "s", ops)
                orjson.dumps([change.ops for change in surfaces.flush()])

        return lambda: per_call(run, 3) / 2, surfaces

    (with_numbers, surfaces), (without, _) = step(NUMBER), step(PLAIN)

    def cold() -> None:
        fresh = engine.surfaces()
        fresh.apply(orjson.loads(_numbered(NUMBER)))
        fresh.flush()

    taken, plain, whole = in_turn([with_numbers, without, lambda: per_call(cold, 1)], seconds)
    about = f"{taken * 1e6:,.1f} us, {plain * 1e6:,.1f} us without numbers, drawn anew {whole * 1e6:,.1f} us"
    yield Target.at_most(
        f"one in front of {COUNT} numbered rows", taken / whole, "x drawing them", 0.9, about
    )
    surfaces.patch("", "s", [{"op": "add", "path": "/items/0", "value": _item(COUNT)}])
    ops = [op for change in surfaces.flush() for op in change.ops]
    texts = [op for op in ops if op[0] == "t"]
    yield Target.at_most(
        "operations of it beside the numbers", len(ops) - len(texts), "operations", 1, str(ops[0])[:60]
    )


def _mixed(limits: Limits, seconds: float) -> Target:
    """Half of the components, and of the calls, of a second catalog."""
    second = BASIC_CATALOG_1_0.extended(SECOND, protocol="1.0")
    engine = Engine(EngineOptions(catalogs=(BASIC_CATALOG_1_0, second), limits=limits))

    def text(number: int, *, mixed: bool) -> dict[str, Any]:
        owned = {"catalogId": SECOND} if mixed and number % 2 else {}
        call = {"@call": "formatString", "args": {"value": f"No {number}: ${{/n}}"}, **owned}
        row = {"id": f"t{number}", "component": "Text", "text": call}
        return row | ({"@catalogId": SECOND} if owned else {})

    def cold(*, mixed: bool) -> Callable[[], float]:
        names = [f"t{number}" for number in range(COUNT - 1)]
        root = {"id": "root", "component": "Column", "children": names}
        components = [root, *(text(number, mixed=mixed) for number in range(COUNT - 1))]
        message = _surface(components, {"n": 5})

        def run() -> None:
            surfaces = engine.surfaces()
            problems = surfaces.apply(orjson.loads(message))
            assert not problems, problems
            surfaces.flush()

        return lambda: per_call(run, 2)

    taken, one = in_turn([cold(mixed=True), cold(mixed=False)], seconds)
    about = f"{taken * 1e6:,.1f} us against {one * 1e6:,.1f} us"
    return Target.at_most(f"{COUNT} components of two catalogs", taken / one, "x of one", 1.2, about)
