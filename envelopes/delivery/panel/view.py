"""A view: one thing on the page with an id of its own, drawn from plain data that can be stored."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar, Self

from django.utils.translation import gettext as _

from envelopes.delivery.panel.context import ThreadContext
from envelopes.delivery.panel.markup import SafeString, html
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

Draw = Callable[[str, str], str]
"""The HTML of a live surface, by owner and surface id."""


@dataclass(frozen=True)
class Brush:
    """What drawing needs besides the view itself."""

    context: ThreadContext
    draw: Draw


@dataclass
class View:
    """Fields hold JSON values only, so that ``dump`` and ``load`` are exact.

    ``id`` is the DOM id. It comes from the number of the row that made the view, so each process and each replay gives
    the same one.
    """

    kind: ClassVar[str] = ""
    kinds: ClassVar[dict[str, type[View]]] = {}

    id: str

    def __init_subclass__(cls) -> None:
        View.kinds[cls.kind] = cls

    def html(self, brush: Brush) -> SafeString:
        raise NotImplementedError

    def drawn(self, brush: Brush) -> SafeString:
        """``html``, or a line that says there is none: one view that fails must not take the conversation with it."""
        try:
            return self.html(brush)
        except Exception:
            logger.exception("The %s %s of session %s fails.", self.kind, self.id, brush.context.session_id)
            return html('<p class="b-cut" id="{}">{}</p>', self.id, _("This cannot be shown."))

    def dump(self) -> JsonObject:
        return {"kind": self.kind, **{field.name: getattr(self, field.name) for field in fields(self)}}

    @classmethod
    def load(cls, data: JsonObject) -> Self:
        return cls(**{name: value for name, value in data.items() if name != "kind"})


def load(data: JsonObject) -> View:
    """The view that ``View.dump`` described."""
    return View.kinds[data["kind"]].load(data)
