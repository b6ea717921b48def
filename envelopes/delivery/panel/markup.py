"""HTML from typed pieces. The only place of the panel that declares text to be markup.

Everything that a model, a tool or a person wrote goes through ``text`` (hidden characters taken out) or ``reveal``
(hidden characters shown), never into ``trusted``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from django.utils.html import conditional_escape, escape
from django.utils.html import format_html as html
from django.utils.safestring import SafeString, mark_safe

from a2ui.safety.text import clean_text
from envelopes.protocol.text import shorten as cut

__all__ = ["NOTHING", "SafeString", "cut", "html", "icon", "join", "reveal", "text", "trusted"]

# What `reveal` shows: controls but tab and line feed, zero-width and direction marks, line separators, blanks that are
# not spaces, invisible operators, fillers, tags. Wider than what `clean_text` removes, since here a person decides.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f"
    "\u205f-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff\ud800-\udfff]"
)

NOTHING = SafeString("")


def trusted(markup: str) -> SafeString:
    """Markup that was made and escaped elsewhere: a surface's own HTML, sanitised Markdown."""
    return mark_safe(markup)  # noqa: S308 - callers pass only what the two makers above return


def text(value: object) -> SafeString:
    """``value`` as text of the page, without characters that cannot be seen or that turn its direction."""
    return escape(clean_text(str(value)))


def reveal(value: str) -> SafeString:
    """``value`` as text with every hidden character shown as its code, for what a person has to judge."""
    pieces: list[SafeString] = []
    end = 0
    for found in _HIDDEN.finditer(value):
        character = found[0]
        pieces.append(escape(value[end : found.start()]))
        name = unicodedata.name(character, "Control character").capitalize()
        pieces.append(html('<span class="b-ctrl" title="{}">U+{}</span>', name, f"{ord(character):04X}"))
        end = found.end()
    pieces.append(escape(value[end:]))
    return join(pieces)


def join(pieces: Iterable[str], between: str = "") -> SafeString:
    """The pieces one after the other; what is not markup yet is escaped."""
    return trusted(conditional_escape(between).join(conditional_escape(piece) for piece in pieces))


def icon(name: str, extra: str = "") -> SafeString:
    """A picture of the sprite in templates/panel/sprite.html."""
    return html(
        '<svg class="b-icon{}" aria-hidden="true"><use href="#i-{}"/></svg>',
        f" {extra}" if extra else "",
        name,
    )
