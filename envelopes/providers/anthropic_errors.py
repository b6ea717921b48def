"""What can go wrong between us and the Claude API, as ``ProviderError``: a sentence for people, whether to retry.

Measured with SDK 2.14: an ``error`` event in a stream is a plain ``APIStatusError`` whose status is 200, so its type
counts before its status; a stalled stream is ``httpx2.ReadTimeout`` and not the SDK's timeout error.
"""

from __future__ import annotations

import anthropic
import httpx2

from envelopes.errors import ProviderError

_BUSY = "Claude is very busy at the moment. Asking again in a minute usually helps."
_BROKEN = "The connection to Claude broke off. Asking again usually helps."
_SILENT = "Claude did not answer in time. Asking again usually helps."
_TROUBLE = "Claude had a problem of its own. Asking again usually helps."
_KEY = "Claude does not accept the key that is set up here. Whoever runs this site has to check it."
_RIGHTS = "The key that is set up here may not use this model. Whoever runs this site has to check it."
_MODEL = "The model that is set up here does not exist. Whoever runs this site has to check it."
_MONEY = "The Claude account of this site cannot pay for an answer. Whoever runs this site has to check it."
_LONG = "This conversation is too long for Claude. Start a new one."
_REFUSED = "Claude did not accept the request. Asking the same again will not help."

# By type of error, then by status: sentence, and whether again may help.
_TYPES: dict[str, tuple[str, bool]] = {
    "overloaded_error": (_BUSY, True),
    "rate_limit_error": (_BUSY, True),
    "api_error": (_TROUBLE, True),
    "timeout_error": (_SILENT, True),
    "authentication_error": (_KEY, False),
    "permission_error": (_RIGHTS, False),
    "billing_error": (_MONEY, False),
    "not_found_error": (_MODEL, False),
    "request_too_large": (_LONG, False),
    "invalid_request_error": (_REFUSED, False),
}
_STATUSES: dict[int, tuple[str, bool]] = {
    401: (_KEY, False),
    402: (_MONEY, False),
    403: (_RIGHTS, False),
    404: (_MODEL, False),
    408: (_SILENT, True),
    409: (_TROUBLE, True),
    413: (_LONG, False),
    429: (_BUSY, True),
    503: (_BUSY, True),
    504: (_SILENT, True),
    529: (_BUSY, True),
}


def as_provider_error(error: Exception) -> ProviderError:
    """``error`` in our terms; ``detail`` holds its own words, for the log and not for people."""
    if isinstance(error, anthropic.APIStatusError):
        return _from_status(error)
    if isinstance(error, (anthropic.APITimeoutError, httpx2.TimeoutException)):
        return ProviderError(_SILENT, retryable=True, kind="timeout", detail=_words(error))
    if isinstance(error, (anthropic.APIConnectionError, httpx2.HTTPError, httpx2.StreamError)):
        return ProviderError(_BROKEN, retryable=True, kind="connection", detail=_words(error))
    if isinstance(error, (anthropic.APIResponseValidationError, ValueError)):
        return ProviderError(_BROKEN, retryable=True, kind="unreadable", detail=_words(error))
    return ProviderError(_REFUSED, retryable=False, kind="refused", detail=_words(error))


def _from_status(error: anthropic.APIStatusError) -> ProviderError:
    kind, status = error.type, error.status_code
    sentence, retryable = _TYPES.get(kind or "") or _STATUSES.get(status) or _by_class(status)
    if kind == "invalid_request_error" and status == 413:
        sentence, retryable = _LONG, False
    return ProviderError(
        sentence,
        retryable=retryable,
        kind=kind or "status",
        status=status,
        request_id=error.request_id,
        detail=error.api_message or _words(error),
    )


def _by_class(status: int) -> tuple[str, bool]:
    """200 is an error event of a type that this does not know."""
    return (_REFUSED, False) if 400 <= status < 500 else (_TROUBLE, True)


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:500]
