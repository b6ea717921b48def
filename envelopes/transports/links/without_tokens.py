"""Links stay out of the process log: Django writes there the path of each request that it refuses, and that of a link
is its secret."""

from __future__ import annotations

import logging
import re

LOGGERS = ("django.request", "django.security.csrf", "django.server", "daphne.access")
"""Those that write paths."""

_TOKEN = re.compile(r"(/approve/|%2Fapprove%2F)[A-Za-z0-9:._%-]+", re.IGNORECASE)


class WithoutTokens(logging.Filter):
    """Cuts the token out of what a line is made of; each line is written."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.msg, str):
            record.msg = _cut(record.msg)
        if isinstance(record.args, tuple):
            record.args = tuple(_cut(one) if isinstance(one, str) else one for one in record.args)
        return True


def _cut(text: str) -> str:
    return _TOKEN.sub(r"\1...", text)


def keep_out() -> None:
    """Put the filter on the loggers, once."""
    for name in LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(one, WithoutTokens) for one in logger.filters):
            logger.addFilter(WithoutTokens())
