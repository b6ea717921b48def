"""The keyboard alone at further sizes, 640 by 400 being 1280 by 800 at 200 percent; others are in tests/browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.conftest import Desk
from tests.browser.test_keyboard import book
from tests.liveserver import Server


@pytest.mark.parametrize("size", [(1280, 800), (640, 400), (320, 568), (390, 844)])
def test_p7_the_keyboard_alone_books_a_flight_at_further_sizes(
    site: Server, open_desk: Callable[..., Desk], size: tuple[int, int]
) -> None:
    book(open_desk(viewport={"width": size[0], "height": size[1]}).page(), site)
