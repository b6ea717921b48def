"""Each row once and in order, and no text before its place or behind its end, whatever readers do meanwhile."""

from __future__ import annotations

import secrets

import pytest
from asgiref.sync import sync_to_async

from tests.envelopes.delivery.racing import expected, race
from tests.envelopes.delivery.test_follower import _begun

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(("readers", "rows"), [(6, 40)])
async def test_readers_that_stall_and_go_away_get_each_row_once_and_in_order(readers: int, rows: int) -> None:
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    session, turn = await sync_to_async(_begun)()

    pages = await race(session, turn, seed, readers=readers, rows=rows)

    wanted = await sync_to_async(expected)(session)
    for page in pages:
        assert page.got == wanted
    # Both ways were taken.
    assert all(any(getattr(page, way) for page in pages) for way in ("at_once", "in_turn"))
