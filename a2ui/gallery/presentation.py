"""What the templates show of a replay: texts and numbers, nothing that has to be worked out there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from a2ui import Diagnostic
from a2ui.data.values import JSON
from a2ui.gallery.changes import Changes, changes
from a2ui.gallery.layout import Line, lines
from a2ui.gallery.replay import Played, Said, Seen, Step, size_of
from a2ui.ops import Op
from a2ui.programs.conversion import Note

WIDTH = 46
"""Characters that fit beside a surface."""
LINES = 1_500
"""Lines of one JSON text."""
LEVELS = 16
"""Levels that long lines hang at; deeper ones hang there too."""
CHARS = 600
"""Characters of one line, and of one fragment."""
FRAGMENTS = 100
NOTES = 50

OPS = {
    "r": "replace",
    "t": "set text",
    "i": "insert",
    "m": "move",
    "d": "remove",
    "x": "morph",
}


@dataclass(slots=True)
class Row:
    """A line of JSON. `faults` are those whose place it is. What does not fit hangs below, as deep as its `level`."""

    level: int
    indent: str
    key: str
    text: str
    changed: bool = False
    gone: str = ""
    faults: list[Diagnostic] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class JsonText:
    """JSON as rows; `cut`: there is more of it. `elsewhere` are faults that have no place in it."""

    rows: list[Row]
    cut: bool
    elsewhere: list[Diagnostic]


@dataclass(frozen=True, slots=True)
class Fragment:
    """One operation that a page was sent."""

    what: str
    target: str
    size: int
    html: str
    cut: bool


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step in the list of all. `size` in bytes is what a page was sent for it; None for one that was not run."""

    number: int
    verb: str
    detail: str
    components: int = 0
    size: int | None = None
    faults: int = 0
    refused: bool = False


def step_rows(messages: list[Any], played: Played) -> list[StepRow]:
    """All messages of the program, run or not."""
    ran = {step.number: step for step in played.steps}
    return [_step_row(number, message, ran.get(number)) for number, message in enumerate(messages, 1)]


def message_text(step: Step) -> JsonText:
    """The message of a step with its faults at their places."""
    prefix = f"/{verb}" if (verb := _verb(step.message)) else ""
    return json_text(step.message, faults=step.faults, prefix=prefix)


def models(seen: Seen) -> list[tuple[str, JsonText]]:
    """The data model of every surface, with what is new in it."""
    return [
        (name, json_text(model, news=changes(seen.before.get(name, {}), model)))
        for name, model in seen.models.items()
    ]


def said(entries: Iterable[Said]) -> list[dict[str, Any]]:
    """What the agent was told, newest first: nobody scrolls to see what just happened."""
    return [
        {
            "step": entry.step,
            "kind": _kind(entry),
            "note": entry.note,
            "message": json_text(entry.message) if entry.message is not None else None,
            "data": json_text(entry.data) if entry.data is not None else None,
        }
        for entry in list(entries)[::-1][:50]
    ]


def conversion(notes: list[Note]) -> dict[str, Any]:
    """What there is to say about a program in another version: the first notes, with messages counted from 1, losses
    before what is only said in other words."""
    ordered = sorted(notes, key=lambda note: note.kind == "rewritten")
    shown = [replace(note, message=note.message + 1, text=_cut(note.text)) for note in ordered[:NOTES]]
    return {"notes": shown, "notes_more": len(notes) - len(shown)}


def fragments(ops: Iterable[Op]) -> list[Fragment]:
    """The first operations; `FRAGMENTS` is how many."""
    return [_fragment(op) for op in islice(ops, FRAGMENTS)]


def json_text(
    value: JSON, *, faults: Iterable[Diagnostic] = (), prefix: str = "", news: Changes | None = None
) -> JsonText:
    """JSON as rows. `prefix` is where the places of the faults begin, if that is not the top."""
    found = list(islice(lines(value, width=WIDTH), LINES + 1))
    cut = len(found) > LINES
    rows = [_row(line, news) for line in found[:LINES]]
    at = {
        pointer: row
        for line, row in zip(found[:LINES], rows, strict=True)
        if line.opens
        for pointer in line.pointers()
    }
    elsewhere = []
    for fault in faults:
        place = _place(at, fault.path, prefix)
        if place is None:
            elsewhere.append(fault)
        else:
            place.faults.append(fault)
    return JsonText(rows, cut, elsewhere)


def _place(at: dict[str, Row], path: str, prefix: str) -> Row | None:
    """The row of a pointer, or of what it would stand in. A path may be one into the data model: that has none."""
    if not path:
        return None
    for start in (prefix + path, path):
        pointer = start
        while pointer and pointer not in at:
            pointer = pointer.rpartition("/")[0]
        if pointer and pointer != prefix:
            return at[pointer]
    # A member that is missing from the body has the body as its place.
    return at.get(prefix) if path.count("/") == 1 else None


def _row(line: Line, news: Changes | None) -> Row:
    row = Row(min(line.indent, LEVELS), "  " * line.indent, line.key, _cut(line.text))
    if news is not None:
        row.changed = news.touches(line) and (line.whole or line.pointer != "")
        gone = news.gone.get(line.pointer, []) if line.opens else []
        row.gone = ", ".join(name[:40] for name in gone[:5]) + (" …" if len(gone) > 5 else "")
    return row


def _step_row(number: int, message: Any, step: Step | None) -> StepRow:
    verb, detail, count = _verb(message), "", 0
    body = message.get(verb) if isinstance(message, dict) and verb else None
    if isinstance(body, dict):
        path, components = body.get("path"), body.get("components")
        if isinstance(path, str):
            detail = path
        elif isinstance(components, list):
            count = len(components)
        elif isinstance(name := body.get("surfaceId"), str):
            detail = name
    row = StepRow(number, verb or "no message", detail[:60], count)
    if step is None:
        return row
    refused = any(fault.refused for fault in step.faults)
    return replace(row, size=step.size, faults=len(step.faults), refused=refused)


def _verb(message: Any) -> str:
    """The name of what a message does: the one key that is not the version."""
    if not isinstance(message, dict):
        return ""
    return next((str(key)[:40] for key in message if key not in ("version", "surfaceId")), "")


def _fragment(op: Op) -> Fragment:
    name, *rest = op
    html = rest[-1] if name in "rtix" and rest else ""
    target = rest[0] if rest and name != "x" else ""
    what = OPS.get(name, name)
    if name == "i" and not target:
        what, target = "new surface", ""
    elif name in "im":
        target = f"{target} {rest[1]}"
    return Fragment(what, target, size_of([op]), _cut(html), len(html) > CHARS)


def _kind(entry: Said) -> str:
    if entry.message is None:
        return "local"
    return next((key for key in entry.message if key != "version"), "")


def _cut(text: str) -> str:
    return text if len(text) <= CHARS else f"{text[:CHARS]}…"
