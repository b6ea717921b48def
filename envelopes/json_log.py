"""The process log as JSON, an object a line, through structlog: for whoever collects it (``BEACH_LOG_FORMAT=json``)."""

from __future__ import annotations

import logging
from typing import Any

import structlog


def formatter() -> logging.Formatter:
    """For Django's LOGGING, as ``{"()": "envelopes.json_log.formatter"}``: ``timestamp``, ``level``, ``logger``,
    ``event`` (the line) and, of lines about turns, each of their facts under its own name."""
    before: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.ExtraAdder(allow={FACTS}),
        _flat,
        structlog.processors.format_exc_info,
    ]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=before,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.JSONRenderer(),
        ],
    )


FACTS = "beach"
"""The name under which a line brings its facts (``logging``'s ``extra``)."""


def _flat(_logger: object, _method: str, event: Any) -> Any:
    facts = event.pop(FACTS, None)
    return {**(facts if isinstance(facts, dict) else {}), **event}
