"""Parts of an application: drawn by the template that their type names, within the box of a card."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.template.loader import render_to_string

from a2ui.safety.text import clean_text
from envelopes.markup.html import NOTHING, SafeString, html, trusted
from envelopes.protocol.parts import continued
from envelopes.registries.part_types import PartType, part_types
from envelopes.transports.panel.presenter.data import DataCard
from envelopes.transports.panel.presenter.part_view import PartView, RenderContext, stored
from envelopes.transports.panel.presenter.surface import frame, shown
from envelopes.types import JsonObject

if TYPE_CHECKING:
    from envelopes.transports.panel.presenter.row import RowContext

logger = logging.getLogger(__name__)


@stored
@dataclass
class TemplateCard(PartView):
    """``part`` as it is in the log. Where its type, its template or its application is gone, or the template fails, it
    is drawn as data."""

    kind = "template"

    actor: str
    at: str
    part_type: str
    part: JsonObject

    def html(self, render: RenderContext) -> SafeString:
        kind = part_types.get(self.part_type)
        if kind is None or not (kind.template or kind.module):
            return self._as_data(render)
        try:
            body = self._body(kind, render)
        except Exception:
            logger.exception("The template of %s cannot be used.", self.part_type)
            return self._as_data(render)
        # Set as an answer is, for whatever brings no look of its own.
        body = html('<div class="b-prose">{}</div>', body)
        return frame(self, render, self.actor, note=shown(render, self.at), body=body)

    def _body(self, kind: PartType, render: RenderContext) -> SafeString:
        body = NOTHING
        if kind.template:
            given = {"part": self.part, "text": self.part.get("text", ""), "data": self.part.get("data")}
            # Escaped by the template, which is code of an application as its tools are.
            body = trusted(
                render_to_string(kind.template, {**given, "id": self.id, "locale": render.page.locale})
            )
        if not kind.module:
            return body
        part = json.dumps(self.part, ensure_ascii=False)
        return html('<{0} data-part="{1}">{2}</{0}>', trusted(element_of(kind.name)), part, body)

    def _as_data(self, render: RenderContext) -> SafeString:
        words = self.part.get("text")
        said = clean_text(words) if isinstance(words, str) else ""
        return DataCard(self.id, self.actor, self.at, self.part.get("data"), self.part_type, said).html(
            render
        )


def element_of(part_type: str) -> str:
    """The custom element that a module defines for parts of this type: ``acme-board`` for ``acme.board``."""
    return part_type.replace(".", "-").lower()


def show(context: RowContext) -> None:
    """A part of a type that brings a template or a module."""
    earlier = context.continued(TemplateCard)
    if earlier is not None:
        earlier.part = continued(earlier.part, context.part)
        context.model.touch(earlier)
        return
    card = TemplateCard(
        context.new_id(), context.row.actor, context.at, context.row.part_type, dict(context.part)
    )
    context.model.add(context.segment(), card)
    context.remember(card)
