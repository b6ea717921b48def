"""The last resort of a process that was asked to end: it ends, whatever still holds it."""

from __future__ import annotations

import logging
import os
import sys
import threading
import traceback

logger = logging.getLogger(__name__)

END_SECONDS = 9.0
"""Less than the ten seconds after which container runtimes kill: what held the process is then in its log."""


def end_in_time() -> None:
    """Give this process ``END_SECONDS`` to end by itself; then it ends at once, with status 1.

    A thread that waits for a locked database or a silent host cannot be interrupted, and Python waits for its threads.
    Nothing is lost by it: what is done is in the database, and a lease whose owner is gone is taken over.
    """
    timer = threading.Timer(END_SECONDS, _end)
    # As a daemon it is still there while Python waits for the others.
    timer.daemon = True
    timer.start()


def _end() -> None:
    logger.error("Asked to end %g seconds ago; ending without what still runs: %s", END_SECONDS, _at_work())
    logging.shutdown()
    os._exit(1)


def _at_work() -> str:
    """Every other thread and where it stands."""
    frames = sys._current_frames()
    stands = []
    for thread in threading.enumerate():
        frame = frames.get(thread.ident or 0)
        if frame is None or thread is threading.current_thread():
            continue
        at = traceback.extract_stack(frame)[-1]
        stands.append(f"{thread.name} in {at.name} ({at.filename}:{at.lineno})")
    return "; ".join(stands) or "nothing"
