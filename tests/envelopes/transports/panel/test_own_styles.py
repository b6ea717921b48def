"""Styles of a site and its applications (``BEACH_STYLES``) come behind ours; one that is not there is told."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from envelopes.checks.registered import styles


@pytest.mark.django_db
def test_a_page_links_them_behind_ours(client: Client, settings: Any) -> None:
    settings.BEACH_STYLES = ["demo/corfu.css", "demo/lisbon.css"]

    for path, ours in (("/", "beach/chat.css"), ("/sign-in", "beach/door.css")):
        html = client.get(path).text
        assert '<link rel="stylesheet" href="/static/demo/corfu.css">' in html
        assert html.index(ours) < html.index("demo/corfu.css") < html.index("demo/lisbon.css")


def test_one_that_is_not_there_is_told(settings: Any) -> None:
    settings.BEACH_STYLES = ["beach/mark.svg", "shop/shop.css"]

    (error,) = styles(None)

    assert error.id == "envelopes.E011"
    assert error.msg == "BEACH_STYLES has 'shop/shop.css', which is no static file."
