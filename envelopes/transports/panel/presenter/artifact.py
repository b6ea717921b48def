"""Files and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from babel.numbers import format_decimal
from django.utils.translation import gettext as _

from a2ui.safety.urls import safe_image, safe_open
from envelopes.markup.html import NOTHING, SafeString, html, icon, text
from envelopes.part_types.artifact import ARTIFACT
from envelopes.protocol.file_names import file_name
from envelopes.protocol.text import is_blank
from envelopes.transports.panel.presenter.part_view import PartView, RenderContext, stored
from envelopes.types import JsonObject

if TYPE_CHECKING:
    from envelopes.transports.panel.presenter.row import RowContext

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
    kind = ARTIFACT.name

    data: JsonObject

    def html(self, render: RenderContext) -> SafeString:
        given = str(self.data.get("name") or "")
        # As it will be called once it is saved.
        name = text(_("File") if is_blank(given) else file_name(given))
        mime = str(self.data.get("mimeType") or "")
        meta = text(", ".join(piece for piece in (_kind(mime), self._size(render)) if piece))
        url = self.data.get("url")
        picture = safe_image(url, render.page.image_hosts) if mime.startswith("image/") else None
        link = _own_path(url) or safe_open(url)
        if mime.startswith("image/"):
            return self._image(name, meta, picture, link)
        return html(
            '<div class="b-file" id="{}"><span class="b-file__icon">{}</span><span>'
            '<span class="b-file__name" dir="auto" title="{}">{}</span>'
            '<span class="b-file__meta">{}</span></span>{}</div>',
            self.id,
            icon("file"),
            name,
            name,
            meta,
            _save(link, name),
        )

    def _image(self, name: SafeString, meta: SafeString, picture: str | None, link: str | None) -> SafeString:
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
            '<figure class="b-image" id="{}"><div class="b-image__box"><img src="{}" alt="{}" loading="lazy"></div>'
            '<figcaption><span><b dir="auto">{}</b>{}</span>{}</figcaption></figure>',
            self.id,
            picture,
            name,
            name,
            meta,
            _save(link, name),
        )

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


def keep(context: RowContext) -> None:
    """An artifact part. One with the same id redraws it: an artifact grows until it is finished."""
    artifact_id = str(context.data.get("artifactId") or "")
    known = context.model.find(context.turn.files.get(artifact_id), ArtifactView)
    if known is not None:
        known.data = {**known.data, **context.data}
        context.model.touch(known)
        return
    artifact = ArtifactView(context.new_id(), context.data)
    context.turn.files[artifact_id] = artifact.id
    context.model.add(context.segment(), artifact)
