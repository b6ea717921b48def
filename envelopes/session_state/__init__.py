"""A session at a row, kept once per process and shared by everybody who reads or shows it.

Built from the last snapshot plus later rows; one apply a row, one payload for all viewers of a transport (design,
section 2).
"""

from __future__ import annotations

from envelopes.session_state.attempted import Attempted, attempt, store_attempted
from envelopes.session_state.live import LiveSession
from envelopes.session_state.presented import Frame, PresentedSession
from envelopes.session_state.registry import WRITER, LiveSessions, live_sessions
from envelopes.session_state.resumed import TooFarBack, resume
from envelopes.session_state.state import SessionState

__all__ = [
    "WRITER",
    "Attempted",
    "Frame",
    "LiveSession",
    "LiveSessions",
    "PresentedSession",
    "SessionState",
    "TooFarBack",
    "attempt",
    "live_sessions",
    "resume",
    "store_attempted",
]
