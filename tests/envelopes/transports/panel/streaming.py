"""A page that hears an answer being written, as ``static/client/stream.js`` takes it in."""

from __future__ import annotations

import json
from collections.abc import Coroutine
from typing import Any, TypeVar

import html5lib

from envelopes.delivery.deltas import Delta
from envelopes.delivery.streamed import PlacedDelta
from envelopes.transports.panel.drawings import Drawings
from envelopes.types import JsonObject

LIVE = "L1-1-0-0-0-0"
INTO = "t1-0p"
T = TypeVar("T")


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """The result of what does not have to wait for anything."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise AssertionError("It waits.")


def delta(text: str, offset: int = 0, live: str = LIVE) -> Delta:
    return Delta(live, 1, "response", offset, text)


def frame_of(drawings: Drawings, piece: Delta) -> JsonObject:
    found: JsonObject = json.loads(at_once(drawings.frame(PlacedDelta(piece, INTO))))
    return found


class Bubble:
    """What a page has of it: ``blocks`` up to ``base``, and the ``text`` behind them."""

    def __init__(self) -> None:
        self.blocks = _parsed("", "div")
        self.base, self.text = 0, ""

    def take(self, frame: JsonObject) -> bool:
        """False where something is missing."""
        offset, draw, since = frame["offset"], frame.get("draw"), frame.get("from", frame["offset"])
        count = self.base + len(self.text)
        if since and since < self.base:
            return True
        if since > (count if draw is None else self.base):
            return False
        if draw is not None:
            if not since:
                self.blocks = _parsed("", "div")
            for at, depth, html in draw:
                self._draw(at, depth, html)
            self.base, self.text, count = offset, "", offset
        self.text += frame["text"][count - offset :]
        return True

    def _draw(self, at: int, depth: int, html: str) -> None:
        if not depth:
            self.blocks[at : at + 1] = list(_parsed(html, "div"))
            return
        place = self.blocks[at]
        for _ in range(depth - 1):
            place = place[-1]
        more = _parsed(html, place.tag)
        if len(place):
            place[-1].tail = (place[-1].tail or "") + (more.text or "")
        else:
            place.text = (place.text or "") + (more.text or "")
        place.extend(list(more))

    def looks(self) -> list[str]:
        return looks(self.blocks)


def looks(blocks: Any) -> list[str]:
    for block in blocks:
        block.tail = None
    return [
        html5lib.serialize(block, quote_attr_values="always", alphabetical_attributes=True)
        for block in blocks
    ]


def drawn(html: str) -> list[str]:
    return looks(_parsed(html, "div"))


def _parsed(html: str, inside: str) -> Any:
    return html5lib.parseFragment(html, container=inside, treebuilder="etree", namespaceHTMLElements=False)
