"""What can go wrong between us and a server that speaks OpenAI's chat completions, in our terms (``failures``).

Servers agree on the status and on little else: codes are those of OpenAI, words are looked at only to tell a request
that is too long. An error in the middle of a stream is a plain ``APIError`` without a status.
"""

from __future__ import annotations

import re

import httpx2
import openai

from envelopes.errors import ProviderError
from envelopes.providers.failures import (
    BROKEN,
    BUSY,
    KEY,
    MODEL,
    MONEY,
    REFUSED,
    SILENT,
    TOO_LONG,
    TROUBLE,
    UNREADABLE,
    Failure,
    by_status,
    failed,
    words_of,
)

_CODES: dict[str, Failure] = {
    "context_length_exceeded": TOO_LONG,
    "request_too_large": TOO_LONG,
    "insufficient_quota": MONEY,
    "billing_hard_limit_reached": MONEY,
    "billing_not_active": MONEY,
    "invalid_api_key": KEY,
    "model_not_found": MODEL,
    "rate_limit_exceeded": BUSY,
    "overloaded_error": BUSY,
    "server_error": TROUBLE,
    "invalid_request_error": REFUSED,
    "invalid_prompt": REFUSED,
}

_LONG = re.compile(
    r"maximum context length|exceeds? the (available |model's )?context|context (size|window)|prompt is too long"
    r"|too many tokens|reduce the length",
    re.IGNORECASE,
)


def as_provider_error(error: Exception, who: str) -> ProviderError:
    """``error`` in our terms; ``detail`` holds its own words, for the log and not for people."""
    if isinstance(error, (openai.APITimeoutError, httpx2.TimeoutException)):
        return failed(SILENT, who, kind="timeout", detail=words_of(error))
    if isinstance(error, (openai.APIConnectionError, httpx2.HTTPError, httpx2.StreamError)):
        return failed(BROKEN, who, kind="connection", detail=words_of(error))
    if isinstance(error, (openai.APIResponseValidationError, *UNREADABLE)):
        return failed(BROKEN, who, kind="unreadable", detail=words_of(error))
    if isinstance(error, openai.APIError):
        return _told(error, who)
    return failed(REFUSED, who, kind="refused", detail=words_of(error))


def _told(error: openai.APIError, who: str) -> ProviderError:
    """The server has said what is wrong, before the stream or in it."""
    response = error.response if isinstance(error, openai.APIStatusError) else None
    status = response.status_code if response is not None else 200
    code = str(error.code or error.type or "")
    # The type says less than the status, where there is one: everything below 500 is an invalid request.
    failure = _CODES.get(str(error.code or "" if response is not None else code)) or by_status(status)
    if failure is REFUSED and _LONG.search(error.message):
        failure = TOO_LONG
    return failed(
        failure,
        who,
        kind=code or "status",
        headers=response.headers if response is not None else None,
        status=status,
        request_id=getattr(error, "request_id", None),
        detail=error.message[:500],
    )
