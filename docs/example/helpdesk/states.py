"""What a conversation may be in: a case is open, on hold or closed. A closed one stays closed."""

from __future__ import annotations

from envelopes import Coordinate, StateMachine

CASE = StateMachine(
    "case",
    {
        "status": Coordinate(
            "open", {"open": ("on-hold", "closed"), "on-hold": ("open", "closed"), "closed": ()}
        )
    },
    allow_handler_transitions=True,
)
