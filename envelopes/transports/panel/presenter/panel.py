"""The thread as a presenter: rows in, frames for the page's socket out (D34, D41)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Self

import orjson
from django.conf import settings
from django.utils import translation

from envelopes.conf import conf
from envelopes.engine_settings import image_hosts
from envelopes.markup.context import PageContext
from envelopes.protocol.marks import mark_of
from envelopes.protocol.rows import LISTED, Row
from envelopes.registries.actors import actors
from envelopes.registries.transports import Drawn, Frozen, SessionFacts
from envelopes.transports.panel.presenter import window
from envelopes.transports.panel.presenter.thread import Thread
from envelopes.types import Json

if TYPE_CHECKING:
    from a2ui import SurfaceChange, SurfaceSet
    from envelopes.session_state import PresentedSession


@lru_cache(16)
def _named(names: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """One for all sessions, as long as the actors are the same."""
    return dict(names)


class PanelPresenter:
    """``{seq, mark, prev, ops, busy}`` for each row that shows something, and for each that begins or ends work."""

    def __init__(self, thread: Thread) -> None:
        self.thread = thread

    @classmethod
    def of(cls, facts: SessionFacts, snapshot: Json | None) -> Self:
        page = PageContext(
            session_id=facts.session_id,
            actors=_named(tuple((actor.name, actor.display_name) for actor in actors)),
            locale=facts.locale,
            timezone=facts.timezone,
            image_hosts=image_hosts(),
            debug=settings.DEBUG,
        )
        rows = conf.BEACH_WINDOW_ROWS
        return cls(Thread(page, rows) if snapshot is None else Thread.restore(page, snapshot, rows))

    @property
    def busy(self) -> bool:
        return self.thread.busy

    def apply(self, row: Row, changes: Sequence[SurfaceChange], prev: int) -> str | None:
        ops = self.thread.apply(row, changes)
        if not ops and row.kind not in LISTED:
            return None
        told = {"seq": row.seq, "mark": mark_of(row.at), "prev": prev, "ops": ops, "busy": self.busy}
        return orjson.dumps(told).decode()

    def place(self, turn: int) -> str | None:
        """The DOM id of the element that streamed text goes into."""
        return self.thread.container(turn)

    def drawn(self, surfaces: SurfaceSet) -> Sequence[Drawn]:
        with translation.override(self.thread.page.language):
            return list(window.pieces(self.thread.model, self.thread.rendering(surfaces), {}))

    def snapshot(self) -> Json:
        return self.thread.snapshot()

    @property
    def frozen(self) -> dict[tuple[int, str], Frozen]:
        return self.thread.model.frozen

    def forget_frozen(self, stored: Iterable[tuple[int, str]]) -> None:
        for key in stored:
            self.thread.model.frozen.pop(key, None)


def thread_of(shown: PresentedSession) -> Thread:
    presenter = shown.presenter
    if not isinstance(presenter, PanelPresenter):
        raise TypeError(f"{shown.transport.name} is not the panel.")
    return presenter.thread


def html_of(shown: PresentedSession) -> str:
    """The conversation as a page has it at first, to stand before the tail element."""
    return thread_of(shown).html(shown.state.surfaces)
