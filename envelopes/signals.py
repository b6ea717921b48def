"""Signals that the runtime sends, and those of Django that it listens to."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.signals import user_logged_in
from django.dispatch import Signal, receiver

from envelopes.access import COOKIE, adopt_sessions

turn_settled = Signal()
"""Arguments ``session_id``, ``turn_id``, ``turn_state``, ``finalized_by``; sent after commit."""

approval_decided = Signal()
"""Arguments ``approval_id``, ``state``, ``decided_by``, ``source``; sent after commit."""

conversation_erased = Signal()
"""Argument ``session_id``, the public one; sent inside the transaction that deletes a conversation, for what an
application keeps of it."""

state_transition_rejected = Signal()
"""Arguments ``session_id``, ``turn_id`` ("" for none), ``patch``, ``reasons`` and ``source`` (actor, peer); sent after
commit (respond() document, "setState": onStateTransitionRejected)."""


@receiver(user_logged_in, dispatch_uid="beach_adopt_sessions")
def _adopt(sender: Any, request: Any, user: Any, **kwargs: Any) -> None:
    if request is not None:
        adopt_sessions(user, request.COOKIES.get(COOKIE))
