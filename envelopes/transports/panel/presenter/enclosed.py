"""What came with a person's message: files and data, inside of its bubble."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from envelopes.markup.html import SafeString, html, join, text
from envelopes.part_types.artifact import ARTIFACT
from envelopes.registries.part_types import part_types
from envelopes.transports.panel.presenter.artifact import ArtifactView
from envelopes.transports.panel.presenter.data import Sheet
from envelopes.transports.panel.presenter.part_view import PartView, RenderContext, stored
from envelopes.transports.panel.reader import gets
from envelopes.types import Json

if TYPE_CHECKING:
    from envelopes.transports.panel.presenter.row import RowContext


@stored
@dataclass
class Enclosed(PartView):
    """Anything but a file. Not the card that an agent's data stands in: that one says which agent it is from."""

    kind = "enclosed"

    words: str = ""
    data: Json = None

    def html(self, render: RenderContext) -> SafeString:
        pieces = [html('<p dir="auto">{}</p>', text(self.words))] if self.words else []
        if self.data is not None:
            pieces.append(Sheet().value(self.data, 0))
        return html(
            '<div class="b-me__data a2-col" id="{}" role="group" aria-label="{}">{}</div>',
            self.id,
            _("Sent with the message"),
            join(pieces),
        )


def enclosed(context: RowContext) -> Iterator[PartView]:
    """The views of the parts of a message row, in their order. As everywhere, the rules say what a reader gets."""
    for part in context.row.data.get("parts") or ():
        kind = part_types.get(part["metadata"]["partType"])
        if kind is None or not gets(kind):
            continue
        words, data = str(part.get("text") or "").strip(), part.get("data")
        if kind.name == ARTIFACT.name and isinstance(data, dict):
            yield ArtifactView(context.new_id(), data)
        elif words or data is not None:
            yield Enclosed(context.new_id(), words, data)
