"""What can go wrong between us and a server that speaks OpenAI's chat completions, in our terms (``failures``).

Servers agree on the status and on little else: codes are those of OpenAI, words are looked at only to tell a request
that is too long. An error in the middle of a stream is a plain ``APIError`` without a status.
"""

from __future__ import annotations

import re

import openai

from envelopes.errors import ProviderError
from envelopes.providers import failures
from envelopes.providers.sdk import from_sdk

_CODES: dict[str, failures.Failure] = {
    "context_length_exceeded": failures.TOO_LONG,
    "request_too_large": failures.TOO_LONG,
    "insufficient_quota": failures.MONEY,
    "billing_hard_limit_reached": failures.MONEY,
    "billing_not_active": failures.MONEY,
    "invalid_api_key": failures.KEY,
    "model_not_found": failures.MODEL,
    "rate_limit_exceeded": failures.BUSY,
    "overloaded_error": failures.BUSY,
    "server_error": failures.TROUBLE,
    "invalid_request_error": failures.REFUSED,
    "invalid_prompt": failures.REFUSED,
}

_LONG = re.compile(
    r"maximum context length|exceeds? the (available |model's )?context|context (size|window)|prompt is too long"
    r"|too many tokens|reduce the length",
    re.IGNORECASE,
)


def as_provider_error(error: Exception, who: str) -> ProviderError:
    """``error`` in our terms."""
    return from_sdk(error, who, openai, openai.APIError, _told)


def _told(error: openai.APIError, who: str) -> ProviderError:
    """The server has said what is wrong, before the stream or in it."""
    response = error.response if isinstance(error, openai.APIStatusError) else None
    status = response.status_code if response is not None else 200
    code = str(error.code or error.type or "")
    # The type says less than the status, where there is one: everything below 500 is an invalid request.
    known = str(error.code or "") if response is not None else code
    failure = _CODES.get(known) or failures.by_status(status)
    if failure is failures.REFUSED and _LONG.search(error.message):
        failure = failures.TOO_LONG
    return failures.failed(
        failure,
        who,
        kind=code or "status",
        headers=response.headers if response is not None else None,
        status=status,
        request_id=getattr(error, "request_id", None),
        detail=error.message,
    )
