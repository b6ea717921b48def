"""The race of ``tests/envelopes/transports/live/test_once.py`` at full size: 8 producers in two processes, and 50
subscribers who are cut off at random."""

from __future__ import annotations

import pytest

from tests.envelopes.transports.live.test_once import test_each_envelope_comes_once_and_in_order as small

pytestmark = pytest.mark.django_db(transaction=True)


async def test_fifty_subscribers_get_each_envelope_once_and_in_order() -> None:
    await small(producers=4, subscribers=50, each=25)
