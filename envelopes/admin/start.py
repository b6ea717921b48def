"""The start page of the desk: what waits, what goes on, and how today went, each for those who may see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.admin import AdminSite
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from envelopes.access import Principal, principal_of
from envelopes.admin import charts, queue, today
from envelopes.admin.display import change_url, turn_mark
from envelopes.admin.owners import owners
from envelopes.admin.queue_rows import drawn
from envelopes.conf import conf
from envelopes.costs import money, with_cost
from envelopes.desk.site import Desk
from envelopes.desk.times import clock, countdown, length
from envelopes.markup.html import NOTHING, SafeString, html, reveal
from envelopes.models import Approval, Session, ToolCall, Turn
from envelopes.registries.actors import agent_name
from envelopes.turns.day_costs import day_costs

SHOWN = 4
"""Rows of each list; the rest is a link away."""
LIVE_COUNTED = 99
"""Live conversations are counted so far."""


@dataclass(frozen=True)
class Row:
    """One line of a list: what, its state at the end; below it who, and more."""

    url: str
    name: SafeString
    state: SafeString
    who: SafeString
    more: SafeString | str


@dataclass(frozen=True)
class Figure:
    """One number of today. ``unit`` stands beside it, ``note`` below; ``url`` is empty where it leads nowhere."""

    name: str
    value: str
    unit: str
    note: str
    spark: SafeString
    url: str = ""


def context(site: AdminSite, request: HttpRequest) -> dict[str, Any]:
    """What the template needs beside the frame's own. Every query is of an index and bounded."""
    who, now = principal_of(request), timezone.now()
    sees = {model: _sees(site, request, model) for model in (Approval, Session, Turn, ToolCall)}
    told: dict[str, Any] = {
        "date": date_format(timezone.localtime(now), "l j F Y"),
        "figures": [],
    }
    page = queue.page(queue.Asked(), _source(site, request), size=SHOWN) if sees[Approval] else queue.Page([])
    recent = _recent(now) if sees[Session] else []
    named = owners([*(one.session_id for one in page.rows), *(one.pk for one in recent[:SHOWN])])
    if sees[Approval]:
        told |= _waiting(page, who, now, named)
    if sees[Approval] and site._registry[Approval].sees_all(request):  # type: ignore[attr-defined]
        # Sums of what only some of them may see would tell them of the rest.
        told |= _decisions(told["figures"], now)
    if sees[Session]:
        told |= _live(told["figures"], recent, named)
    if sees[Turn]:
        told |= _errors(told["figures"], now, calls=sees[ToolCall]) | _tokens(told["figures"], now)
    return told


def _sees(site: AdminSite, request: HttpRequest, model: type[Any]) -> bool:
    admin = site._registry.get(model)
    return admin is not None and admin.has_view_permission(request)


# -- what waits, and what goes on -------------------------------------------------------------------------------------


def _source(site: AdminSite, request: HttpRequest) -> queue.Source:
    source: queue.Source = site._registry[Approval].source(request)  # type: ignore[attr-defined]
    return source


def _waiting(
    page: queue.Page, who: Principal, now: datetime, named: Mapping[int, SafeString]
) -> dict[str, Any]:
    first = page.rows[0].expires_at if page.rows else None
    return {
        "waiting_rows": drawn(page.rows, who, named=named),
        "next_in": countdown(first - now) if first and (first - now).total_seconds() < 3600 else "",
        "queue_url": reverse("admin:envelopes_approval_changelist"),
    }


def _recent(now: datetime) -> list[Any]:
    """Live conversations with where their newest turn stands, at most ``LIVE_COUNTED`` + 1."""
    rows = Session.objects.filter(updated_at__gte=now - today.LIVE).order_by("-updated_at", "-pk")
    newest = Turn.objects.filter(session=OuterRef("pk")).order_by("-number")
    rows = rows.annotate(
        status=Subquery(newest.values("status")[:1]),
        said=Subquery(newest.values("turn_state")[:1]),
        end=Subquery(newest.values("finalized_by")[:1]),
    )
    return list(rows[: LIVE_COUNTED + 1])


