"""``{% load beach %}``: what pages of the chat have of the project around them."""

from __future__ import annotations

from typing import NamedTuple

from django import template
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, get_language_info

from envelopes.conf import conf
from envelopes.markup.context import language_of
from envelopes.markup.html import reveal

register = template.Library()


class Written(NamedTuple):
    """The language that a page is written in, and the side it runs from."""

    language: str
    direction: str


@register.simple_tag
def written_in() -> Written:
    """That of the reader where there are translations of Beach; else English, whatever else Django has words in."""
    language = language_of(get_language() or "en")
    return Written(language, "rtl" if get_language_info(language)["bidi"] else "ltr")


@register.filter(name="reveal", is_safe=True)
def revealed(value: object) -> SafeString:
    """What somebody wrote, with nothing hidden in it: ``markup.html.reveal``."""
    return value if isinstance(value, SafeString) else reveal(str(value))


@register.simple_tag
def own_styles() -> SafeString:
    """The sheets of ``BEACH_STYLES``, behind ours: what stands in no layer goes before all that we have in layers."""
    return format_html_join(
        "", '<link rel="stylesheet" href="{}">', ((static(name),) for name in conf.BEACH_STYLES)
    )
