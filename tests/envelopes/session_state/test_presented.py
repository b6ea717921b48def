"""What is remembered of a session for those who follow it has a bound."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

from envelopes.protocol.rows import Row
from envelopes.session_state.presented import KEPT_ENDS, PresentedSession

AT = datetime(2026, 8, 15, tzinfo=UTC)
SILENT = SimpleNamespace(busy=False, apply=lambda row, changes, sent: None)


def test_only_turns_at_work_and_the_last_settled_ones_are_remembered() -> None:
    shown = PresentedSession(cast(Any, None), cast(Any, None), cast(Any, SILENT))

    def take(kind: str, turn: int, **data: Any) -> None:
        shown.take(Row(1, kind, AT, data, turn=turn), [])

    take("turn", 1, status="running", attempt=1)
    for turn in range(2, 1002):
        take("turn", turn, status="running", attempt=1)
        take("settled", turn, turnState="complete", finalizedBy="complete")
    take("message", 0, text="Hello")
    take("turn", 1, status="suspended", attempt=1)

    assert len(shown.over) == KEPT_ENDS + 1
    assert shown.over[1] == (2,)
    # Text of the last ones may still be on its way; none of it is shown.
    assert shown.over[1001] == (sys.maxsize,)


def test_what_was_told_goes_with_the_next_row_and_with_the_frames() -> None:
    shown = PresentedSession(cast(Any, None), cast(Any, None), cast(Any, SILENT))

    shown.told = "up to row 0"
    shown.take(Row(1, "message", AT, {"text": "Hello"}), [])
    assert shown.told is None

    shown.told = "up to row 1"
    shown.keep_frames(1)
    assert shown.told is None
