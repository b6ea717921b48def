"""What staff read of the runs of a tool, and by which words they find its actions."""

from __future__ import annotations

from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _

from envelopes.admin.display import DASH, shown_field
from envelopes.markup.html import SafeString, html, join, reveal
from envelopes.registries.actors import actors
from envelopes.registries.tools import tools
from envelopes.types import JsonObject


def tagged() -> dict[str, set[str]]:
    """The names of tools by tag: of those that agents have, and those that are registered."""
    found: dict[str, set[str]] = {}
    for tool in [*(tool for actor in actors for tool in actor.all_tools), *tools]:
        for tag in tool.tags:
            found.setdefault(tag, set()).add(tool.name)
    return found


def in_words(one: JsonObject) -> SafeString:
    """One entry of ``ToolCall.tries``."""
    told = {
        "returned": _("Returned after {seconds} s."),
        "raised": _("Failed after {seconds} s: {why}."),
        "refused": _("Returned after {seconds} s what the tool does not declare. {why}"),
        "timeout": _("Its time was over after {seconds} s."),
        "stopped": _("Stopped after {seconds} s."),
    }.get(str(one.get("ended")), _("Ended after {seconds} s."))
    why = reveal(str(one.get("error") or ""))
    words = [format_html(told, seconds=f"{one.get('seconds', 0):g}", why=why)]
    if one.get("left"):
        words.append(html("{}", _("It did not end when it was told to, and may have taken effect later.")))
    if "waited" in one:
        words.append(format_html(_("Tried again after {} s."), f"{one['waited']:g}"))
    return join(words, " ")


def _listed(call: Any) -> SafeString | str:
    told = [in_words(one) for one in call.tries]
    if len(told) < 2:
        return told[0] if told else DASH
    return format_html("<ol>{}</ol>", format_html_join("", "<li>{}</li>", ((one,) for one in told)))


show_tries = shown_field(_listed, "tries")
"""The field ``tries`` on the page of a call."""
