"""Image (rulebook 16, D33)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from a2ui.binding.direct import NeedsCompilation
from a2ui.catalog.icons import UI_IMAGE
from a2ui.catalog.kinds import enum, text
from a2ui.components import BaseComponent
from a2ui.rendering.build import LONG, Build, always, class_names, flex, role_of
from a2ui.rendering.hearing import HIDDEN
from a2ui.rendering.place import Placement
from a2ui.safety.text import escape
from a2ui.safety.urls import safe_image

if TYPE_CHECKING:
    from a2ui.rendering.first_drawing import FirstDrawing
    from a2ui.state.components import Component

_FITS = {
    "contain": "a2-fit-contain",
    "cover": "a2-fit-cover",
    "none": "a2-fit-none",
    "scaleDown": "a2-fit-scale",
}
_SIZES = {"icon": (24, 24), "avatar": (40, 40), "smallFeature": (100, 100)}


class Image(BaseComponent):
    """A picture from this site or an allowed host; for any other address its description, and no request."""

    name = "Image"
    properties = {
        "url": text,
        "description": text,
        "fit": enum("contain", "cover", "fill", "none", "scaleDown"),
        "variant": enum("icon", "avatar", "smallFeature", "mediumFeature", "largeFeature", "header"),
    }
    required = frozenset({"url"})

    draws = True

    def build(self, build: Build) -> None:
        url, description = build.getter("url"), always(build.html("description"))
        frame, hosts = _frame(build.props, build.place.placement, build.flex), build.options.image_hosts
        aria, spend = always(build.accessible()), build.spend

        def render(scope: Any, context: str) -> str:
            dom_id = f"{build.id}{context}"
            source = safe_image(url(scope), hosts)
            if source is not None and len(source) > LONG and not spend(len(source)):
                source = None
            return _picture(dom_id, frame, source, description(scope), aria(scope))

        build.done(render)

    def draw(self, drawing: FirstDrawing, component: Component, placement: Placement) -> str:
        props = component.props
        source = safe_image(drawing.value(component, props.get("url")), drawing.options.image_hosts)
        if source is not None and len(source) > LONG:
            raise NeedsCompilation
        alt, aria = drawing.escaped(component, props.get("description")), drawing.accessible(component)
        return _picture(
            drawing.id(component), _frame(props, placement, flex(props, placement)), source, alt, aria
        )


class _Frame(NamedTuple):
    """What stays the same in an image: classes with and without a picture, its size and its part, as attributes."""

    css: str
    empty: str
    size: str
    role: str


def _frame(props: Mapping[str, Any], placement: Placement, weight: float | None) -> _Frame:
    variant = props.get("variant", "mediumFeature")
    shape = f"a2-img--{variant}"
    return _Frame(
        class_names(("a2-img", shape, _FITS.get(props.get("fit", ""), "")), weight),
        class_names(("a2-noimg", shape), weight),
        'width="{}" height="{}" '.format(*_SIZES[variant]) if variant in _SIZES else "",
        role_of(placement),
    )


def _picture(dom_id: str, frame: _Frame, source: str | None, alt: str, aria: str) -> str:
    """The element; `source` None where the address may not be used."""
    if source is not None:
        return (
            f'<img id="{dom_id}" class="{frame.css}" src="{escape(source)}" alt="{alt}" {frame.size}loading="lazy" '
            f'decoding="async" referrerpolicy="no-referrer"{frame.role}{aria}>'
        )
    words = f"<span>{alt}</span>" if alt and not frame.size else ""
    return f'<div id="{dom_id}" class="{frame.empty}"{_part(frame.role, alt, aria)}>{UI_IMAGE}{words}</div>'


def _part(role: str, alt: str, aria: str) -> str:
    """The attributes of what stands for a picture that is not shown."""
    if aria.endswith(HIDDEN):
        return aria
    part = role or ' role="img"'
    if ' aria-label="' in aria:
        return part + aria
    if alt:
        return f'{part} aria-label="{alt}"{aria}'
    return role + aria if role else aria + HIDDEN
