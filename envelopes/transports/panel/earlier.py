"""What a page does not draw at first: the blocks before its window, a page at a time (D58).

They lie in ``models.FrozenView``, as data: their HTML is made when somebody asks, so cards are drawn as they are now,
and a release may draw everything in another way. What is missing there is made again from the log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from a2ui import ops
from a2ui.ops import Op
from envelopes.models import Session
from envelopes.session_state import PresentedSession, frozen, live_sessions
from envelopes.transports.panel.presenter import window
from envelopes.transports.panel.presenter.model import Standing
from envelopes.transports.panel.presenter.panel import thread_of
from envelopes.transports.panel.presenter.window import Lost
from envelopes.transports.panel.transport import PANEL

T = TypeVar("T")


def blocks(shown: PresentedSession, first: int, last: int) -> Mapping[int, Standing]:
    """The blocks from number ``first`` to ``last`` that have left the window. Raises ``Lost``."""
    if first > last:
        return {}
    stored = frozen.load(shown.state.session_pk, PANEL, first, last)
    return window.thaw(thread_of(shown).model, first, last, stored)


def more(shown: PresentedSession, *, before: int, at: int) -> Mapping[int, Standing]:
    """The page above block ``before``, or else what is around block ``at``; nothing for 0 or what is not there. Raises
    ``Lost``."""
    model = thread_of(shown).model
    if before:
        above = max((number for number in model.held if number < before), default=0)
        return blocks(shown, *window.page_before(model, above, before))
    return blocks(shown, *window.page_around(model, at)) if 0 < at <= model.left else {}


def page(shown: PresentedSession, after: int, before: int, name: int) -> list[Op]:
    """Operations that put the page above block ``before`` in the place of the lower end of the gap that begins after
    block ``after``, and what follows that block in the place of its upper end: people read on from there too.
    ``name``: after which block it began at first, as its DOM id says. Raises ``Lost``."""
    thread = thread_of(shown)
    first, last = window.page_before(thread.model, after, before)
    upto = min(after + window.PAGE // 2, first - 1) if after else 0
    gap, made = f"g{name}", list[Op]()
    found = blocks(shown, first, last)
    if found:
        made.append(ops.insert(gap, "afterend", thread.html_of(shown.state.surfaces, found)))
    if next_ones := blocks(shown, after + 1, upto):
        made.append(ops.insert(gap, "beforebegin", thread.html_of(shown.state.surfaces, next_ones)))
    if max(after, upto) + 1 < first <= last:
        follows = found[min(found)].id if found else ""
        made.append(ops.replace(gap, thread.gap(max(after, upto), first, follows, name)))
    else:
        made.append(ops.remove(gap))
    return made


def with_rebuilt(session: Session, ask: Callable[[], T]) -> T:
    """What ``ask`` returns; where it raises ``Lost``, after making everything again that was frozen."""
    try:
        return ask()
    except Lost:
        forget(session)
        return ask()


def forget(session: Session) -> None:
    """Let everything that is frozen be made again, from the first row on, by who asks for the session next."""
    live_sessions.forget_stored(session, PANEL)
