"""``ack`` and ``thinking``: a live line while the turn runs, one closed fold when it has stopped."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from envelopes.delivery.panel.markup import SafeString, html, icon, join, text, trusted
from envelopes.delivery.panel.view import Brush, View
from envelopes.protocol.text import shorten

if TYPE_CHECKING:
    from envelopes.delivery.panel.blocks import Segment
    from envelopes.delivery.panel.scene import Scene

SUMMARY = 90
RIPPLE = trusted('<span class="b-ripple" aria-hidden="true"><i></i><i></i><i></i></span>')


@dataclass
class Activity(View):
    kind = "activity"

    lines: list[str] = field(default_factory=list)
    live: bool = True
    seconds: float = 0.0

    def html(self, brush: Brush) -> SafeString:
        last = shorten(self.lines[-1], 400) if self.lines else ""
        if self.live:
            words = text(last) if last else html('<span class="b-sr">{}</span>', _("Working"))
            return html(
                '<p class="b-ack" id="{}" data-live>{}<span dir="auto">{}</span></p>', self.id, RIPPLE, words
            )
        summary = self._summary(last)
        folded = [line for line in self.lines[:-1] if line.strip()]
        if len(last) > SUMMARY:
            folded = self.lines
        if not folded:
            return html('<p class="b-ack" id="{}"><span dir="auto">{}</span></p>', self.id, summary)
        return html(
            '<details class="b-ack" id="{}"><summary>{}<span dir="auto">{}</span></summary>'
            '<div class="b-ack__steps">{}</div></details>',
            self.id,
            icon("right", "b-icon--flip"),
            summary,
            join(html('<p dir="auto">{}</p>', text(line)) for line in folded),
        )

    def _summary(self, last: str) -> SafeString:
        words = text(shorten(last, SUMMARY).rstrip(".:…") if len(last) <= SUMMARY else shorten(last, SUMMARY))
        whole = round(self.seconds)
        return html(_("{} · {} s"), words, whole) if whole >= 1 else words


def begin(scene: Scene, segment: Segment) -> None:
    """The turn runs: something moves."""
    last = segment.parts[-1] if segment.parts else None
    if isinstance(last, Activity):
        if not last.live:
            last.live = True
            scene.canvas.touch(last)
    elif not any(isinstance(part, Activity) and part.live for part in segment.parts):
        scene.canvas.add(segment, Activity(scene.new_id("w")))


def note(scene: Scene) -> None:
    """A line of an ack or thinking part."""
    words = scene.words.strip()
    if not words:
        return
    segment = scene.segment()
    live = [part for part in segment.parts if isinstance(part, Activity) and part.live]
    if segment.parts and live and segment.parts[-1] is live[-1]:
        live[-1].lines.append(words)
        scene.canvas.touch(live[-1])
        return
    for earlier in live:
        earlier.live = False
        if earlier.lines:
            scene.canvas.touch(earlier)
        else:
            scene.canvas.drop(earlier)
    scene.canvas.add(segment, Activity(scene.new_id(), [words]))


def fold(scene: Scene, segment: Segment, seconds: float) -> None:
    """The turn has stopped: one line of what it did, at the place where it began."""
    found = [part for part in segment.parts if isinstance(part, Activity)]
    if not found:
        return
    lines = [line for part in found for line in part.lines]
    first, *others = found
    for other in others:
        scene.canvas.drop(other)
    if not lines:
        scene.canvas.drop(first)
        return
    first.lines = lines
    first.live = False
    first.seconds += seconds
    scene.canvas.touch(first)
