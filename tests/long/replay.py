"""A conversation of any length, as rows: what it costs to bring a session to its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from time import process_time
from typing import Any

from a2ui import Engine, EngineOptions
from envelopes.protocol.rows import Row
from envelopes.registries.transports import SessionFacts
from envelopes.session_state.state import SessionState
from envelopes.transports.panel.presenter.panel import PanelPresenter

CATALOG = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
START = datetime(2026, 3, 12, 8, 40, tzinfo=UTC)
SURFACES = 5
FACTS = SessionFacts("s", "en", "UTC")

Given = tuple[str, dict[str, Any], str]


def _part(part_type: str, **part: Any) -> Given:
    given = {"part": {"metadata": {"partType": part_type}, **part}, "turnState": "awaiting"}
    return "part", given, part_type


def _surface(name: str, verb: str, **body: Any) -> Given:
    return _part("a2ui-surface", data={"version": "v0.9", verb: {"surfaceId": name, **body}})


def _turn(number: int) -> Iterator[Given]:
    """A turn as people see them: words, a card now and then, an approval, a question, a click, progress, files."""
    yield "message", {"text": f"Question {number}", "name": "Ines", "id": f"m{number}"}, ""
    yield "turn", {"status": "queued", "number": number}, ""
    yield "turn", {"status": "running", "number": number}, ""
    yield _part("ack", text="Looking.")
    if number % 5 == 0:
        name = f"s{number}"
        yield _surface(name, "createSurface", catalogId=CATALOG)
        components = [{"id": "root", "component": "Text", "text": {"path": "/title"}}]
        yield _surface(name, "updateComponents", components=components)
        yield _surface(name, "updateDataModel", path="/title", value=f"Card {number}")
        if number > 5 * SURFACES:
            yield _surface(f"s{number - 5 * SURFACES}", "deleteSurface")
    if number % 7 == 0:
        yield _part("progress", data={"id": "p", "current": 1, "total": 2})
        yield _part("clarify", text="Which one?")
    if number % 9 == 0:
        approval = {"approvalId": f"a{number}", "toolName": "book", "toolCallId": f"c{number}", "args": {}}
        yield _part("approval-request", data=approval)
        yield "turn", {"status": "suspended", "number": number}, ""
        yield _part("approval-response", data={"approvalId": f"a{number}", "decision": "granted"})
        yield "turn", {"status": "running", "number": number}, ""
        tool = {"callId": f"c{number}", "name": "book", "state": "succeeded", "approvalId": f"a{number}"}
        yield "tool", tool, ""
    yield _part("response", text=f"An answer, number **{number}**.")
    yield "settled", {"turnState": "complete", "finalizedBy": "complete"}, ""


def rows(count: int) -> list[Row]:
    """``count`` rows of turns one after the other."""
    made: list[Row] = []
    number = 0
    while len(made) < count:
        number += 1
        for kind, data, part_type in _turn(number):
            seq = len(made) + 1
            turn = 0 if kind == "message" else number
            made.append(Row(seq, kind, START + timedelta(seconds=seq), data, part_type, "sally", turn))
    return made[:count]


class Replay:
    """A session and its panel, moved row by row."""

    def __init__(self) -> None:
        self.state = SessionState(1, Engine(EngineOptions()), shown=True)
        self.panel = PanelPresenter.of(FACTS, None)

    def apply(self, log: Sequence[Row]) -> float:
        """Goes on over these rows. Returns the CPU seconds that it took."""
        began = process_time()
        for row in log:
            self.panel.apply(row, self.state.apply(row), 0)
        return process_time() - began

    def html(self) -> str:
        return self.panel.thread.html(self.state.surfaces)
