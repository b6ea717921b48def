"""A view: one thing on the page with an id of its own, drawn from plain data that can be stored."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar, Self, TypeAlias, TypeVar

from django.utils.translation import gettext as _

from envelopes.errors import RegistrationError
from envelopes.markup.context import PageContext
from envelopes.markup.html import SafeString, html
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

Draw = Callable[[str, str], str]
"""The HTML of a live surface, by owner and surface id."""

Key: TypeAlias = tuple[str, ...]
"""By what later rows look a view up."""


@dataclass(frozen=True)
class RenderContext:
    """What drawing needs besides the view itself."""

    page: PageContext
    draw: Draw


@dataclass(slots=True)
class PartView:
    """Fields hold JSON values only, so that ``dump`` and ``load`` are exact. A kind that snapshots hold is declared
    with ``@stored``.

    ``id`` is the DOM id. It comes from the number of the row that made the view, so each process and each replay gives
    the same one.
    """

    kind: ClassVar[str] = ""

    id: str

    @property
    def fixed(self) -> bool:
        """Whether nothing but its fields decides how it looks, so that what was drawn stands until they change."""
        return True

    @property
    def settled(self) -> bool:
        """Whether no row changes it any more once its turn has settled."""
        return True

    def keys(self) -> tuple[Key, ...]:
        """By what later rows may look for it, as its fields are now."""
        return ()

    def html(self, render: RenderContext) -> SafeString:
        raise NotImplementedError

    def drawn(self, render: RenderContext) -> SafeString:
        """``html``, or a line that says there is none: one view that fails must not take the conversation with it."""
        try:
            return self.html(render)
        except Exception:
            logger.exception("The %s %s of session %s fails.", self.kind, self.id, render.page.session_id)
            return html('<p class="b-cut" id="{}">{}</p>', self.id, _("This cannot be shown."))

    def dump(self) -> JsonObject:
        return {"kind": self.kind, **{field.name: getattr(self, field.name) for field in fields(self)}}

    @classmethod
    def load(cls, data: JsonObject) -> Self:
        return cls.of_fields(data)

    @classmethod
    def of_fields(cls, data: JsonObject) -> Self:
        """What ``load`` makes of data that is as ``dump`` gives it: for a kind that has to read some of it first."""
        return cls(**{name: value for name, value in data.items() if name != "kind"})


V = TypeVar("V", bound=type[PartView])

kinds: dict[str, type[PartView]] = {}
"""What ``stored`` has declared."""


def stored(cls: V) -> V:
    """Declares a kind of view. Raises ``RegistrationError`` for one without a name, or with the name of another: what a
    snapshot holds would come back as something else."""
    known = kinds.setdefault(cls.kind, cls) if cls.kind else PartView
    if known is not cls:
        raise RegistrationError(
            f"The view {cls.__qualname__} needs a kind of its own; {cls.kind!r} is that of {known.__qualname__}.",
            name=cls.kind,
        )
    return cls
