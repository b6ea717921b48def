"""An interface that is being written, as the page draws it: inert, with ids of its own, gone when its row or its
refusal comes (D65)."""

from __future__ import annotations

import json
from typing import Final

from a2ui import BASIC_CATALOG_1_0, Engine
from envelopes.transports.panel.presenter.streamed import Stroke
from envelopes.types import JsonObject

OWNER: Final = "beach:preview"
"""Whose these surfaces are: no agent is called that, and no target of a page leads to them."""


class StreamedSurface:
    """One part, drawn as a bubble of ``StreamedProse`` is: a single block, and no text behind it.

    What comes is a line of JSON for each message (``protocol.bubbles.SURFACE_PREVIEW``). Of what is refused nothing is
    shown: a change of a surface that stands on the page already is not drawn before its row.
    """

    tail: Final = ""

    def __init__(self, engine: Engine, live: str) -> None:
        self._surfaces = engine.surfaces(prefix=f"q{live}-")
        self._text = ""
        self._line = ""
        self._html = ""

    @property
    def length(self) -> int:
        """How many code points have come."""
        return len(self._text)

    @property
    def closed(self) -> int:
        """Up to where it is drawn: all of it, as far as it can be."""
        return len(self._text)

    def goes_with(self, text: str) -> bool:
        """Whether the one is how the other begins."""
        return self._text.startswith(text) or text.startswith(self._text)

    def take(self, text: str) -> int:
        """Take in more, for ``draw``. Returns how many characters that will draw."""
        self._text += text
        *lines, self._line = f"{self._line}{text}".split("\n")
        for line in lines:
            message = json.loads(line)
            if message is not None:
                self._surfaces.apply(_named(message), owner=OWNER)
        return sum(map(len, lines))

    def draw(self) -> list[Stroke]:
        """The block as it is now, where it has changed."""
        self._surfaces.flush()
        before, self._html = self._html, "".join(surface.html() for surface in self._surfaces)
        return [self._stroke()] if self._html != before else []

    def whole(self) -> list[Stroke]:
        """For a page that has nothing of it yet."""
        self.draw()
        return [self._stroke()] if self._html else []

    def _stroke(self) -> Stroke:
        return [0, 0, f'<div class="b-surface__body">{self._html}</div>']


def _named(message: JsonObject) -> JsonObject:
    """``message``, with a catalog where that is not written yet: most surfaces have this one."""
    body = message.get("createSurface")
    if not isinstance(body, dict) or body.get("catalogId"):
        return message
    return {**message, "createSurface": {**body, "catalogId": BASIC_CATALOG_1_0.id}}