def _live(figures: list[Figure], recent: list[Any], named: Mapping[int, SafeString]) -> dict[str, Any]:
    count = f"{LIVE_COUNTED}+" if len(recent) > LIVE_COUNTED else f"{len(recent)}"
    url = reverse("admin:envelopes_session_changelist")
    minutes = int(today.LIVE.total_seconds()) // 60
    note = _("something happened in the last {} min").format(minutes)
    figures.append(Figure(_("Live conversations"), count, "", note, NOTHING, url))
    return {
        "live_rows": [
            Row(
                change_url(one),
                reveal(str(one)),
                turn_mark(one.status, one.said, one.end) if one.status else NOTHING,
                named.get(one.pk, NOTHING),
                reveal(agent_name(one.actor)),
            )
            for one in recent[:SHOWN]
        ],
        "live_count": count,
        "live_url": url,
    }


# -- today ------------------------------------------------------------------------------------------------------------


def _decisions(figures: list[Figure], now: datetime) -> dict[str, Any]:
    found = today.decided(now)
    url = f"{reverse('admin:envelopes_approval_changelist')}?view=decided"
    cut = _("of the newest {}").format(f"{today.DECISIONS:,}") if found.cut else ""
    both = _("{} approved, {} denied").format(found.granted - found.by_rules, found.denied)
    ruled = _("{} more by rules").format(found.by_rules) if found.by_rules else ""
    spark = charts.spark([sum(hour[:2]) for hour in found.by_hour[-8:]])
    note = ", ".join(filter(None, (both, ruled, cut)))
    figures.append(Figure(_("Decided today"), f"{found.by_people}", "", note, spark, url))
    value, unit = _time(found.median)
    slow = _("9 in 10 under {}").format(_bound(found.nine_in_ten)) if found.waits else ""
    note = _("median; {}").format(slow) if slow else _("nothing was decided today")
    figures.append(Figure(_("Time to decide"), value, unit, note, NOTHING, url))
    total = [_("Approved {}"), _("Denied {}"), _("Expired {}")]
    counts = (found.granted, found.denied, found.expired)
    return {
        "decisions": charts.bars(
            [
                charts.Bar(f"{hour:02}", tuple(values), now=hour == len(found.by_hour) - 1)
                for hour, values in _hours(found.by_hour)
            ],
            _("Decisions by hour today. {} approved, {} denied and {} expired in all.").format(*counts),
        ),
        "legend": list(
            zip(
                ("is-a", "is-b", "is-c"),
                [word.format(n) for word, n in zip(total, counts, strict=True)],
                strict=True,
            )
        ),
        "bins": _bins(found),
        "half": _("Half were faster than {}").format(_bound(found.median)) if found.waits else "",
        "cut": cut,
    }


def _bins(found: today.Decided) -> list[charts.Bin]:
    names = [_("Under 30 s"), *(_("Up to {} min").format(n) for n in (1, 2, 5, 15)), _("Longer")]
    middle = found.median
    holds = next(
        (n for n, end in enumerate(today.BINS) if middle is not None and middle < end), len(today.BINS)
    )
    rows = [
        (name, count, "mid" if found.waits and number == holds else "")
        for number, (name, count) in enumerate(zip(names, found.bins(), strict=True))
    ]
    return charts.bins([*rows, (_("Expired"), found.expired, "none")])


def _tokens(figures: list[Figure], now: datetime) -> dict[str, Any]:
    found = today.tokens(now)
    note = with_cost(_("{} read, {} written").format(_short(found.read), _short(found.written)), found.cost)
    if found.cut:
        note = f"{note}, {_('of the newest {} replies').format(f'{today.REPLIES:,}')}"
    value = _short(found.read + found.written)
    figures.append(Figure(_("Tokens today"), value, "", note, charts.spark(found.by_hour[-8:])))
    figures += _bounded()
    return {
        "tokens": charts.bars(
            [
                charts.Bar(f"{hour:02}", (value,), now=hour == len(found.by_hour) - 1)
                for hour, value in _hours(found.by_hour)
            ],
            _("Tokens by hour today, {} in all.").format(f"{found.read + found.written:,}"),
        ),
        "tokens_note": _cost_note(value, found.cost),
    }


