"""``{% load beach %}``: what pages of the chat have of the project around them."""

from __future__ import annotations

from django import template
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from envelopes.conf import conf

register = template.Library()


@register.simple_tag
def own_styles() -> SafeString:
    """The sheets of ``BEACH_STYLES``, behind ours: what stands in no layer goes before all that we have in layers."""
    return format_html_join(
        "", '<link rel="stylesheet" href="{}">', ((static(name),) for name in conf.BEACH_STYLES)
    )
