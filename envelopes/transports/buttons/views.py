"""Where presses of buttons come in. Each is signed by whoever posts it, in time, and counts once."""

from __future__ import annotations

import hmac
import logging
import time
from collections.abc import Callable
from functools import wraps

import httpx
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from envelopes.conf import conf
from envelopes.errors import BeachError, Forbidden, TooLarge, Unavailable, ValidationFailed
from envelopes.transports import signed_posts
from envelopes.transports.buttons import generic
from envelopes.transports.buttons import slack as slack_shapes
from envelopes.transports.buttons import whatsapp as whatsapp_shapes
from envelopes.transports.buttons.presses import read_object, text_at
from envelopes.transports.buttons.pressing import Pressed, press

BODY_BYTES = 100_000
"""The longest post."""

SLACK_ANSWERS = "https://hooks.slack.com/"
"""Where answers to presses go, and nowhere else."""

_STATUS: dict[type[BeachError], int] = {
    TooLarge: 413,
    Forbidden: 403,
    ValidationFailed: 400,
    Unavailable: 503,
}

logger = logging.getLogger(__name__)

View = Callable[[HttpRequest], HttpResponse]


def _program(view: View) -> View:
    """A program has no cookie that could be misused: what it posts is signed. Errors are JSON."""

    @csrf_exempt
    @never_cache
    @wraps(view)
    def answered(request: HttpRequest) -> HttpResponse:
        try:
            return view(request)
        except (TooLarge, Forbidden, ValidationFailed, Unavailable) as error:
            status = next(status for kind, status in _STATUS.items() if isinstance(error, kind))
            return JsonResponse(error.as_dict(), status=status)

    return answered


@require_POST
@_program
def webhook(request: HttpRequest) -> HttpResponse:
    """A press in any program, signed as Standard Webhooks has it (``generic``). 200 ``{state, told}``."""
    if not conf.BEACH_BUTTON_SECRET:
        return HttpResponseNotFound()
    body = signed_posts.body_of(request, BODY_BYTES)
    name = signed_posts.verify(request, body, conf.BEACH_BUTTON_SECRET)
    done = press(generic.press_in(body, name, time.time() + 2 * signed_posts.WINDOW_SECONDS))
    return JsonResponse(done._asdict())


@require_POST
@_program
def slack(request: HttpRequest) -> HttpResponse:
    """A press in Slack. The answer goes to the payload's ``response_url``, since Slack shows nobody that of a post."""
    if not conf.BEACH_SLACK_SECRET:
        return HttpResponseNotFound()
    body = signed_posts.body_of(request, BODY_BYTES)
    now = time.time()
    if not slack_shapes.is_signed(request.headers, body, conf.BEACH_SLACK_SECRET, now):
        raise Forbidden("This is not signed by Slack, or not in time.")
    payload = slack_shapes.payload_in(body)
    # One signature is of one moment and one press.
    signature = request.headers["X-Slack-Signature"]
    until = now + 2 * slack_shapes.WINDOW_SECONDS
    done = press(slack_shapes.press_in(payload, signature, until))
    _tell_slack(text_at(payload, "response_url"), done)
    return HttpResponse(status=200)


def _tell_slack(address: str, done: Pressed) -> None:
    if not address.startswith(SLACK_ANSWERS):
        return
    try:
        told = slack_shapes.answer(done.told, is_decided=done.state == "decided")
        httpx.post(address, json=told, timeout=2.0, follow_redirects=False).raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        # What was decided is decided.
        logger.warning("Slack was not told what came of a press: %s", error)


@require_http_methods(["GET", "POST"])
@_program
def whatsapp(request: HttpRequest) -> HttpResponse:
    """Presses in WhatsApp; and the question with which Meta's dashboard sets the address up."""
    if not conf.BEACH_WHATSAPP_SECRET:
        return HttpResponseNotFound()
    if request.method == "GET":
        return _set_up(request)
    body = signed_posts.body_of(request, BODY_BYTES)
    if not whatsapp_shapes.is_signed(request.headers, body, conf.BEACH_WHATSAPP_SECRET):
        raise Forbidden("This is not signed by Meta.")
    done = [press(one) for one in whatsapp_shapes.presses_in(read_object(body), time.time())]
    return JsonResponse({"presses": [one._asdict() for one in done]})


def _set_up(request: HttpRequest) -> HttpResponse:
    given, wanted = request.GET.get("hub.verify_token", ""), conf.BEACH_WHATSAPP_VERIFY
    challenge = request.GET.get("hub.challenge", "")
    if not wanted or not hmac.compare_digest(given.encode(), wanted.encode()) or not challenge.isalnum():
        raise Forbidden("This is not the token that BEACH_WHATSAPP_VERIFY names.")
    return HttpResponse(challenge, content_type="text/plain")
