"""The operations that bring a page up to date (D41), as lists ready for JSON: a letter, and what it is about.

Nobody else writes the letters. Pages read them in `static/client/ops.js`.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Op: TypeAlias = list[str]
"""One operation."""

Side: TypeAlias = Literal["beforebegin", "afterbegin", "beforeend", "afterend"]
"""Of an element, as for `insertAdjacentElement`."""


def replace(dom_id: str, html: str) -> Op:
    """The element becomes `html`."""
    return ["r", dom_id, html]


def text(dom_id: str, words: str) -> Op:
    """All that the element holds becomes `words`."""
    return ["t", dom_id, words]


def insert(ref: str, side: Side, html: str) -> Op:
    """`html` comes to this side of the element `ref`."""
    return ["i", ref, side, html]


def move(dom_id: str, after: str, parent: str) -> Op:
    """The element goes right after another one, or to the front of `parent` where that is ""."""
    return ["m", dom_id, after or f"^{parent}"]


def remove(dom_id: str) -> Op:
    """The element goes."""
    return ["d", dom_id]


def morph(dom_id: str, html: str) -> Op:
    """The element becomes `html` through htmx, which keeps what somebody is typing inside of it."""
    return ["x", f'<hx-partial hx-target="#{dom_id}" hx-swap="outerMorph">{html}</hx-partial>']
