"""The page of the queue: its views, filters and rows; and the rows again for a page that stands open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from envelopes.access import Principal
from envelopes.admin import queue
from envelopes.admin.queue import Asked, Source
from envelopes.admin.queue_rows import QueueRow, drawn
from envelopes.registries.actors import actors


@dataclass(frozen=True)
class View:
    """A tab. ``count`` is empty where nothing is counted."""

    name: str
    url: str
    count: str
    current: bool


@dataclass(frozen=True)
class Choice:
    name: str
    url: str
    current: bool


@dataclass(frozen=True)
class Filter:
    """``chosen`` is what it is set to, in words."""

    name: str
    choices: list[Choice]
    chosen: str


def context(
    asked: Asked, source: Source, who: Principal, *, may_decide: bool, waiting: str
) -> dict[str, Any]:
    """What the template of the whole page needs beside the frame's own, which has counted those that wait."""
    page = queue.page(asked, source)
    found = {"waiting": waiting, **queue.counts(source, may_decide=may_decide)}
    return {
        "asked": asked,
        "rows": drawn(page.rows, who),
        "views": [
            View(name, asked.address(view=view), found.get(view, ""), view == asked.view)
            for view, name in (
                ("waiting", _("Waiting")),
                ("mine", _("Mine to decide")),
                ("unknown", _("Outcome unknown")),
                ("decided", _("Decided")),
                ("all", _("All")),
            )
        ],
        "filters": _filters(asked),
        "foot": _foot(asked, found.get(asked.view, "")),
        "more": asked.address(after=page.more) if page.more else "",
        "first": asked.address() if asked.after else "",
        "address": asked.address(after=asked.after),
        "is_live": asked.view in ("waiting", "mine") and not asked.after,
    }


def rows_now(asked: Asked, source: Source, who: Principal, shown: str) -> list[QueueRow]:
    """The rows as the page would begin now, and behind them those of ``shown`` (keys, by commas) that are decided."""
    page = queue.page(asked, source)
    wanted = set(queue.numbers(shown.split(",")[: 2 * queue.PAGE]))
    missing = wanted - {one.pk for one in page.rows}
    gone = queue.listed(source.seen.filter(pk__in=missing)).exclude(queue.PENDING) if missing else ()
    return drawn(page.rows, who, gone=gone)


def _foot(asked: Asked, count: str) -> str:
    if asked.view in ("waiting", "mine"):
        return _("{} waiting, the next to expire first").format(count) if count else ""
    return _("Newest first")


def _filters(asked: Asked) -> list[Filter]:
    tools = {tool.name for actor in actors for tool in actor.all_tools if tool.approval is not None}
    return [
        _filter(asked, "risk", _("Risk"), [("high", _("High")), ("medium", _("Medium")), ("low", _("Low"))]),
        _filter(asked, "tool", _("Tool"), [(name, name) for name in sorted(tools | _set(asked.tool))]),
        _filter(asked, "agent", _("Agent"), _agents(asked.agent)),
        _filter(
            asked,
            "age",
            _("Age"),
            [("hour", _("Last hour")), ("day", _("Last 24 hours")), ("older", _("Older"))],
        ),
    ]


def _filter(asked: Asked, field: str, name: str, options: Iterable[tuple[str, str]]) -> Filter:
    now = getattr(asked, field)
    choices = [Choice(_("All"), asked.address(**{field: ""}), not now)]
    choices += [Choice(label, asked.address(**{field: value}), value == now) for value, label in options]
    return Filter(name, choices, next((one.name for one in choices[1:] if one.current), ""))


def _agents(chosen: str) -> list[tuple[str, str]]:
    known = {
        actor.name: actor.display_name for actor in actors if any(tool.approval for tool in actor.all_tools)
    }
    known |= {name: known.get(name, name) for name in _set(chosen)}
    return sorted(known.items(), key=lambda one: one[1].casefold())


def _set(value: str) -> set[str]:
    return {value} if value else set()
