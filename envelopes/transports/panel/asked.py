"""That somebody was shown a question in the chat, for the audit log: beside what is sent, so no row waits for it."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from envelopes import audit
from envelopes.database_threads import beside_sessions
from envelopes.delivery import rules
from envelopes.delivery.items import Item
from envelopes.registries.doors import CHAT
from envelopes.registries.part_types import part_types
from envelopes.session_state import Frame
from envelopes.transports.panel.identity import Admission, current_principal

logger = logging.getLogger(__name__)


def asks(item: Item) -> bool:
    """Whether a frame shows a question to a person."""
    kind = part_types.get(item.part_type) if isinstance(item, Frame) and item.part_type else None
    return kind is not None and rules.is_question(kind)


def tell(scope: Any, admission: Admission) -> None:
    """Record that whoever was let in is shown what is open in their session. Nobody waits for it."""
    beside_sessions(_record, scope, admission).add_done_callback(_done)


def _record(scope: Any, admission: Admission) -> None:
    who = current_principal(scope)
    if who.key == admission.key:
        audit.shown_in(admission.session, who, CHAT.name)


def _done(told: asyncio.Future[None]) -> None:
    if not told.cancelled() and (error := told.exception()) is not None:
        # The question is on the page all the same, and is recorded when the page comes again.
        logger.error("That a question was shown was not recorded.", exc_info=error)
