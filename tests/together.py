"""Doing things really at once: in threads that start together, each with a database connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from django.db import connections


def together(*works: Callable[[], Any], seconds: float = 60) -> list[Any]:
    """Run all of ``works`` at the same time; what each returned, or the exception that it raised, in order."""
    outcomes: list[Any] = [None] * len(works)
    start = threading.Barrier(len(works))

    def run(number: int, work: Callable[[], Any]) -> None:
        try:
            start.wait(seconds)
            outcomes[number] = work()
        except Exception as error:  # noqa: BLE001 - it is the answer
            outcomes[number] = error
        finally:
            connections.close_all()

    threads = [
        threading.Thread(target=run, args=(number, work), daemon=True) for number, work in enumerate(works)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    assert not any(thread.is_alive() for thread in threads), "some of it never came to an end"
    return outcomes
