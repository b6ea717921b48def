"""The generic view of any JSON: for data that no card shows, and for part types without a drawing of their own."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from a2ui.safety.text import to_text
from envelopes.markup.html import NOTHING, SafeString, html, icon, join, text, trusted
from envelopes.protocol.text import shorten
from envelopes.transports.panel.presenter.citations import Marked, Marks
from envelopes.transports.panel.presenter.part_view import RenderContext, stored
from envelopes.transports.panel.presenter.surface import frame, shown
from envelopes.types import Json, JsonObject

if TYPE_CHECKING:
    from envelopes.transports.panel.presenter.row import RowContext

DEPTH = 3
ITEMS = 50
COLUMNS = 8
VALUES = 600
CHARACTERS = 400
LONGEST = 20_000


@stored
@dataclass
class DataCard(Marked):
    """``strange``: the name of a part type without a drawing of its own; ``words``: its text. ``slot``: what the data
    is about; ``cites``: the marks of sources at its values (``citations.bind``)."""

    kind = "data"

    actor: str
    at: str
    data: Json = None
    strange: str = ""
    words: str = ""
    slot: str = ""
    cites: list[JsonObject] = field(default_factory=list)

    def html(self, render: RenderContext) -> SafeString:
        pieces = []
        if self.strange:
            told = _("This page can’t display this kind of content ({}). Here is what was sent.").format(
                self.strange
            )
            pieces.append(html('<p class="a2-text">{}</p>', text(told)))
        if self.words:
            pieces.append(html('<p dir="auto">{}</p>', text(self.words)))
        if self.data is not None:
            pieces.append(Sheet(Marks(self.cites)).value(self.data, 0))
        body = html('<div class="a2-col">{}</div>', join(pieces))
        return frame(self, render, self.actor, note=shown(render, self.at), body=body, data=True)


class Sheet:
    """Draws one value within a budget, so that no data of an agent makes a page of a million cells."""

    def __init__(self, marks: Marks | None = None) -> None:
        self.left = VALUES
        self.marks = marks or Marks()

    def value(self, value: Json, depth: int, at: tuple[str, ...] = ()) -> SafeString:
        """``at``: where it stands in the data, as the steps of a JSON Pointer."""
        self.left -= 1
        drawn = self._drawn(value, depth, at)
        # Marks of what is below and was not drawn by itself stand at the end of what holds it.
        return html("{}{}", drawn, self.marks.take(at, below=True))

    def _drawn(self, value: Json, depth: int, at: tuple[str, ...]) -> SafeString:
        if isinstance(value, dict) and value:
            return self._json(value) if depth >= DEPTH else self._fields(value, depth, at)
        if isinstance(value, list) and value:
            return self._json(value) if depth >= DEPTH else self._list(value, depth, at)
        return self._scalar(value)

    def _scalar(self, value: Json) -> SafeString:
        if value is None or value in ("", [], {}):
            return html('<span class="is-none">{}</span>', _("Not given"))
        if isinstance(value, bool):
            return html("{}", _("Yes") if value else _("No"))
        return _long(to_text(value))

    def _fields(self, value: dict[str, Any], depth: int, at: tuple[str, ...]) -> SafeString:
        shown = list(value.items())[:ITEMS]
        rows = []
        for key, item in shown:
            if self.left <= 0:
                break
            rows.append(
                html(
                    "<div><dt><bdi>{}</bdi></dt><dd>{}</dd></div>",
                    text(key),
                    self.value(item, depth + 1, (*at, key)),
                )
            )
        return html('<dl class="a2-data">{}</dl>{}', join(rows), self._rest(len(rows), len(value)))

    def _list(self, value: list[Any], depth: int, at: tuple[str, ...]) -> SafeString:
        columns = _columns(value)
        rows = []
        for number, item in enumerate(value[:ITEMS]):
            if self.left <= 0:
                break
            here = (*at, str(number))
            if columns:
                cells = (
                    html("<td{}>{}</td>", columns[name], self.value(item.get(name), DEPTH, (*here, name)))
                    for name in columns
                )
                rows.append(html("<tr>{}</tr>", join(cells)))
            else:
                rows.append(html("<li>{}</li>", self.value(item, depth + 1, here)))
        rest = self._rest(len(rows), len(value))
        if not columns:
            return html('<ul class="b-values" role="list">{}</ul>{}', join(rows), rest)
        heads = join(
            html('<th scope="col"{}><bdi>{}</bdi></th>', columns[name], text(name)) for name in columns
        )
        return html(
            '<div class="a2-tablewrap" tabindex="0" role="group" aria-label="{}"><table class="a2-table">'
            "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>{}",
            _("Table"),
            heads,
            join(rows),
            rest,
        )

    def _json(self, value: Json) -> SafeString:
        try:
            written = json.dumps(value, ensure_ascii=False)
        except (ValueError, RecursionError):
            written = "…"
        return html("<code>{}</code>", _long(written))

    def _rest(self, shown: int, there: int) -> SafeString:
        if shown >= there:
            return NOTHING
        told = ngettext("Showing the first {} of {} entry.", "Showing the first {} of {} entries.", there)
        return html('<p class="b-cut">{}</p>', told.format(shown, there))


def _columns(value: list[Any]) -> dict[str, SafeString]:
    """Column names with their attributes when the list reads best as a table: objects that share few keys."""
    names: dict[str, None] = {}
    for item in value:
        if not isinstance(item, dict) or not item:
            return {}
        names.update(dict.fromkeys(item))
        if len(names) > COLUMNS:
            return {}
    return {name: _aligned([item.get(name) for item in value]) for name in names}


def _aligned(column: list[Any]) -> SafeString:
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in column)
    return trusted(' class="is-num"') if numbers else NOTHING


def _long(value: str) -> SafeString:
    """Text as it is; long text folded, with its length; endless text cut, which is said (R6)."""
    if len(value) <= CHARACTERS:
        return html("<bdi>{}</bdi>", text(value))
    size = ngettext("{} character", "{} characters", len(value)).format(len(value))
    notice: object = ""
    if len(value) > LONGEST:
        told = _("Showing the first {} of {} characters.").format(LONGEST, len(value))
        notice = html('<p class="b-cut">{}</p>', told)
    return html(
        '<details class="b-fold"><summary>{}<span class="b-fold__peek" dir="auto">{}</span>'
        '<span class="b-fold__size">{}</span><span class="b-fold__more">{}</span><span class="b-fold__less">{}</span>'
        "</summary>"
        '<p dir="auto" tabindex="0">{}</p>{}</details>',
        icon("right", "b-icon--flip"),
        text(shorten(value[: CHARACTERS * 2], 72)),
        size,
        _("All {}").format(size),
        _("Fold"),
        text(value[:LONGEST]),
        notice,
    )


def show_unknown(context: RowContext) -> None:
    """A part of a registered type without a drawing: readable all the same, never lost."""
    data = context.part.get("data")
    if (earlier := context.continued(DataCard)) is not None:
        earlier.words += context.words
        earlier.data = earlier.data if data is None else data
        context.model.touch(earlier)
        return
    if data is None and not context.words.strip():
        return
    card = DataCard(
        context.new_id(), context.row.actor, context.at, data, context.row.part_type, context.words
    )
    context.model.add(context.segment(), card)
    context.remember(card)
