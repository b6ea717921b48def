"""How long the HTML of a surface may be: one that would be longer is drawn as far as there is room, with a notice in
the place.

What is left out is a function of the surface alone, so that every page shows the same, whatever came before. That takes
a drawing for each change, so it is only done to what is too long.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from a2ui.errors import LimitError
from a2ui.ops import Op
from a2ui.rendering.place import Place, Render
from a2ui.rendering.placeholders import oversized
from a2ui.state.components import ROOT

if TYPE_CHECKING:
    from a2ui.rendering.view import View

_CLOSING = 10
"""One part in so many of the limit is kept for closing what is open where a drawing stops."""
_TRIES = 3
"""Drawings to find out how much room that takes."""
_ESCAPED = 6
"""Most characters of HTML that one character becomes."""


def draw_whole(view: View) -> str:
    """The HTML of the compiled root, with a notice where it would be longer than the limit."""
    root, limit = view.compiled(), view.options.limits.surface_chars
    if view.chars > limit:
        # Most likely it is too long, and then nobody has to make all of it to know.
        _measured(view, root, limit)
    html = "" if view.left_out else _plain(view, root)
    view.oversized = bool(view.left_out) or len(html) > limit
    if view.oversized:
        html = _fitting(view, root, limit)
        message = f"A surface has at most {limit} characters of HTML; the rest is left out. Send less."
        view.report(LimitError(message, limit="surface_chars", allowed=limit), ROOT)
    view.chars = limit + 1 if view.oversized else len(html)
    view.spent_drawing = view.spent
    return html


def _fitting(view: View, root: Place, limit: int) -> str:
    """The notice in the place from which on it would be too long, and all before."""
    most = limit - limit // _CLOSING
    for _ in range(_TRIES):
        html = _measured(view, root, most)
        if len(html) <= limit:
            return html
        # What is open has a lot of markup of its own.
        most -= len(html) - limit
    view.left_out = {(root, "")}
    return oversized(root.prefix)


def outgrown(view: View, ops: list[Op]) -> bool:
    """Counts what is sent to pages. Whether they have to be sent the whole instead: there is more on them than may be,
    or nobody could tell that there is not."""
    chars = view.chars
    for op in ops:
        chars += _ESCAPED * len(op[2]) if op[0] == "t" else len(op[-1])
    view.chars = chars
    limits = view.options.limits
    if chars <= limits.surface_chars and 2 * view.spent <= view.spent_drawing + limits.html_chars:
        return False
    # What was replaced has been counted too: only a drawing tells what is there now. For long texts that is found out
    # before any of them is cut for it.
    spent, work = view.spent > limits.html_chars, view.compiler.work
    draw_whole(view)
    # A drawing that cannot afford all that was sent bit by bit is shorter than what pages have.
    return spent or view.oversized or work.marks > limits.markdown_work or work.used > work.allowed


def _plain(view: View, root: Place) -> str:
    """All of it."""
    view.oversized = False
    view.begin()
    html = root.render(view.source.now, "")
    if view.listing.offer_less():
        view.begin()
        html = root.render(view.source.now, "")
    return html


def _measured(view: View, root: Place, most: int) -> str:
    """As far as there is room. Lists offer no more then."""
    view.oversized = True
    view.measure = measure = Measure(most)
    view.begin()
    try:
        html = measure.draw(root, view.source.now)
    finally:
        view.measure = None
    view.left_out = frozenset(measure.left_out)
    return html


class Measure:
    """One drawing that stops at so many characters.

    What is around the place where it stops is closed, and its further children are left out too; so the result is a
    little longer than `most`.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._chars = 0
        self._depth = 0
        self._noticed: set[int] = set()
        """Levels at which something was left out; deeper ones are done by then."""
        self._plain: list[tuple[Place, Render]] = []
        self.left_out: set[tuple[Place, str]] = set()
        """Places and contexts of what is not shown, without what is inside of it."""

    def draw(self, root: Place, scope: Any) -> str:
        """The HTML of the root. While it runs, `wrap` has to be told of new places."""
        self.wrap(root)
        try:
            return root.render(scope, "")
        finally:
            for place, render in self._plain:
                place.render = render

    def wrap(self, top: Place) -> None:
        """Makes a place and everything below it count what it renders."""
        waiting = [top]
        while waiting:
            place = waiting.pop()
            waiting += place.children.values()
            if place.slot is not None and place.slot.item is not None:
                waiting.append(place.slot.item)
            self._plain.append((place, place.render))
            place.render = partial(self._render, place, place.render)

    def _render(self, place: Place, render: Render, scope: Any, context: str) -> str:
        if self.left_out:
            return self._leave_out(place, context)
        before, self._depth = self._chars, self._depth + 1
        try:
            html = render(scope, context)
        finally:
            self._depth -= 1
            self._chars = before
        self._chars = before + len(html)
        if self._chars <= self._most or self.left_out:
            return html
        self._chars = before
        return self._leave_out(place, context)

    def _leave_out(self, place: Place, context: str) -> str:
        """The notice, once for all children of an element."""
        self.left_out.add((place, context + place.own))
        if self._depth in self._noticed:
            return ""
        self._noticed.add(self._depth)
        return oversized(place.prefix + context + place.own, place.placement)
