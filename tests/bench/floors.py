"""The hand-written floors and the workloads W1 to W5, read from the shared folder (decision D38); the floor of a row of
the log, which is SQL by hand."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

ROOT = Path(__file__).resolve().parents[2]

Program = list[dict[str, Any]]


class NoFloorsError(Exception):
    """The folder with the floors is not there."""


def shared() -> Path:
    """The shared folder. Raises NoFloorsError where it has no benches."""
    folder = Path(os.environ.get("BEACH_SHARED", "../shared"))
    folder = folder if folder.is_absolute() else ROOT / folder
    if not (folder / "bench" / "py_limit.py").is_file():
        raise NoFloorsError(
            f"No floors to measure against: {folder}/bench is not there. Set BEACH_SHARED to the shared folder."
        )
    return folder.resolve()


@dataclass(frozen=True, slots=True)
class Workload:
    """A program and a stream of updates of it, each message as JSON text."""

    name: str
    messages: list[bytes]
    updates: list[bytes]
    model: Any

    @classmethod
    def of(cls, made: dict[str, Any], updates: list[str] | None = None) -> Workload:
        texts = [json.dumps(message).encode() for message in made["messages"]]
        lines = [line.encode() for line in updates or []]
        values = [m["updateDataModel"]["value"] for m in made["messages"] if "updateDataModel" in m]
        return cls(made["name"], texts, lines, values[0] if values else None)


class Floors:
    """`limit`, `update_limit` and the workloads, as the shared programs define them."""

    def __init__(self) -> None:
        self.folder = shared()
        sys.path.insert(0, str(self.folder / "bench"))
        self._limit = importlib.import_module("py_limit")
        self._make = importlib.import_module("gen_workloads")
        self._lib = importlib.import_module("benchlib")

    def rows(self, workload: Workload) -> Callable[[], object]:
        """limit(W2) and limit(W3): the rows by an f-string."""
        items = workload.model["items"]
        return lambda: self._limit.rows_limit(items)

    def dashboard(self, workload: Workload) -> Callable[[], object]:
        """limit(W5)."""
        model = workload.model["m"]
        return lambda: self._limit.dash_limit(model)

    def update(self, workload: Workload) -> Callable[[bytes], object]:
        """update_limit(W2): message text to frame bytes by a program that knows the surface."""
        items = [dict(item) for item in workload.model["items"]]
        fragment = self._limit.frag_limit

        def one(line: bytes) -> bytes:
            update = orjson.loads(line)["updateDataModel"]
            _, _, index, key = update["path"].split("/")
            items[int(index)][key] = update["value"]
            dom_id, html = fragment(items, int(index), key)
            return orjson.dumps({"id": dom_id, "html": html})

        return one

    # ------------------------------------------------------------------ workloads

    def w2(self, n: int) -> Workload:
        return self._with_updates(self._make.w2(n))

    def w3(self, n: int) -> Workload:
        return Workload.of(self._make.w3(n))

    def w4(self) -> Workload:
        return self._with_updates(self._make.w4())

    def w5(self) -> Workload:
        return self._with_updates(self._make.w5())

    def w1(self) -> list[Workload]:
        """The example programs of v0.9 that are at hand."""
        found = []
        for path in sorted((self.folder / "spec/a2ui/specification/v0_9/catalogs").glob("*/examples/*.json")):
            program = json.loads(path.read_text(encoding="utf-8"))
            messages = program["messages"] if isinstance(program, dict) else program
            found.append(Workload.of({"name": path.stem, "messages": messages}))
        return found

    def item(self, index: int) -> dict[str, Any]:
        """One more item for W2, unlike those that are there."""
        made: dict[str, Any] = self._make.rows(1, index)[0] | {"id": f"new-{index}"}
        return made

    def _with_updates(self, made: dict[str, Any]) -> Workload:
        return Workload.of(made, self._lib.update_lines(made, 1000))


def row_floor(raw: Any, sessions: Sequence[int], data: str) -> Callable[[], object]:
    """*row*: one transaction with a row of `data` for each session, by the driver's own connection: a number, a row."""
    lite = type(raw).__module__.startswith(("sqlite3", "django.db.backends.sqlite3"))
    mark = "?" if lite else "%s"
    begin = "BEGIN IMMEDIATE" if lite else "BEGIN"
    number = f"""UPDATE envelopes_session SET last_seq = last_seq + 1, updated_at = CURRENT_TIMESTAMP
        WHERE id = {mark} RETURNING last_seq"""  # noqa: S608
    insert = f"""INSERT INTO envelopes_event (session_id, seq, kind, part_type, audience, actor, turn, data, at) VALUES
        ({mark}, {mark}, 'part', 'a2ui-surface', 'delivered', 'bench', 1, {mark}, CURRENT_TIMESTAMP)"""  # noqa: S608

    def once() -> None:
        cursor = raw.cursor()
        cursor.execute(begin)
        for session in sessions:
            seq = cursor.execute(number, (session,)).fetchall()[0][0]
            cursor.execute(insert, (session, seq, data))
        cursor.execute("COMMIT")
        cursor.close()

    return once
