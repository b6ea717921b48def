"""What one reader is told of surfaces that are being written. State of a connection: who it belongs to drops it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from envelopes.delivery.deltas import Delta
from envelopes.transports.live.previews.picture import CATALOG, pictured, text_of
from envelopes.types import Json, JsonObject

OURS: Final = "beach:preview"
"""What ids of provisional surfaces begin with (D65): no agent can have one."""

ENDS_ALL: Final = frozenset({"turn", "settled", "withdrawn"})
"""Kinds of rows after which nothing that was being written goes on."""


@dataclass(slots=True)
class _Preview:
    """One part. ``read``: characters of its text that were taken in. ``ended``: it was written to its end."""

    turn: int
    read: int = 0
    rest: str = ""
    ended: bool = False
    surfaces: dict[str, None] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    buttons: dict[str, tuple[str, JsonObject]] = field(default_factory=dict)


class Previews:
    """Payloads of ``_ggui:preview``, with whether each is the last one of its preview. Inert pictures: nothing in them
    can be pressed, and no edit of them is taken.
    """

    def __init__(self) -> None:
        self._known: dict[str, _Preview] = {}

    def take(self, delta: Delta) -> list[tuple[Json, bool]]:
        """What a piece of the text of a preview says: nothing where it came before, or behind a hole, since all of it
        comes again then."""
        preview = self._known.setdefault(delta.live, _Preview(delta.turn))
        known = preview.read - delta.offset
        if known < 0 or known >= len(delta.text):
            return []
        text = preview.rest + delta.text[known:]
        preview.read += len(delta.text) - known
        *lines, preview.rest = text.split("\n")
        told: list[tuple[Json, bool]] = []
        for line in lines:
            message = json.loads(line)
            if message is None:
                preview.ended = True
            else:
                told += [(payload, False) for payload in self._payloads(delta.live, preview, message)]
        return told

    @property
    def open(self) -> bool:
        """Whether there is any."""
        return bool(self._known)

    def before(self, kind: str, turn: int) -> list[tuple[Json, bool]]:
        """What is told before a row of this kind, of this turn: the end of previews that it ends, or that were written
        to theirs."""
        over = [
            live
            for live, preview in self._known.items()
            if preview.ended or (kind in ENDS_ALL and preview.turn == turn)
        ]
        told: list[tuple[Json, bool]] = []
        for live in over:
            preview = self._known.pop(live)
            if not preview.ended:
                # It never became anything: the picture goes.
                told += [(_message("deleteSurface", {"surfaceId": name}), False) for name in preview.surfaces]
            if preview.surfaces:
                told.append((None, True))
        return told

    def _payloads(self, live: str, preview: _Preview, message: JsonObject) -> Iterable[JsonObject]:
        for verb, body in message.items():
            if verb in ("version", "updateDataModel"):
                # Pictures have literal values only.
                continue
            name = f"{OURS}/{live}/{body['surfaceId']}"
            if verb == "deleteSurface":
                if name in preview.surfaces:
                    del preview.surfaces[name]
                    yield _message(verb, {"surfaceId": name})
                continue
            if name not in preview.surfaces:
                preview.surfaces[name] = None
                yield _message("createSurface", {"surfaceId": name, "catalogId": CATALOG})
            if verb == "updateComponents":
                rows = list(_pictures(preview, name, body["components"]))
                if rows:
                    yield _message(verb, {"surfaceId": name, "components": rows})


def _pictures(preview: _Preview, surface: str, rows: Iterable[JsonObject]) -> Iterable[JsonObject]:
    for row in rows:
        text = text_of(row)
        if text is not None:
            preview.texts[row["id"]] = text
        made = pictured(row, preview.texts)
        if made is not None:
            yield made
        child = row.get("child")
        if row["component"] == "Button" and isinstance(child, str):
            preview.buttons[child] = (surface, row)
        waiting = preview.buttons.get(row["id"])
        if text and waiting is not None and waiting[0] == surface:
            # The button was told before what stands in it.
            relabelled = pictured(waiting[1], preview.texts)
            if relabelled is not None:
                yield relabelled


def _message(verb: str, body: JsonObject) -> JsonObject:
    return {"version": "v0.9", verb: body}
