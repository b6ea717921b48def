"""What answers a frame that failed, and what the log says of it."""

from __future__ import annotations

import logging

from envelopes.delivery import AWAY
from envelopes.errors import BeachError, Unavailable
from envelopes.transports.live.actions import violation_details
from envelopes.transports.live.contracts import ContractViolation
from envelopes.transports.live.errors import payload_of
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)


def refusal(error: Exception, logged: set[str]) -> JsonObject:
    """The payload of the error frame. ``logged`` are the codes of which the log has heard on this connection: whoever
    sends many bad frames fills nobody's log."""
    match error:
        case ContractViolation():
            return {**payload_of(error), "details": violation_details(error)}
        case BeachError():
            # The code only: a sentence may speak of what somebody has written.
            if error.code not in logged:
                logged.add(error.code)
                logger.info("Refused a frame of the live channel: %s", error.code)
            return payload_of(error)
        case _ if isinstance(error, AWAY):
            logger.warning("A frame of the live channel has to come again: %r", error)
            return payload_of(Unavailable())
        case _:
            logger.error("A frame of the live channel failed.", exc_info=error)
            return {"code": "INTERNAL_ERROR", "message": "That failed. It has been logged."}
