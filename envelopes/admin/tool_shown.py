"""What staff read of one call of a tool: its arguments under the titles that the tool gives them, and why it failed."""

from __future__ import annotations

from typing import Any

from babel import Locale
from django.utils.html import format_html
from django.utils.translation import get_language, to_locale
from django.utils.translation import gettext_lazy as _lazy

from envelopes.admin.display import DASH, folded, raw_url, shown_field
from envelopes.markup import arguments
from envelopes.markup.facts import facts
from envelopes.markup.html import SafeString, html, reveal
from envelopes.registries.actors import actors


def _named(field: Any, name: Any) -> Any:
    field.short_description = name
    return field


def _tool(call: Any) -> SafeString:
    return html("<code>{}</code>", reveal(call.name))


def _args(call: Any) -> SafeString:
    """As the card has them, if the tool is still there to say what they are called; the JSON behind a line."""
    stored = folded(call.args, raw=raw_url(call, "args"))
    if not call.args:
        return stored
    actor = actors.get(call.turn.actor)
    tool = actor.tool(call.name) if actor is not None else None
    locale = Locale.parse(to_locale(get_language() or "en"))
    rows = arguments.shown(facts(tool.fields if tool is not None else (), call.args, locale), f"c{call.pk}v")
    return html('<div class="adm-shown">{}{}</div>', rows.html, stored)


def _error(call: Any) -> SafeString | str:
    """What went wrong as it was told, and the whole error behind a line."""
    if not call.error:
        return DASH
    told = call.error.get("message") if isinstance(call.error, dict) else None
    said = html('<p dir="auto">{}</p>', reveal(told)) if isinstance(told, str) else ""
    return format_html(
        '<div class="adm-shown">{}{}</div>', said, folded(call.error, raw=raw_url(call, "error"))
    )


show_tool = _named(shown_field(_tool, "name"), _lazy("tool"))
show_args = shown_field(_args, "args")
show_args.__name__ = "args_json"
show_error = shown_field(_error, "error")
show_error.__name__ = "error_json"
