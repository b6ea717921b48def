"""The race of ``tests/envelopes/delivery/test_race.py`` at full size."""

from __future__ import annotations

import pytest

from tests.envelopes.delivery.test_race import (
    test_readers_that_stall_and_go_away_get_each_row_once_and_in_order as small,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("run", range(3))
async def test_twenty_readers_get_each_row_once_and_in_order(run: int) -> None:
    await small(readers=20, rows=120)
