"""The row that says who has a conversation: its agent, or a member of staff."""

from __future__ import annotations

from typing import Literal, TypedDict


class TakeoverData(TypedDict):
    """A member of staff has taken the conversation over from its agent, or handed it back: ``state`` is taken or
    returned. ``name`` is what people are told that they are called, ``agent`` the actor that waits, or that goes on.
    ``by`` is the key of the principal, which nobody is told: of whoever handed it back, who need not have had it."""

    state: Literal["taken", "returned"]
    name: str
    agent: str
    by: str
