"""The question of an approval as an A2UI surface, for whoever draws those and has no card of ours (D21, D22).

It is the runtime's: its ids and events are reserved, so no agent can make or change one, and a click on it comes to the
approvals service and nowhere else (``intake.post_action``). An application may register another template for
``APPROVAL``; the events stay those named here.
"""

from __future__ import annotations

import json
from typing import Final

from babel import Locale, UnknownLocaleError
from django.utils.translation import gettext as _

from a2ui.compose import Button, Card, Column, Component, Surface, Text, event, plain
from envelopes.markup.facts import Row, facts
from envelopes.protocol.text import clean_text
from envelopes.registries.surface_templates import APPROVAL, SurfaceTemplate, TemplateContext
from envelopes.types import JsonObject

APPROVE, DENY = "beach:approve", "beach:deny"
DECISIONS: Final = {APPROVE: "granted", DENY: "denied"}
"""What an event decides. Its context names the approval (``approvalId``)."""

WHOLE = 400
"""Characters of a value that stand on the surface. Where one is longer, nobody approves by it: the rest is unseen."""


def surface_id_of(approval_id: str) -> str:
    """The surface of an approval."""
    return f"{APPROVAL}:{approval_id}"


def approval_of(surface_id: str) -> str:
    """The approval that a surface asks about; "" for any other surface."""
    return surface_id.removeprefix(f"{APPROVAL}:") if surface_id.startswith(f"{APPROVAL}:") else ""


def shown_facts(fields: list[JsonObject], args: JsonObject, locale: str) -> list[JsonObject]:
    """The arguments as ``{label, value}`` in words, all of them. A value with characters that cannot be seen is JSON
    with escapes."""
    try:
        babel = Locale.parse(locale, sep="-")
    except (UnknownLocaleError, ValueError):
        babel = Locale.parse("en")
    found = facts(fields, args, babel)
    return [_fact(row) for row in (*found.rows, *found.strange)]


def _fact(row: Row) -> JsonObject:
    label = " ".join(part.text for part in row.label)
    return {"label": _seen(label), "value": ", ".join(_seen(fact.text) for fact in row.facts)}


def _seen(text: str) -> str:
    return text if clean_text(text) == text and text.replace("\n", "").isprintable() else json.dumps(text)


def card(data: JsonObject, context: TemplateContext) -> Surface:
    """A card of Text and Button; without the one that approves where a value is not shown whole. ``data``:
    ``approvalId``, ``question``, ``why``, ``facts``, ``risk``, ``riskNote``, ``toolName``, ``args``, ``expiresAt``."""

    def button(words: str, name: str, component_id: str) -> Component:
        return Button(Text(words), event(name, approvalId=data["approvalId"]), id=component_id)

    risk = str(data["riskNote"] or {"high": _("High risk"), "low": _("Low risk")}.get(data["risk"], ""))
    cut = any(len(fact["value"]) > WHOLE for fact in data["facts"])
    told = [text for text in (data["why"], risk) if text]
    root = Column(
        Text(f"#### {plain(' '.join(str(data['question']).split()))}"),
        *(Text(plain(str(text))) for text in told),
        *(Text(f"**{plain(fact['label'])}** {_value(fact['value'])}") for fact in data["facts"]),
        *([Text(_("Not all of it is shown here: approve it where it is."))] if cut else []),
        *([] if cut else [button(_("Approve"), APPROVE, "approve")]),
        button(_("Deny"), DENY, "deny"),
    )
    return Surface(context.surface_id, Card(root))


def _value(value: str) -> str:
    if len(value) <= WHOLE:
        return plain(value)
    more = _("{} more characters, which are not shown here").format(len(value) - WHOLE)
    return f"{plain(value[:WHOLE])}… *({more})*"


DEFAULT = SurfaceTemplate(APPROVAL, card, is_default=True)
