"""Video and AudioPlayer (rulebook 16, D33)."""

from __future__ import annotations

from typing import Any

from a2ui.catalog.icons import UI_FILM, UI_SOUND
from a2ui.catalog.kinds import text
from a2ui.components import BaseComponent
from a2ui.rendering.build import Build, always, told
from a2ui.safety.text import escape
from a2ui.safety.urls import safe_image

_MISSING = '<p class="a2-noimg">{icon}<span>{what} from an address that is not allowed here</span></p>'


class Video(BaseComponent):
    """A film with the browser's own controls; nothing is fetched before somebody plays it."""

    name = "Video"
    properties = {"url": text}
    required = frozenset({"url"})
    interactive = True

    def build(self, build: Build) -> None:
        start = f'<div id="{build.id}'
        opened = f'" class="{build.classes("a2-media")}"{build.role()}{told(build)}>'
        url, aria = build.getter("url"), always(build.labelled(' aria-label="Video"'))
        hosts = build.options.image_hosts
        poster = build.getter("posterUrl") if "posterUrl" in build.props else None

        def render(scope: Any, context: str) -> str:
            source, name = _source(url(scope), hosts), aria(scope)
            picture = safe_image(poster(scope), hosts) if poster is not None else None
            still = f' poster="{escape(picture)}"' if picture else ""
            player = (
                f'<video class="a2-video" controls preload="metadata" src="{escape(source)}"{still}{name}></video>'
                if source
                else _MISSING.format(icon=UI_FILM, what="A video")
            )
            return f"{start}{context}{opened}{player}</div>"

        build.done(render)


class AudioPlayer(BaseComponent):
    """A recording with the browser's own controls, its description above."""

    name = "AudioPlayer"
    properties = {"url": text, "description": text}
    required = frozenset({"url"})
    interactive = True

    def build(self, build: Build) -> None:
        start = f'<figure id="{build.id}'
        opened = f'" class="{build.classes("a2-media")}"{build.role()}{told(build)}>'
        url, description = build.getter("url"), always(build.html("description"))
        aria, hosts = always(build.labelled()), build.options.image_hosts

        def render(scope: Any, context: str) -> str:
            source, title = _source(url(scope), hosts), description(scope)
            caption = f'<figcaption class="a2-label">{title}</figcaption>' if title else ""
            name = aria(scope)
            if not name.startswith(' aria-label="'):
                name = f' aria-label="{title or "Recording"}"{name}'
            player = (
                f'<audio class="a2-audio" controls preload="none" src="{escape(source)}"{name}></audio>'
                if source
                else _MISSING.format(icon=UI_SOUND, what="A recording")
            )
            return f"{start}{context}{opened}{caption}{player}</figure>"

        build.done(render)


def _source(url: Any, hosts: frozenset[str]) -> str:
    """The address, "" if nothing may be loaded from it. Pictures in data addresses are no media."""
    source = safe_image(url, hosts)
    return "" if source is None or source[:5].lower() == "data:" else source
