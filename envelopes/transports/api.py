"""The JSON doors of all transports as one HTTP API: who calls, what errors look like, and its OpenAPI description.

A transport brings a router (``Transport.api``); its operations ask ``caller_of(request)``. A caller is a peer with its
token, or whoever is signed in at a browser, whose unsafe requests carry Django's CSRF token (D16).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError, close_old_connections
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from ninja import NinjaAPI, Router, Schema
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf
from pydantic import ConfigDict

from envelopes.access import COOKIE, Principal, get_session, principal_now, principal_of
from envelopes.errors import BeachError, Forbidden, NotFound, TooLarge, Unavailable
from envelopes.peers import authenticate, principal_of_peer, rates
from envelopes.registries.scopes import SCOPES

logger = logging.getLogger(__name__)

VERSION = "1"

STATUS = {
    "VALIDATION_FAILED": 400,
    "not_found": 404,
    "forbidden": 403,
    "already_changed": 409,
    "already_decided": 409,
    "disabled": 409,
    "expired": 410,
    "conflict": 409,
    "too_large": 413,
    "too_many_messages": 429,
    "day_cost_reached": 429,
    "person_cost_reached": 429,
    "address_cost_reached": 429,
    "too_often": 429,
    "unavailable": 503,
}
"""HTTP's word for each error that a caller can meet; any other is the server's own fault, 500."""


class Problem(Schema):
    """An error: a stable code, a sentence for a person, and what else is known of it."""

    model_config = ConfigDict(extra="allow")

    code: str
    message: str


@dataclass(frozen=True)
class Caller:
    """Whoever asks. ``scopes`` narrow what their rights allow; a person has all of them."""

    who: Principal
    scopes: frozenset[str]

    def needs(self, scope: str) -> None:
        """Raises ``Forbidden`` without this scope."""
        if scope not in self.scopes:
            raise Forbidden(f"This token may not {SCOPES[scope]}.", scope=scope)


class PeerToken(HttpBearer):
    """``Authorization: Bearer beach_...``."""

    def authenticate(self, request: HttpRequest, token: str) -> Caller:
        """Raises ``AuthenticationError`` for a token that is none (any more), ``TooOften``."""
        try:
            peer = authenticate(token)
        finally:
            _let_go()
        if peer is None:
            raise AuthenticationError
        rates.take(peer)
        return Caller(principal_of_peer(peer), frozenset(peer.scopes))


class SignedIn(APIKeyCookie):
    """A browser in which somebody has signed in, or that holds the cookie of a guest."""

    def __init__(self) -> None:
        self.param_name = settings.SESSION_COOKIE_NAME
        # Checked here and not before it is known who asks: a program without a token has forged nothing.
        super().__init__(csrf=False)

    def authenticate(self, request: HttpRequest, key: str | None) -> Caller | None:
        """None for nobody. Raises ``HttpError`` for somebody whose request may be forged."""
        try:
            who = principal_of(request)
        finally:
            _let_go()
        if not who.is_known:
            return None
        if check_csrf(request) is not None:
            raise HttpError(403, "CSRF check failed")
        return Caller(who, frozenset(SCOPES))


def _let_go() -> None:
    """A request keeps its connection to the database until it has been answered, and here that may take as long as
    somebody listens: a few would take all that there are. From here on the work is done in the database's threads."""
    close_old_connections()


def caller_of(request: HttpRequest) -> Caller:
    """Whoever was let in."""
    caller: Caller = request.auth  # type: ignore[attr-defined]
    return caller


def caller_of_now(request: HttpRequest) -> Caller | None:
    """Whoever the same request would let in now, without counting it as one more; None for nobody. In a thread."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() == PeerToken.openapi_scheme:
        peer = authenticate(token)
        return Caller(principal_of_peer(peer), frozenset(peer.scopes)) if peer is not None else None
    # What the request has read of its session is as old as the request.
    who = principal_now(request.session.session_key, request.COOKIES.get(COOKIE))
    return Caller(who, frozenset(SCOPES)) if who.is_known else None


def still_reads(request: HttpRequest, who: Principal, session_id: str) -> bool:
    """Whether the same token or cookies let the same one read this conversation now. In a thread."""
    try:
        caller = caller_of_now(request)
        if caller is None or caller.who.key != who.key or "read" not in caller.scopes:
            return False
        get_session(caller.who, session_id)
    except BeachError:
        return False
    return True


def make_api(routers: Iterable[Router]) -> NinjaAPI:
    """One API of all ``routers``, without addresses of its own beside theirs."""
    api = NinjaAPI(
        title="Beach",
        version=VERSION,
        description="Conversations with agents: say something, follow what comes, fetch what was answered.",
        auth=[PeerToken(), SignedIn()],
        openapi_url=None,
        docs_url=None,
        urls_namespace="beach-api",
    )
    for router in routers:
        api.add_router("", router)
    # Handlers are typed as taking classes of errors too.
    api.add_exception_handler(BeachError, _refused)
    api.add_exception_handler(AuthenticationError, _unknown)
    api.add_exception_handler(ValidationError, _malformed)
    api.add_exception_handler(HttpError, _no_token)
    api.add_exception_handler(RequestDataTooBig, _too_big)
    for away in (OperationalError, InterfaceError):
        api.add_exception_handler(away, _away)
    api.add_exception_handler(Exception, _ours)
    return api


def addresses(api: NinjaAPI) -> list[URLPattern]:
    """Those of ``api``, below one of its own."""
    # The last is a page of ninja's about the API, of which there is none here.
    found = [each for each in api.urls[0] if isinstance(each, URLPattern) and each.name != "api-root"]
    for each in found:
        # Ninja says in plain text that an operation is there for another method.
        each.callback = _naming_methods(each.callback)
    return found


def no_such_address(request: HttpRequest) -> HttpResponse | None:
    """What a site answers below the API's address where there is nothing; None elsewhere."""
    if not request.path.startswith(reverse("envelopes:openapi").removesuffix("openapi.json")):
        return None
    return _refused(request, NotFound("There is nothing at this address."))


