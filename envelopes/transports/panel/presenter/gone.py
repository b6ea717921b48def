"""Views from a snapshot, also of kinds that nobody knows any more."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from envelopes.markup.html import SafeString, html, text
from envelopes.transports.panel.presenter.data import Sheet
from envelopes.transports.panel.presenter.part_view import PartView, RenderContext, kinds
from envelopes.types import JsonObject


@dataclass
class UnknownView(PartView):
    """Stands for a view whose code is gone: readable, and kept as it was for the day on which the code is back."""

    kind = "gone"

    data: JsonObject

    @property
    def seq(self) -> int:
        """The row that began it, where it is a block."""
        return int(self.data.get("seq", 0))

    def html(self, render: RenderContext) -> SafeString:
        told = _("This page can’t display this kind of content ({}). Here is what was sent.").format(
            self.data.get("kind")
        )
        fields = {name: value for name, value in self.data.items() if name not in ("kind", "id")}
        return html(
            '<div class="b-card" id="{}"><p class="a2-text">{}</p>{}</div>',
            self.id,
            text(told),
            Sheet().value(fields, 0),
        )

    def dump(self) -> JsonObject:
        return self.data


def can_be_read(view: PartView) -> bool:
    """Whether ``load`` makes this view of what it was stored as."""
    return kinds.get(view.kind) is type(view)


def load(data: JsonObject) -> PartView:
    """The view that ``PartView.dump`` described."""
    kind = kinds.get(data["kind"])
    return kind.load(data) if kind is not None else UnknownView(data["id"], data)
