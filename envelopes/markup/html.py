"""HTML from typed pieces. Only here is text declared to be markup, but for pages that put in what this has made.

Everything that a model, a tool or a person wrote goes through ``text`` (hidden characters taken out) or ``reveal``
(hidden characters named), never into ``trusted``.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape as escaped
from typing import Any

from django.utils.html import conditional_escape, escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from a2ui.safety.text import clean_text
from envelopes.protocol.unseen import Glimpse, Mark, glimpse, is_plain, marks

__all__ = [
    "NOTHING",
    "SafeString",
    "brief",
    "gap",
    "html",
    "icon",
    "join",
    "named",
    "reveal",
    "text",
    "trusted",
]

NOTHING = SafeString("")
_WORDS_OF_A_GAP = 20
_RETURN = "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}"


def trusted(markup: str) -> SafeString:
    """Markup that was made and escaped elsewhere: a surface's own HTML, sanitised Markdown."""
    return mark_safe(markup)  # noqa: S308 - callers pass only what the two makers above return


def html(markup: str, *values: object) -> SafeString:
    """``markup`` with ``values`` for its braces; those that are no markup are escaped. What Django's ``format_html``
    gives, in half the time for plain texts: most of what is drawn of a row is this."""
    return SafeString(markup.format(*map(_safe, values)))


def _safe(value: Any) -> str:
    if type(value) is str:
        return escaped(value)
    return value if type(value) is SafeString else conditional_escape(value)


def text(value: object) -> SafeString:
    """``value`` as text of the page, without characters that cannot be seen or that turn its direction."""
    return escape(clean_text(str(value)))


def reveal(value: str, *, blanks: bool = True) -> SafeString:
    """``value`` as text in which nothing hides, for what a person has to judge: characters that cannot be seen stand
    there by name, runs of blanks by their number. Without ``blanks`` those stay as they are, for ``<pre>``.
    """
    # Most texts are.
    return SafeString(escaped(value)) if is_plain(value) else named(marks(value), blanks=blanks)


def isolated(value: str) -> SafeString:
    """``reveal`` of what others wrote, in a line of ours: which way it runs changes nothing around it."""
    return html("<bdi>{}</bdi>", reveal(value))


def named(found: Iterable[Mark], *, blanks: bool = True) -> SafeString:
    """``reveal`` for a text that has been taken apart."""
    plain = ("text",) if blanks else ("text", "blanks", "tabs", "lines")
    # A long text is made of few different marks, each of which is drawn once.
    drawn: dict[Mark, str] = {}
    for mark in (found := list(found)):
        if mark not in drawn:
            drawn[mark] = escaped(mark.text) if mark.kind in plain else _named(mark)
    return trusted("".join(drawn[mark] for mark in found))


def _named(mark: Mark) -> SafeString:
    number, code = mark.length, f"U+{ord(mark.text[0]):04X}"
    match mark.kind:
        case "blanks":
            return html(
                '<span class="b-gap">{}</span>', ngettext("{} blank", "{} blanks", number).format(number)
            )
        case "tabs":
            return html('<span class="b-gap">{}</span>', ngettext("{} tab", "{} tabs", number).format(number))
        case "lines" if number == 1:
            return html('<span class="b-eol" title="{}">{}</span><br>', _("line break"), _RETURN)
        case "lines":
            told = ngettext("{} line break", "{} line breaks", number).format(number)
            return html('<span class="b-gap">{}</span><br>', told)
        case "marks" if number > 1:
            codes = " ".join(f"U+{ord(character):04X}" for character in mark.text[:8])
            told = ngettext("{} combining mark", "{} combining marks", number).format(number)
            return html('<bdi class="b-ctrl" title="{}">{}</bdi>', codes, told)
        case "alike":
            return html('{}<bdi class="b-ctrl b-ctrl--alike" title="{}">{}</bdi>', mark.text, code, mark.name)
    told = mark.name if number == 1 else f"{number} \N{MULTIPLICATION SIGN} {mark.name}"
    return html('<bdi class="b-ctrl" title="{}">{}</bdi>', code, told)


def gap(found: Glimpse) -> str:
    """What lies between the two ends of a long value: "378 more characters, 300 of them blanks"."""
    told = ngettext("{} more character", "{} more characters", found.characters).format(found.characters)
    if found.blanks > found.characters // 2 or found.blanks > 100:
        told = _("{}, {} of them blanks").format(told, found.blanks)
    if found.hidden:
        told = _("{}, {} of them hidden").format(told, found.hidden)
    return told


def brief(value: str, length: int) -> SafeString:
    """``value`` in one line of about ``length`` characters for a list: both ends, and how much lies between them. What
    would take no more room than these words do is not left out."""
    if len(value) <= length and is_plain(value):
        return SafeString(escaped(value))
    found = glimpse(marks(value), length + _WORDS_OF_A_GAP, length * 2 // 3, length // 3, 1)
    if found is None:
        return reveal(value)
    return html('{}<span class="b-gap">{}</span>{}', named(found.head), gap(found), named(found.tail))


def join(pieces: Iterable[str], between: str = "") -> SafeString:
    """The pieces one after the other; what is not markup yet is escaped."""
    return SafeString(_safe(between).join(map(_safe, pieces)))


def icon(name: str, extra: str = "") -> SafeString:
    """A picture of the sprite in templates/panel/sprite.html."""
    return html(
        '<svg class="b-icon{}" aria-hidden="true"><use href="#i-{}"/></svg>',
        f" {extra}" if extra else "",
        name,
    )
