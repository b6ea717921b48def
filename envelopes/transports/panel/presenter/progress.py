"""Progress parts fold into one card: a line per id, one bar that never leaves 0 to 100 and never goes back."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Self

from django.utils.translation import gettext as _

from a2ui.safety.text import to_text
from envelopes.markup.html import SafeString, html, icon, join, text, trusted
from envelopes.part_types.progress import PROGRESS
from envelopes.transports.panel.presenter.part_view import PartView, RenderContext, stored
from envelopes.types import Json, JsonObject

if TYPE_CHECKING:
    from envelopes.transports.panel.presenter.row import RowContext

STATES = ("todo", "running", "done", "failed", "skipped", "stopped")  # and "left": see Step.close()
OPEN = ("todo", "running")
_ICONS = {"done": "check", "failed": "x", "skipped": "minus", "stopped": "minus", "left": "minus"}


@dataclass
class Step:
    """``percent`` is what the bar shows: None for a step without usable numbers."""

    id: str
    label: str = ""
    state: str = "running"
    detail: str = ""
    percent: int | None = None

    def update(self, data: JsonObject) -> None:
        if isinstance(data.get("label"), str) and data["label"].strip():
            self.label = data["label"]
        status = data.get("status", "running")
        self.state = status if status in STATES else "running"
        current, total = _number(data.get("current")), _number(data.get("total"))
        share = _percent(current, total)
        if share is not None and current is not None and total is not None and share >= (self.percent or 0):
            # A smaller number than before changes neither the bar nor the words beside it.
            self.percent = share
            done = to_text(min(max(current, 0), total))
            self.detail = "" if total == 1 else _("{} of {}").format(done, to_text(total))
        elif current is not None and total is None and current >= 0:
            self.detail = to_text(current)
        if self.state == "done":
            self.percent = 100 if self.percent is not None else None

    def close(self, finalized_by: str) -> None:
        """The turn settled: nothing stays open. What had not begun was not gone through, so it is not "skipped"."""
        if self.state not in OPEN:
            return
        if self.percent == 100 and self.state == "running":
            self.state = "done"
        elif self.state == "todo":
            self.state = "left"
        else:
            self.state = "failed" if finalized_by in ("error", "timeout") else "stopped"

    @property
    def share(self) -> float:
        """How much of the whole card this step has done, 0 to 1."""
        return 1.0 if self.state in ("done", "skipped") else (self.percent or 0) / 100

    def html(self) -> SafeString:
        words = {
            "todo": _("Waiting:"),
            "running": _("Running:"),
            "done": _("Done:"),
            "failed": _("Failed:"),
            "skipped": _("Skipped:"),
            "stopped": _("Stopped:"),
            "left": _("Not started:"),
        }
        label = text(self.label or self.id)
        mark: object
        if self.state == "running":
            mark = trusted('<span class="b-spin" aria-hidden="true"></span>')
        elif self.state == "todo":
            mark = trusted('<span class="b-step__todo" aria-hidden="true"></span>')
        else:
            mark = icon(_ICONS[self.state])
        bar: object = ""
        if self.percent is not None:
            bar = html(
                '<progress class="b-sr" value="{}" max="100" aria-label="{}"></progress>', self.percent, label
            )
        elif self.state == "running":
            bar = html('<progress class="b-sr" aria-label="{}"></progress>', label)
        return html(
            '<li class="b-step" data-state="{}">{}<span><span class="b-sr">{} </span><bdi>{}</bdi>{}</span>'
            "<small><bdi>{}</bdi></small></li>",
            "skipped" if self.state in ("stopped", "left") else self.state,
            mark,
            words[self.state],
            label,
            bar,
            text(self.detail or {"stopped": _("Stopped"), "failed": _("Failed")}.get(self.state, "")),
        )


@stored
@dataclass
class ProgressView(PartView):
    """``shown`` is the highest value the bar has had. ``planned``: steps were announced before they began, so their
    number is known."""

    kind = PROGRESS.name

    title: str = ""
    steps: list[Step] = field(default_factory=list)
    shown: int = 0
    planned: bool = False
    settled: bool = False

    def update(self, step_id: str, data: JsonObject) -> None:
        step = next((step for step in self.steps if step.id == step_id), None)
        if step is None:
            step = Step(step_id)
            self.steps.append(step)
        step.update(data)
        self.planned = self.planned or step.state == "todo"
        self._advance()

    def close(self, finalized_by: str) -> None:
        for step in self.steps:
            step.close(finalized_by)
        self.settled = True
        self._advance()

    def _advance(self) -> None:
        # Several steps that were not announced: there may be one more, and a full bar must not have to wait for it.
        alone = len(self.steps) == 1 and not self.title
        unknown = not (alone or self.planned or self.settled)
        share = sum(step.share for step in self.steps) / (len(self.steps) + unknown)
        self.shown = max(self.shown, min(100, int(share * 100)))

    @property
    def determinate(self) -> bool:
        counted = (step.percent is not None or step.state != "running" for step in self.steps)
        return self.settled or len(self.steps) > 1 or any(counted)

    def html(self, render: RenderContext) -> SafeString:
        done = sum(step.state in ("done", "skipped") for step in self.steps)
        broken = any(step.state == "failed" for step in self.steps)
        stopped = any(step.state in ("stopped", "left") for step in self.steps)
        alone = len(self.steps) == 1 and not self.title
        title = self.title or (self.steps[0].label if alone else "") or _("Progress")
        count = _("{} of {}").format(done, len(self.steps))
        if broken or stopped:
            count = _("Stopped at {}").format(count)
        if alone:
            count = self._alone(done=bool(done), broken=broken, stopped=stopped)
        label = text(title)
        if self.settled and not broken and not stopped:
            return self._folded(label, count, alone=alone)
        if self.determinate:
            bar = html(
                '<progress class="b-bar" value="{}" max="100" aria-label="{}"{}></progress>',
                self.shown,
                label,
                trusted(' data-state="failed"')
                if broken
                else trusted(' data-state="stopped"')
                if stopped
                else "",
            )
        else:
            bar = html('<progress class="b-bar" aria-label="{}"></progress>', label)
        return html(
            '<div class="b-card b-progress" id="{}" role="group" aria-label="{}"><div class="b-progress__head">'
            '<b dir="auto">{}</b><span><bdi>{}</bdi></span></div>{}<ol class="b-steps{}" role="list">{}</ol></div>',
            self.id,
            label,
            label,
            text(count),
            bar,
            " b-sr" if alone else "",  # its line would only say again what the head says
            join(step.html() for step in self.steps),
        )

    def _folded(self, label: SafeString, count: str, *, alone: bool) -> SafeString:
        """All of it is done: one line, as of everything else that was gone through."""
        said = html("<bdi>{}</bdi> · <bdi>{}</bdi>", label, text(count))
        if alone:
            return html('<p class="b-ack b-progress" id="{}"><span dir="auto">{}</span></p>', self.id, said)
        return html(
            '<details class="b-ack b-progress" id="{}"><summary>{}<span dir="auto">{}</span></summary>'
            '<ol class="b-steps" role="list">{}</ol></details>',
            self.id,
            icon("right", "b-icon--flip"),
            said,
            join(step.html() for step in self.steps),
        )

    def _alone(self, *, done: bool, broken: bool, stopped: bool) -> str:
        if done:
            return _("Done")
        return _("Failed") if broken else _("Stopped") if stopped else self.steps[0].detail

    def dump(self) -> JsonObject:
        return {**super().dump(), "steps": [asdict(step) for step in self.steps]}

    @classmethod
    def load(cls, data: JsonObject) -> Self:
        return super().load({**data, "steps": [Step(**step) for step in data["steps"]]})


def advance(context: RowContext) -> None:
    """A progress part. The card stays where it is when the turn goes on further down."""
    data = context.data
    given = data.get("group")
    group = given if isinstance(given, str) else ""
    card = context.model.find(context.turn.cards.get(group), ProgressView)
    if card is None:
        card = ProgressView(context.new_id(), group)
        context.turn.cards[group] = card.id
        card.update(_step_id(data), data)
        context.model.add(context.segment(), card)
        return
    card.update(_step_id(data), data)
    context.model.touch(card)


def close(context: RowContext, how: str) -> None:
    """The turn settled, and so have its cards; ``how`` is what finalized it."""
    for card_id in context.turn.cards.values():
        card = context.model.find(card_id, ProgressView)
        if card is not None and not card.settled:
            card.close(how)
            context.model.touch(card)


def _step_id(data: JsonObject) -> str:
    value = data.get("id")
    return value if isinstance(value, str) and value else "step"


def _number(value: Json) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _percent(current: float | None, total: float | None) -> int | None:
    if current is None or total is None or total <= 0:
        return None
    try:
        return int(max(0.0, min(1.0, current / total)) * 100)
    except OverflowError:
        return None
