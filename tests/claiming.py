"""The two ways in which a turn is claimed: where it is opened, and from the queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from envelopes.runtime import kept_places
from envelopes.turns import leases, places


def only_from_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process whose runner keeps no place: each turn is queued, and claimed by whoever hears of it."""
    monkeypatch.setattr(kept_places, "JOBS_BEFORE", -1)


def recorded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How turns are claimed from now on: "opened" or "queued", one for each claim."""
    ways: list[str] = []

    def said(way: str, claim: Callable[..., leases.Claim | None]) -> Callable[..., leases.Claim | None]:
        def claiming(*given: Any) -> leases.Claim | None:
            claimed = claim(*given)
            if claimed is not None:
                ways.append(way)
            return claimed

        return claiming

    monkeypatch.setattr(places, "claim_opened", said("opened", leases.claim_opened))
    monkeypatch.setattr(leases, "claim_next", said("queued", leases.claim_next))
    return ways
