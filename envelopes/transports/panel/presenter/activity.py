"""``ack`` and ``thinking``: a live line while the turn runs, one closed fold when it has stopped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from envelopes.markup.asked_again import asked_again
from envelopes.markup.html import SafeString, html, icon, join, text, trusted
from envelopes.protocol.text import shorten
from envelopes.transports.panel.presenter.part_view import Key, PartView, RenderContext, stored

if TYPE_CHECKING:
    from envelopes.transports.panel.presenter.blocks import Segment
    from envelopes.transports.panel.presenter.row import RowContext

SUMMARY = 90
TYPING_INDICATOR = trusted('<span class="b-typing" aria-hidden="true"><i></i><i></i><i></i></span>')


def live_in(segment: str) -> Key:
    """The key of the line that moves in a segment; there is at most one."""
    return ("live", segment)


@stored
@dataclass
class Activity(PartView):
    """``lines`` of what the turn did while it ran, ``ids`` those of their parts ("" for none); ``segment`` is the id of
    the one that it stands in. ``promises``: which of the lines, from 0, say when something is tried again; ``tried``:
    what follows the last line, where that is one, once it has been."""

    kind = "activity"

    lines: list[str] = field(default_factory=list)
    live: bool = True
    seconds: float = 0.0
    segment: str = ""
    ids: list[str] = field(default_factory=list)
    tried: str = ""
    promises: list[int] = field(default_factory=list)

    @property
    def waits(self) -> bool:
        """Whether something is still to be tried again."""
        return len(self.lines) - 1 in self.promises

    def kept(self, *, promises: bool) -> Iterator[tuple[str, str]]:
        """Lines and ids, with or without those that promise something."""
        for number, line in enumerate(self.lines):
            if promises or number not in self.promises:
                yield line, self.ids[number]

    def keys(self) -> tuple[Key, ...]:
        return (live_in(self.segment),) if self.live else ()

    def html(self, render: RenderContext) -> SafeString:
        last = shorten(self.lines[-1].strip(), 400) if self.lines else ""
        if self.live:
            words = text(last) if last else html('<span class="b-sr">{}</span>', _("Working"))
            return html(
                '<p class="b-ack" id="{}" data-live>{}<span dir="auto">{}</span></p>',
                self.id,
                TYPING_INDICATOR,
                words,
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
            join(html('<p dir="auto">{}</p>', text(line.strip())) for line in folded),
        )

    def _summary(self, last: str) -> SafeString:
        words = text(shorten(last, SUMMARY).rstrip(".:…") if len(last) <= SUMMARY else shorten(last, SUMMARY))
        whole = round(self.seconds)
        return html(_("{} · {} s"), words, whole) if whole >= 1 else words


def begin(context: RowContext, segment: Segment) -> None:
    """The turn runs: something moves."""
    last = segment.parts[-1] if segment.parts else None
    if isinstance(last, Activity):
        if not last.live:
            last.live = True
            context.model.touch(last)
    elif not context.model.found(live_in(segment.id), Activity):
        context.model.add(segment, Activity(context.new_id("w"), segment=segment.id))


def tries_again(context: RowContext) -> None:
    """A turn that tries an earlier one again says so: when it will, and when it does. So does a model that
    is asked again: when it will be, and when it answers."""
    if context.row.data.get("reason") == "recovered":
        _wait_no_more(context)
    retry = context.row.data.get("retry")
    if not isinstance(retry, dict):
        return
    number, of, is_model = retry.get("number"), retry.get("of"), retry.get("mode") == "model"
    tried = _("Tried again ({} of {})").format(number, of)
    if "at" not in retry:
        _say(context, tried if is_model else _("Trying again ({} of {})").format(number, of))
        return
    at = context.thread.page.hours(str(retry["at"]))
    if is_model:
        _say(context, asked_again(retry, at), tried=tried, promises=True)
        return
    told = (
        _("Tries again at {} ({} of {})")
        if retry.get("mode") == "turn"
        else _("Says so again at {} ({} of {})")
    )
    _say(context, told.format(at, number, of), promises=True)


def _wait_no_more(context: RowContext) -> None:
    """Another runner has the turn: it waits for nothing that the one before has announced."""
    for live in context.model.found(live_in(context.segment().id), Activity):
        if live.tried:
            _say(context, live.tried)


def note(context: RowContext) -> None:
    """A line of an ack or thinking part, or more of one."""
    words, segment, part_id = context.words, context.segment(), context.part_id
    if part_id and (known := _with_line(segment, part_id)) is not None:
        known.lines[known.ids.index(part_id)] += words
        context.model.touch(known)
    elif words.strip() or part_id:
        _say(context, words, part_id)


def _say(
    context: RowContext, words: str, part_id: str = "", *, tried: str = "", promises: bool = False
) -> None:
    if not words and not part_id:
        return
    segment = context.segment()
    live = context.model.found(live_in(segment.id), Activity)
    if segment.parts and live and segment.parts[-1] is live[-1]:
        live[-1].lines.append(words)
        live[-1].ids.append(part_id)
        live[-1].tried = tried
        if promises:
            live[-1].promises.append(len(live[-1].lines) - 1)
        context.model.touch(live[-1])
        return
    for earlier in live:
        earlier.live = False
        if earlier.lines:
            context.model.touch(earlier)
        else:
            context.model.drop(earlier)
    said = Activity(context.new_id(), [words], segment=segment.id, ids=[part_id], tried=tried)
    said.promises = [0] if promises else []
    context.model.add(segment, said)


def _with_line(segment: Segment, part_id: str) -> Activity | None:
    found = (part for part in segment.parts if isinstance(part, Activity) and part_id in part.ids)
    return next(found, None)


def is_open(segment: Segment) -> bool:
    """Whether something moves there, or waits to be tried again."""
    return any(isinstance(part, Activity) and (part.live or part.waits) for part in segment.parts)


def fold(context: RowContext, segment: Segment, seconds: float, *, goes_on: bool = False) -> None:
    """The turn has stopped, or ``goes_on`` further down: one line of what it did, at the place where it began."""
    found = [part for part in segment.parts if isinstance(part, Activity)]
    if not found:
        return
    # What was still to be tried when it stopped is not tried any more, and of tries that came to nothing its end tells.
    keeps = goes_on or not any(part.waits for part in found)
    kept = [line for part in found for line in part.kept(promises=keeps)]
    waits = goes_on and found[-1].waits
    first, *others = found
    # The time belongs to what was said: of a turn that went on after a question without a word nothing is told here.
    if first.live or any(other.lines for other in others):
        first.seconds += seconds
    for other in others:
        context.model.drop(other)
    if not kept:
        context.model.drop(first)
        return
    first.lines, first.ids = [line for line, _id in kept], [part_id for _line, part_id in kept]
    first.tried, first.promises = "", [len(kept) - 1] if waits else []
    first.live = False
    context.model.touch(first)
