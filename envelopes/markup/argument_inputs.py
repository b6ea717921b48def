"""The form of a call's arguments as HTML: native inputs, in the order and under the titles that the card has them."""

from __future__ import annotations

from django.utils.translation import gettext as _

from envelopes.markup.argument_form import ArgumentForm, Input
from envelopes.markup.arguments import label
from envelopes.markup.html import NOTHING, SafeString, brief, html, icon, join, text, trusted

_WORDS = 200
"""Characters of what a value was that stand below its input."""


def drawn(form: ArgumentForm, *, prefix: str = "f") -> SafeString:
    """The inputs, without the form around them. ``prefix`` begins the DOM ids."""
    general = (
        html('<p class="a2-error" role="alert">{}<span>{}</span></p>', icon("alert"), form.general)
        if form.general
        else NOTHING
    )
    first = next((one.name for one in form.inputs if one.error), "")
    return join((general, *(_field(one, prefix, focus=one.name == first) for one in form.inputs)))


def _field(one: Input, prefix: str, *, focus: bool) -> SafeString:
    """One input with its label, what it was before, and what is wrong with it."""
    dom_id = f"{prefix}{one.name}"
    told = [
        *(
            [(f"{dom_id}h", html('<p class="b-changed" id="{}h">{}</p>', dom_id, one.hint))]
            if one.hint
            else []
        ),
        *([(f"{dom_id}w", _was(one, dom_id))] if one.is_changed else []),
        *([(f"{dom_id}e", _error(one, dom_id))] if one.error else []),
    ]
    about = join(
        (
            html(' aria-describedby="{}"', " ".join(name for name, _drawn in told)) if told else NOTHING,
            trusted(' aria-invalid="true"') if one.error else NOTHING,
            trusted(" autofocus") if focus else NOTHING,
        )
    )
    optional = html(" <small>{}</small>", _("(optional)")) if not one.required else NOTHING
    return html(
        '<div class="a2-field"><label class="a2-label" for="{}">{}{}</label>{}{}</div>',
        dom_id,
        label(one.label),
        optional,
        _input(one, dom_id, about),
        join(drawn for _name, drawn in told),
    )


def _input(one: Input, dom_id: str, about: SafeString) -> SafeString:
    named = html('class="a2-input" id="{}" name="{}"{}', dom_id, one.name, about)
    if one.kind == "choice":
        blank = html('<option value=""></option>') if one.nullable or not one.text else NOTHING
        options = (
            html(
                '<option value="{}"{}>{}</option>',
                at,
                trusted(" selected") if str(at) == one.text else NOTHING,
                text(words),
            )
            for at, (_value, words) in enumerate(one.choices)
        )
        return html("<select {}>{}{}</select>", named, blank, join(options))
    if one.kind in ("long", "lines", "json"):
        rows = min(12, max(3, one.text.count("\n") + 1))
        # A line feed right behind the tag is not part of the value.
        return html('<textarea {} rows="{}" dir="auto">\n{}</textarea>', named, rows, one.text)
    kind = "date" if one.kind == "date" else "text"
    mode = {"integer": "numeric", "number": "decimal"}.get(one.kind, "text")
    return html(
        '<input {} type="{}" inputmode="{}" value="{}" dir="auto" autocomplete="off">',
        named,
        kind,
        mode,
        one.text,
    )


def _was(one: Input, dom_id: str) -> SafeString:
    before = dict(enumerate(words for _value, words in one.choices)) if one.kind == "choice" else {}
    stood = before.get(int(one.stood), "") if one.kind == "choice" and one.stood else one.stood
    return html(
        '<p class="b-changed" id="{}w">{}</p>',
        dom_id,
        html(_("Was {}"), brief(stood, _WORDS)) if stood else _("Was empty"),
    )


def _error(one: Input, dom_id: str) -> SafeString:
    return html(
        '<p class="a2-error" id="{}e">{}<span dir="auto">{}</span></p>',
        dom_id,
        icon("alert"),
        text(one.error),
    )
