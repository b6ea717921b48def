"""The gallery, open to everyone."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from tests.a2ui.gallery.page import Tab


@pytest.fixture
def gallery(client: Client, db: None, settings: Any) -> Client:
    """A browser of somebody who is not signed in, where the setting is on."""
    settings.BEACH_GALLERY = True
    cache.clear()
    return client


@pytest.fixture
def tab(gallery: Client) -> Tab:
    """A page with fields, buttons and a long list."""
    return Tab(gallery)
