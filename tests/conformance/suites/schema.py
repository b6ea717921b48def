"""specification/*/test/cases, the example programs, and what we send, against the official schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from a2ui import Engine, EngineOptions
from a2ui.programs.checking import check
from tests.a2ui.programs import create
from tests.conformance.case import Case
from tests.conformance.schemas import SPECIFICATION, valid
from tests.shared import SHARED


def _refused(message: dict[str, Any]) -> bool:
    surfaces = Engine(EngineOptions(strict=True)).surfaces()
    verb = next(key for key in message if key != "version")
    body = message[verb]
    if verb != "createSurface" and isinstance(body, dict):
        surfaces.apply(create(str(body.get("surfaceId"))))
    return any(problem.refused for problem in surfaces.apply(message))


def _message(data: Any, expected: bool) -> None:
    assert _refused(data) != expected


def _oracle(data: Any, schema: str, version: str, expected: bool) -> None:
    """What clients send: the engine makes such messages and reads none. That its own are valid, test_strict shows."""
    assert valid(data, schema, version=version) == expected


def _lines(file: Path) -> None:
    surfaces = Engine(EngineOptions(strict=True)).surfaces()
    for line in file.read_text(encoding="utf-8").splitlines():
        assert not surfaces.apply(json.loads(line))


def _example(file: Path) -> None:
    messages = json.loads(file.read_text(encoding="utf-8"))["messages"]
    assert not [finding for finding in check(Engine(), messages) if finding.severity == "error"]


def cases() -> Iterator[Case]:
    """One a test of a file; one an example program."""
    assert SHARED is not None
    for version in ("v0_9", "v0_9_1"):
        folder = SHARED / SPECIFICATION / version
        name = f"specification/{version}/test/cases"
        for file in sorted((folder / "test/cases").glob("*.json")):
            suite = json.loads(file.read_text(encoding="utf-8"))
            for number, test in enumerate(suite["tests"]):
                run = (
                    partial(_message, test["data"], test["valid"])
                    if suite["schema"] == "server_to_client.json"
                    else partial(_oracle, test["data"], suite["schema"], version, test["valid"])
                )
                yield Case(name, f"{file.stem}-{number}", run)
        for file in sorted((folder / "test/cases").glob("*.jsonl")):
            yield Case(name, file.stem, partial(_lines, file))
        for file in sorted(folder.glob("catalogs/*/examples/*.json")):
            yield Case(
                f"specification/{version}/catalogs/*/examples",
                f"{file.parts[-3]}-{file.stem}",
                partial(_example, file),
            )
