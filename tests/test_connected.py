"""What a run says of connections that its end finds."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, connections

from tests import connected

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        connection.vendor != "postgresql", reason="SQLite removes a file that somebody has open"
    ),
]


def test_a_thread_that_keeps_its_connection_is_named_with_its_test_and_what_it_asked() -> None:
    asked, over = threading.Event(), threading.Event()

    def keep() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 'of a thread'")
        asked.set()
        over.wait(30)
        connections.close_all()

    thread = threading.Thread(target=keep, name="keeps it")
    thread.start()
    try:
        assert asked.wait(30)
        (told,) = [each for each in connected.others(0) if each.startswith("keeps it")]
    finally:
        over.set()
        thread.join(30)
    assert told.startswith("keeps it in test_a_thread_that_keeps_its_connection")
    assert told.endswith(", idle: SELECT 'of a thread'")
    assert not [each for each in connected.others(5) if each.startswith("keeps it")]
