"""What people do, as rows: messages, edits, actions, stop. Authorised, validated, deduplicated, appended.

Each function returns the answer for the client; each answer with an effect is stored with the client's message id, and
a repeat gets the same answer (D36). ``turns`` and ``fields`` run in a thread with a database connection, under the
session's lock; ``short_way`` in the event loop.
"""

from __future__ import annotations

from envelopes.intake.fields import SurfaceRefused, post_edit, post_show
from envelopes.intake.originating import originator
from envelopes.intake.remembering import FORGOTTEN_AT_ONCE, REMEMBERED, forget_messages
from envelopes.intake.short_way import edit, show
from envelopes.intake.turns import post_action, post_decision, post_message, post_submission, stop

__all__ = [
    "FORGOTTEN_AT_ONCE",
    "REMEMBERED",
    "SurfaceRefused",
    "edit",
    "forget_messages",
    "originator",
    "post_action",
    "post_decision",
    "post_edit",
    "post_message",
    "post_show",
    "post_submission",
    "show",
    "stop",
]
