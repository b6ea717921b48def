"""Deliveries that nobody is replayed are deleted, and nobody who subscribes can tell."""

from __future__ import annotations

import random
from dataclasses import asdict
from typing import Any

import pytest

from envelopes.log import trimming
from envelopes.models import Session, StreamDelivery, StreamView
from envelopes.runtime.tidying import KEPT_ROWS, Tidying
from envelopes.session_state.resumed import REPLAYED_ROWS
from envelopes.transports.live import views
from tests.factories import make_session

pytestmark = pytest.mark.django_db


def history(session: Session, dice: random.Random, rows: int) -> StreamView:
    """Rows of up to three deliveries of all policies."""
    made: list[tuple[int, str, str]] = []
    for row in range(1, rows + 1):
        for _ in range(dice.choice([0, 0, 1, 1, 2, 3])):
            replay = dice.choice(["none", "none", "latest", "all"])
            made.append((row, f"{replay}-{dice.randrange(3)}", replay))
    view = StreamView.objects.create(
        session=session, transport="live", key="k", wants=[], last=len(made), upto=rows
    )
    StreamDelivery.objects.bulk_create(
        StreamDelivery(view=view, seq=seq, row=row, channel=channel, replay=replay)
        for seq, (row, channel, replay) in enumerate(made, 1)
    )
    return view


@pytest.mark.parametrize("ring", [5, 400])
def test_what_a_subscription_begins_with_is_the_same(
    ring: int, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.BEACH_LIVE_RING = ring
    monkeypatch.setattr(views, "REPLAYED_ROWS", 130)
    replayed = frozenset(f"{kind}-{number}" for kind in ("latest", "all") for number in range(3))
    monkeypatch.setattr(views, "replayable", lambda session: replayed)
    monkeypatch.setattr(views, "_early", lambda session, view, kept: tuple(sorted(kept.items())))
    dice = random.Random(7)
    session = make_session()
    view = history(session, dice, 300)
    asked = [None, *range(0, view.last + 1, 7)]

    def begins() -> list[dict[str, Any]]:
        return [asdict(views.plan(view, session, row, since)) for row in (298, 300) for since in asked]

    before, count = begins(), StreamDelivery.objects.count()
    assert trimming.trim(60) > 0
    assert begins() == before
    left = StreamDelivery.objects.filter(row__lt=240)
    # The newest, the newest that all get, and one for each channel that keeps its latest.
    assert left.count() <= 5 < count
    assert trimming.trim(60) == 0


async def test_it_is_done_with_the_rest_a_piece_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    sizes = iter([trimming.TRIMMED_AT_ONCE, 3])

    async def quietly(name: str, work: Any) -> None:
        if name == "deletion of deliveries":
            await work()
        done.append(name)

    asked: list[int] = []
    monkeypatch.setattr(trimming, "trim", lambda kept: asked.append(kept) or next(sizes))
    await Tidying(quietly).sweep()
    assert "deletion of deliveries" in done
    assert asked == [KEPT_ROWS] * 2
    assert KEPT_ROWS > REPLAYED_ROWS
