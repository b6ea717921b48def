"""Files and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from babel.numbers import format_decimal
from django.utils.translation import gettext as _

from a2ui.safety.urls import safe_image, safe_open
from envelopes.markup.html import NOTHING, SafeString, html, icon, text
from envelopes.part_types.artifact import ARTIFACT, is_whole
from envelopes.protocol.file_names import file_name
from envelopes.protocol.text import is_blank
from envelopes.transports.panel.presenter.part_view import Key, PartView, RenderContext, stored
from envelopes.types import JsonObject

if TYPE_CHECKING:
    from envelopes.transports.panel.presenter.row import RowContext

GROWING, STOPPED = "growing", "stopped"

_UNITS = ("byte", "kB", "MB", "GB")
_KINDS = {
    "application/json": "JSON",
    "application/pdf": "PDF",
    "application/zip": "ZIP",
    "text/csv": "CSV",
    "text/plain": "Text",
}


@stored
@dataclass
class ArtifactView(PartView):
    """``state``: of a file that is written piece by piece, while more may come, or its turn ended before all had; else
    "". What is written to it then makes it grow again."""

    kind = ARTIFACT.name

    data: JsonObject
    state: str = ""

    @property
    def settled(self) -> bool:
        return self.state != GROWING

    def keys(self) -> tuple[Key, ...]:
        return (_growing(str(self.data.get("artifactId"))),) if self.state else ()

    def html(self, render: RenderContext) -> SafeString:
        given = str(self.data.get("name") or "")
        # As it will be called once it is saved.
        name = text(_("File") if is_blank(given) else file_name(given))
        mime = str(self.data.get("mimeType") or "")
        meta = text(", ".join(piece for piece in (_kind(mime), self._size(render)) if piece))
        url = self.data.get("url")
        own = _own_path(url)
        link = own or safe_open(url)
        # One of ours is a picture where it was found to be one; of other hosts nothing is known.
        if mime.startswith("image/") and (own is None or self.data.get("width")):
            return self._image(name, meta, safe_image(url, render.page.image_hosts), link)
        return html(
            '<div class="b-file" id="{}"{}><span class="b-file__icon">{}</span><span>'
            '<span class="b-file__name" dir="auto" title="{}">{}</span>'
            '<span class="b-file__meta">{}</span></span>{}</div>',
            self.id,
            html(' data-state="{}"', self.state) if self.state else "",
            icon("file"),
            name,
            name,
            self._told(meta),
            _save(link, name) if not self.state else "",
        )

    def _told(self, meta: SafeString) -> SafeString:
        if self.state == GROWING:
            return html(_("{} · still being written"), meta)
        return html(_("{} · not finished"), meta) if self.state else meta

    def _image(self, name: SafeString, meta: SafeString, picture: str | None, link: str | None) -> SafeString:
        alt = text(self.data.get("alt") or name)
        if picture is None:
            told = _("No picture yet.")
            if self.data.get("url"):
                told = _("Pictures from this site aren’t loaded.")
            return html(
                '<figure class="b-image" id="{}"><div class="b-image__box"><div class="b-image__none">{}'
                "<span><bdi>{}</bdi>. {}</span></div></div></figure>",
                self.id,
                icon("image", "b-icon--l"),
                name,
                told,
            )
        return html(
            '<figure class="b-image" id="{}"><div class="b-image__box"><img src="{}" alt="{}"{} loading="lazy"></div>'
            '<figcaption><span><b dir="auto">{}</b>{}</span>{}</figcaption></figure>',
            self.id,
            # Another address once the bytes are others: what a browser shows under one does not change.
            picture if self.data.get("sha256") is None else f"{picture}?v={str(self.data['sha256'])[:16]}",
            alt,
            self._dimensions(),
            name,
            meta,
            _save(link, name),
        )

    def _dimensions(self) -> SafeString:
        """So that nothing moves once it is there."""
        width, height = self.data.get("width"), self.data.get("height")
        if not (isinstance(width, int) and isinstance(height, int)):
            return NOTHING
        return html(' width="{}" height="{}"', width, height)

    def _size(self, render: RenderContext) -> str:
        size = self.data.get("sizeBytes")
        if isinstance(size, bool) or not isinstance(size, (int, float)) or size < 0:
            return ""
        try:
            amount, unit = float(size), 0
        except OverflowError:
            return ""
        while amount >= 1000 and unit < len(_UNITS) - 1:
            amount, unit = amount / 1000, unit + 1
        pattern = "#,##0.#" if unit and amount < 10 else "#,##0"
        number = format_decimal(amount, format=pattern, locale=render.page.babel)
        return f"{number} {_('bytes') if unit == 0 else _UNITS[unit]}"


def _save(link: str | None, name: SafeString) -> SafeString:
    if link is None:
        return NOTHING
    return html(
        '<a class="b-iconbtn" href="{}" download rel="noopener noreferrer" aria-label="{}">{}</a>',
        link,
        html(_("Download {}"), name),
        icon("save"),
    )


def _kind(mime: str) -> str:
    """What a person calls it: the short name of a common type, else the subtype."""
    return _KINDS.get(mime) or mime.rpartition("/")[2].partition("+")[0].partition(";")[0].upper()[:12]


def _own_path(url: object) -> str | None:
    """A path of this site: where the runtime serves its own artifacts, with its own check of who may read them."""
    path = safe_image(url, frozenset())
    return path if path is not None and path.startswith("/") else None


def _growing(artifact_id: str) -> Key:
    return ("file", artifact_id)


def keep(context: RowContext) -> None:
    """An artifact part. One with the same id redraws it: an artifact grows until it is finished."""
    data, artifact_id = context.data, str(context.data.get("artifactId") or "")
    state = "" if is_whole(data) else GROWING
    known = context.model.find(context.turn.files.get(artifact_id), ArtifactView)
    cards = [known] if known is not None else []
    if "append" in data:
        # A write, which any card follows that waits for one. Shown anew, in a later turn, a file gets a card there.
        cards += [
            card for card in context.model.found(_growing(artifact_id), ArtifactView) if card is not known
        ]
    for card in cards:
        card.data, card.state = {**card.data, **data}, state
        context.model.touch(card)
    if cards:
        return
    artifact = ArtifactView(context.new_id(), data, state)
    context.turn.files[artifact_id] = artifact.id
    context.model.add(context.segment(), artifact)


def end(context: RowContext, turn: int) -> None:
    """The turn is over: files that it was writing are as far as they have come."""
    for card in context.model.of_turn(turn, ArtifactView):
        if card.state == GROWING:
            card.state = STOPPED
            context.model.touch(card)