def _naming_methods(view: Callable[..., Any]) -> Callable[..., Any]:
    """The same, but for a method that it does not know: that is refused as everything else is."""

    def told(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not isinstance(response, HttpResponseNotAllowed):
            return response
        methods = ", ".join(sorted(response["Allow"].split(", ")))
        message = f"{request.method} is not for this address, which knows {methods}."
        refused = {"code": "method_not_allowed", "message": message}
        return JsonResponse(refused, status=405, headers={"Allow": methods})

    if not iscoroutinefunction(view):
        return wraps(view)(lambda request, *args, **more: told(request, view(request, *args, **more)))

    @wraps(view)
    async def known(request: HttpRequest, *args: Any, **more: Any) -> HttpResponseBase:
        return told(request, await view(request, *args, **more))

    return known


def _refused(request: HttpRequest, error: Any) -> HttpResponse:
    response = JsonResponse(error.as_dict(), status=_status(error))
    if "retry_after" in error.facts:
        response["Retry-After"] = str(max(1, round(error.facts["retry_after"])))
    return response


def _status(error: BeachError) -> int:
    """That of its code; a fault of the caller's that has none here is a bad request."""
    return STATUS.get(error.code, 400 if error.fault == "client" else 500)


def _unknown(request: HttpRequest, error: Any) -> HttpResponse:
    told = {
        "code": "unauthorized",
        "message": "Send the token of a peer as Authorization: Bearer, or sign in.",
    }
    return JsonResponse(told, status=401, headers={"WWW-Authenticate": "Bearer"})


def _malformed(request: HttpRequest, error: Any) -> HttpResponse:
    """The first fault, with a pointer into the body or the name of the parameter."""
    fault = error.errors[0]
    where = [str(step) for step in fault["loc"]]
    # Of a body, ninja names its parameter too.
    path = "/" + "/".join(where[2:]) if where[0] == "body" else "/".join(where[1:])
    told = {"code": "VALIDATION_FAILED", "message": f"{fault['msg']}.", "path": path}
    return JsonResponse(told, status=400)


def _no_token(request: HttpRequest, error: Any) -> HttpResponse:
    """What ninja itself refuses: a body that is no JSON, and a browser's request without the CSRF token."""
    code = "forbidden" if error.status_code == 403 else "VALIDATION_FAILED"
    return JsonResponse({"code": code, "message": f"{str(error).rstrip('.')}."}, status=error.status_code)


def _too_big(request: HttpRequest, error: Any) -> HttpResponse:
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    told = f"A request has at most {limit:,} bytes; a larger file may be kept before, by itself."
    return _refused(request, TooLarge(told, limit=limit))


def _away(request: HttpRequest, error: Any) -> HttpResponse:
    logger.warning("%s %s has to wait for the database: %r", request.method, request.path, error)
    response = _refused(
        request, Unavailable("The database cannot be reached at the moment. Try again in a while.")
    )
    response["Retry-After"] = "1"
    return response


def _ours(request: HttpRequest, error: Any) -> HttpResponse:
    logger.error("%s %s failed.", request.method, request.path, exc_info=error)
    return JsonResponse({"code": "error", "message": "Something went wrong on the server."}, status=500)


@csrf_exempt
@_naming_methods
@require_safe
def openapi(request: HttpRequest, api: NinjaAPI) -> JsonResponse:
    """The OpenAPI 3.1 description of ``api``: for anybody, since it tells nothing of anybody."""
    return JsonResponse(api.get_openapi_schema(path_prefix=request.path.removesuffix("openapi.json")))
