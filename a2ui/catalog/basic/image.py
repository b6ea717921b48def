"""Image (rulebook 16, D33)."""

from __future__ import annotations

from typing import Any

from a2ui.binding.secrets import show
from a2ui.catalog.basic.icons import UI_IMAGE
from a2ui.catalog.kinds import enum, text
from a2ui.catalog.registry import ComponentType
from a2ui.rendering.build import Build, always
from a2ui.safety.text import escape
from a2ui.safety.urls import safe_image

_FITS = {
    "contain": "a2-fit-contain",
    "cover": "a2-fit-cover",
    "none": "a2-fit-none",
    "scaleDown": "a2-fit-scale",
}
_SIZES = {"icon": (24, 24), "avatar": (40, 40), "smallFeature": (100, 100)}


class Image(ComponentType):
    """A picture from this site or an allowed host; for any other address its description, and no request."""

    name = "Image"
    properties = {
        "url": text,
        "description": text,
        "fit": enum("contain", "cover", "fill", "none", "scaleDown"),
        "variant": enum("icon", "avatar", "smallFeature", "mediumFeature", "largeFeature", "header"),
    }
    required = frozenset({"url"})

    def build(self, build: Build) -> None:
        variant = build.props.get("variant", "mediumFeature")
        shape = f"a2-img--{variant}"
        css = build.classes("a2-img", shape, _FITS.get(build.props.get("fit", ""), ""))
        empty = build.classes("a2-noimg", shape)
        size = 'width="{}" height="{}" '.format(*_SIZES[variant]) if variant in _SIZES else ""
        url, description = build.getter("url"), always(build.html("description"))
        aria, hosts, role = always(build.accessible()), build.options.image_hosts, build.role()

        def render(scope: Any, context: str) -> str:
            dom_id, alt = f"{build.id}{context}", description(scope)
            source = safe_image(show(url(scope)), hosts)
            if source is not None:
                return (
                    f'<img id="{dom_id}" class="{css}" src="{escape(source)}" alt="{alt}" {size}loading="lazy" '
                    f'decoding="async" referrerpolicy="no-referrer"{role}{aria(scope)}>'
                )
            words = f"<span>{alt}</span>" if alt and variant not in _SIZES else ""
            label = f' role="img" aria-label="{alt}"' if alt else ' aria-hidden="true"'
            return f'<div id="{dom_id}" class="{empty}"{label}>{UI_IMAGE}{words}</div>'

        build.done(render)