def _cost_note(tokens: str, cost: float) -> str:
    if not conf.BEACH_PRICES:
        return _("{} so far today; no cost, since no prices are set").format(tokens)
    return _("{} so far today, {}").format(tokens, money(cost))


def _bounded() -> Iterable[Figure]:
    """What was spent today, where that is bounded, and who may spend no more."""
    found = day_costs.standing()
    if found is None:
        return
    note = ""
    if found.is_reached:
        note = _("limit of {} reached, until {}").format(
            money(found.bound), f"{timezone.localtime(found.until):%H:%M}"
        )
    elif found.bound:
        note = _("of {}").format(money(found.bound))
    if found.at_their_bound:
        one = ngettext("{} person at their limit", "{} people at their limit", found.at_their_bound)
        note = ", ".join(filter(None, (note, one.format(f"{found.at_their_bound:,}"))))
    amount, _space, currency = money(found.cost).partition(" ")
    yield Figure(_("Cost today"), amount, currency, note or _("nobody is at their limit"), NOTHING)


def _errors(figures: list[Figure], now: datetime, *, calls: bool) -> dict[str, Any]:
    failed, open_calls = today.failed(now), today.unknown() if calls else []
    rows = [
        Row(
            change_url(call),
            html(_("Outcome unknown: {}"), reveal(_asked(call))),
            html('<span class="dk-state" data-state="failed">{}</span>', _("Open")),
            reveal(str(call.turn.session)),
            _("It was interrupted while running and will not run again."),
        )
        for call in open_calls[:SHOWN]
    ]
    rows += [
        Row(
            change_url(turn),
            html(_("Answer failed: “{}”"), reveal(str(turn.session))),
            html('<span class="dk-state" data-state="denied">{}</span>', _("The visitor was told")),
            reveal(agent_name(turn.actor)),
            clock(turn.settled_at) if turn.settled_at else "",
        )
        for turn in failed[: max(1, SHOWN - len(rows))]
    ]
    many = f"{today.ERRORS}+" if len(failed) > today.ERRORS else f"{len(failed)}"
    unknown = f"{today.ERRORS}+" if len(open_calls) > today.ERRORS else f"{len(open_calls)}"
    note = ngettext("{} outcome unknown", "{} outcomes unknown", len(open_calls)).format(unknown)
    figures.append(Figure(_("Errors today"), many, "", note, NOTHING, ""))
    return {"error_rows": rows}


def _asked(call: ToolCall) -> str:
    approval = getattr(call, "approval", None)
    return approval.question if approval is not None else call.name


def _hours(by_hour: list[Any]) -> Iterable[tuple[int, Any]]:
    """From the first hour in which anything happened on, and eight at least where the day has had so many."""
    first = next(
        (n for n, one in enumerate(by_hour) if (sum(one) if isinstance(one, list) else one)), len(by_hour)
    )
    start = min(first, max(0, len(by_hour) - 8))
    return list(enumerate(by_hour))[start:]


def _time(seconds: float | None) -> tuple[str, str]:
    """A length of time as a figure and its unit."""
    if seconds is None:
        return "\N{EN DASH}", ""
    if seconds < 60:
        return f"{seconds:.0f}", _("s")
    span = timedelta(seconds=seconds)
    return (countdown(span), _("min")) if seconds < 3600 else (length(span), "")


def _bound(seconds: float | None) -> str:
    """A length of time that others are under: nothing is under none."""
    return " ".join(_time(None if seconds is None else max(seconds, 1.0))).strip()


def _short(count: int) -> str:
    """A large number, short: ``940``, ``12.4k``, ``3.1M``."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.1f}{unit}"
    return str(count)


Desk.start_with(context)
