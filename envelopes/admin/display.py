"""How the admin shows what is stored: JSON folded and cut, states in words, links. Times are in ``times``.

Whatever people, models or tools wrote passes through ``reveal``: escaped, with hidden characters by their names.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db.models import Field, Model
from django.urls import get_script_prefix, get_urlconf, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from envelopes.desk.times import moment
from envelopes.markup.html import reveal
from envelopes.protocol.text import shorten
from envelopes.types import Json

JSON_CHARACTERS = 20_000
"""How much of one JSON value a page shows; the rest is a download, and the page says so."""

DASH = "\N{EN DASH}"

STATES = {
    "settled": "done",
    "succeeded": "done",
    "granted": "done",
    "complete": "done",
    "queued": "queued",
    "waiting": "running",
    "approved": "running",
    "requested": "queued",
    "error": "failed",
    "cancelled": "stopped",
    "suspended": "pending",
    "awaiting-approval": "pending",
}
"""The mark of a stored state; one that is not here is its own mark."""

LABELS = {
    "session": gettext_lazy("conversation"),
    "turn": gettext_lazy("answer"),
    "state": gettext_lazy("status"),
    "turn_state": gettext_lazy("turn state"),
    "actor": gettext_lazy("agent"),
    "seconds": gettext_lazy("took (seconds)"),
    "background": gettext_lazy("in the background"),
    "call_id": gettext_lazy("call ID"),
    "public_id": gettext_lazy("ID"),
    "artifact_id": gettext_lazy("ID"),
    "args": gettext_lazy("arguments"),
    "created_at": gettext_lazy("created"),
    "updated_at": gettext_lazy("changed"),
    "claimed_at": gettext_lazy("taken up"),
    "finished_at": gettext_lazy("ended"),
    "settled_at": gettext_lazy("ended"),
    "lease_owner": gettext_lazy("held by"),
    "lease_until": gettext_lazy("held until"),
    "finalized_by": gettext_lazy("outcome"),
    "due_at": gettext_lazy("due"),
    "mime_type": gettext_lazy("type"),
}
"""What the pages of single rows call stored fields whose names do not say it."""

WORDS = {
    "suspended": gettext_lazy("Waiting for approval"),
    "awaiting-approval": gettext_lazy("Waiting for approval"),
    "waiting": gettext_lazy("Working in the background"),
    "unknown": gettext_lazy("Outcome unknown"),
    "complete": gettext_lazy("Answered"),
    "passed": gettext_lazy("Passed on"),
    "clarifying": gettext_lazy("Asked a question"),
    "cancelled": gettext_lazy("Stopped"),
    "timeout": gettext_lazy("Took too long"),
}
"""What people call a stored state; one that is not here is called what it is."""


def state_words(state: str) -> str:
    return str(WORDS.get(state) or state.replace("-", " ").capitalize())


def pretty(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def size(characters: int) -> str:
    return ngettext("{} character", "{} characters", characters).format(f"{characters:,}")


def folded(value: Json, *, raw: str = "", limit: int = JSON_CHARACTERS, label: str = "") -> SafeString:
    """A JSON value behind a line that tells its size. ``raw`` is where all of it can be had."""
    if value is None or value in ({}, [], ""):
        return format_html('<span class="adm-none">{}</span>', DASH)
    text = pretty(value)
    notice: SafeString | str = ""
    if len(text) > limit:
        told = _("Showing the first {} of {}.").format(f"{limit:,}", size(len(text)))
        more = format_html(' <a href="{}">{}</a>', raw, _("Download everything")) if raw else ""
        notice = format_html('<p class="adm-cut">{}{}</p>', told, more)
    return format_html(
        '<details class="adm-json"><summary>{} <small>{}</small></summary><pre dir="ltr" tabindex="0">{}</pre>{}'
        "</details>",
        label or reveal(shorten(text[:400], 60)),
        size(len(text)),
        reveal(text[:limit], blanks=False),
        notice,
    )


def folded_field(name: str) -> Callable[[Model], SafeString]:
    """A read-only form field that shows the JSON field ``name``."""

    def show(obj: Model) -> SafeString:
        return folded(getattr(obj, name), raw=raw_url(obj, name))

    shown_field(show, name)
    show.__name__ = f"{name}_json"
    return show


def text_field(name: str) -> Callable[[Model], SafeString | str]:
    """A read-only form field for text that anybody may have written."""

    def show(obj: Model) -> SafeString | str:
        return reveal(str(getattr(obj, name) or "")) or DASH

    return shown_field(show, name)


def shown_field(show: Callable[[Model], Any], name: str) -> Callable[[Model], Any]:
    show.__name__ = name
    show.short_description = LABELS.get(name, name.replace("_", " "))  # type: ignore[attr-defined]
    return show


def stored_field(field: Field[Any, Any]) -> Callable[[Model], Any]:
    """A read-only form field for a stored one, as the desk writes times, states and yes or no."""
    name = field.name

    def show(obj: Model) -> SafeString | str:
        value = getattr(obj, name)
        if value in (None, "", [], {}):
            return DASH
        if isinstance(value, list | dict):
            return folded(value)
        if isinstance(value, datetime):
            return moment(value)
        if isinstance(value, bool):
            return _("Yes") if value else _("No")
        if isinstance(value, float):
            return f"{value:g}"
        return state_mark(value) if name in ("state", "status") else reveal(str(value))

    return shown_field(show, name)


def listed_field(field: Field[Any, Any]) -> Callable[[Model], SafeString | str]:
    """A column for a stored text, or for the name of a row that is pointed to."""
    name = field.name

    def show(obj: Model) -> SafeString | str:
        value = getattr(obj, name)
        return DASH if value in (None, "") else reveal(str(value))

    shown = shown_field(show, name)
    shown.short_description = field.verbose_name  # type: ignore[attr-defined]
    shown.admin_order_field = name  # type: ignore[attr-defined]
    return shown


def linked_field(name: str, *, linked: bool) -> Callable[[Model], SafeString | str]:
    """A read-only form field for a foreign key: the row by name with a link, or its number alone."""

    def show(obj: Model) -> SafeString | str:
        if not linked:
            key = getattr(obj, f"{name}_id")
            return DASH if key is None else f"#{key}"
        other = getattr(obj, name)
        return DASH if other is None else link(other, str(other))

    return shown_field(show, name)


def raw_url(obj: Model, name: str) -> str:
    return reverse(f"admin:{obj._meta.app_label}_{obj._meta.model_name}_raw", args=[obj.pk, name])


def change_url(obj: Model) -> str:
    """The page of a row of the desk, whose key is a number."""
    before, after = _around_key(
        obj._meta.label_lower, get_urlconf() or settings.ROOT_URLCONF, get_script_prefix()
    )
    return f"{before}{obj.pk}{after}"


@lru_cache(maxsize=64)
def _around_key(label: str, urlconf: str, prefix: str) -> tuple[str, str]:
    """Found out once: a list asks for one address after the other."""
    before, _, after = reverse(f"admin:{label.replace('.', '_')}_change", args=["~"]).rpartition("~")
    return before, after


def link(obj: Model, text: object) -> SafeString:
    """``text`` is shown as what somebody wrote, unless it is markup of ours."""
    shown = text if isinstance(text, SafeString) else reveal(str(text))
    return format_html('<a href="{}">{}</a>', change_url(obj), shown)


def state_mark(state: str, label: str = "") -> SafeString:
    """A state in words, with a dot that is never alone."""
    if not state:
        return format_html('<span class="adm-none">{}</span>', DASH)
    mark = STATES.get(state, state)
    words = reveal(label or state_words(state))
    return format_html('<span class="dk-state" data-state="{}">{}</span>', mark, words)


def turn_mark(status: str, turn_state: str, finalized_by: str) -> SafeString:
    """Where a turn stands; for a settled one, what it was settled with."""
    if status != "settled":
        return state_mark(status)
    if finalized_by == "cancelled":
        # Settled with "error" for its reader, but nothing went wrong: a person stopped it.
        return state_mark("cancelled", _("Stopped"))
    if turn_state == "error":
        return state_mark("error", finalized_by.capitalize())
    return state_mark(turn_state or status)


def short_digest(digest: str) -> SafeString:
    """The first eight digits in two groups, as on the card in the chat; all of them as a title."""
    return format_html('<code title="{}">{} {}</code>', digest, reveal(digest[:4]), reveal(digest[4:8]))


def lines(pairs: list[tuple[str, object]]) -> SafeString:
    """Facts as a list of name and value."""
    return format_html_join("", "<div><dt>{}</dt><dd>{}</dd></div>", pairs)
