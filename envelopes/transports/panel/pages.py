"""The pages of the chat: a new conversation, a conversation, the theme.

Nothing here speaks for an agent or changes a conversation: after the first page everything goes through the socket.
"""

from __future__ import annotations

import re
import secrets
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, Resolver404, reverse
from django.utils.encoding import escape_uri_path
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe
from django_htmx.middleware import HtmxDetails

from envelopes import access, audit
from envelopes.addresses import resolved
from envelopes.approvals import rights
from envelopes.conf import conf
from envelopes.errors import Conflict, NotFound
from envelopes.markup.context import current_locale
from envelopes.markup.strings import strings
from envelopes.models import Session
from envelopes.protocol.zones import known_zone
from envelopes.registries.actors import Actor, actors, default_actor
from envelopes.registries.doors import CHAT
from envelopes.registries.part_types import part_types
from envelopes.session_state import live_sessions
from envelopes.transports import prefixes
from envelopes.transports.origin import OriginGate, host_of
from envelopes.transports.panel import earlier
from envelopes.transports.panel.frames import MAX_FILES
from envelopes.transports.panel.presenter.panel import thread_of
from envelopes.transports.panel.presenter.staff import to_whom
from envelopes.transports.panel.sidebar import sidebar
from envelopes.transports.panel.transport import PANEL, SOCKETS
from envelopes.transports.signing_in import login_url, to_login

THEME_COOKIE = "beach_theme"
THEMES = ("light", "dark", "auto")
_KEY = re.compile(r"[A-Za-z0-9_-]{16,64}")
_YEAR = 365 * 24 * 3600


@require_safe
@never_cache
def index(request: HttpRequest) -> HttpResponseBase:
    """The newest conversation; an empty one with ``?new`` and for newcomers. Nothing is stored for who only looks."""
    who = access.principal_of(request)
    if not who.is_known and not conf.BEACH_ANONYMOUS:
        return to_login(request.get_full_path())
    newest = None if "new" in request.GET else access.owned_sessions(who).first()
    if newest is not None:
        return redirect("envelopes:session", public_id=newest.public_id)
    return _page(request, who, None, default_actor())


@require_safe
@never_cache
def session_page(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """A conversation as it stands; the socket goes on from there.

    Its last turns; with ``?before`` the page above that block as well, with ``?at`` what is around that one.
    """
    who = access.principal_of(request)
    if not who.is_known and not conf.BEACH_ANONYMOUS:
        return to_login(request.get_full_path())
    try:
        session = access.get_session(who, public_id)
    except NotFound as error:
        raise Http404(error.message) from error
    return _page(request, who, session, actors.get(session.actor) or default_actor())


@require_safe
@never_cache
def session_list(request: HttpRequest) -> HttpResponse:
    """The list in the sidebar, as it stands now: the page asks for it when it comes back into view."""
    who = access.principal_of(request)
    return render(
        request,
        "beach/panel/sessions.html",
        {"groups": sidebar(who, current=asked_from(request))},
    )


@require_POST
@never_cache
def new_session(request: HttpRequest) -> HttpResponseBase:
    """A new conversation for whoever asks. The page asks for JSON; a form without script is sent on.

    ``key``: 16 to 64 characters that the page made up at random; asking again with it gives the same conversation
    (D62). ``person``: who the page was made for, where somebody had signed in (as ``reach`` says it). As JSON: 201 or
    200 ``{id, url}``, 400 for a key that is none, 401 where ``person`` has to sign in first, 409 for a key of another
    conversation.
    """
    who, cookie = access.principal_of(request), ""
    as_json = "application/json" in request.headers.get("Accept", "")
    key = request.POST.get("key", "")
    if key and not _KEY.fullmatch(key):
        return JsonResponse(
            {"code": "VALIDATION_FAILED", "message": "A key has 16 to 64 characters."}, status=400
        )
    # A page that somebody has loaded must not begin a conversation as somebody else, or as a stranger.
    changed = request.POST.get("person", "") not in ("", _person_key(who))
    if changed or not (who.is_known or conf.BEACH_ANONYMOUS):
        if as_json:
            return JsonResponse({"code": "forbidden", "message": "Sign in first."}, status=401)
        return to_login(reverse("envelopes:index"))
    if not who.is_known:
        who, cookie = access.new_anonymous_owner(key)
    try:
        session, made = access.begin_session(
            who,
            default_actor().name,
            key or secrets.token_urlsafe(32),
            locale=current_locale(),
            timezone=_timezone(request.POST.get("timezone", "")),
        )
    except Conflict as error:
        return JsonResponse(error.as_dict(), status=409)
    url = _address_of(session)
    response: HttpResponse
    if as_json:
        response = JsonResponse({"id": session.public_id, "url": url}, status=201 if made else 200)
    else:
        response = redirect(url)
    if cookie:
        access.set_owner_cookie(response, cookie, secure=request.is_secure())
    return response


# It changes nothing and tells a page only what its browser could find out; without a token it can say which one counts.
@csrf_exempt
@require_POST
@never_cache
def reach(request: HttpRequest) -> HttpResponse:
    """Why a page has no connection, as far as the server can tell: browsers do not say why a handshake failed.

    JSON ``{origin, known, person, csrf}``: whether sockets from the ``Origin`` of this request are let in; whether this
    browser is known, and as which user (empty for an anonymous one); the token that its forms need now, empty for other
    sites.
    """
    who = access.principal_of(request)
    ours = OriginGate.allows(request.headers.get("Origin", ""), host_of(request.headers))
    # Another site's request comes without our cookies. A token made for it would replace the one that this person's
    # pages hold, and their forms would be refused.
    token = get_token(request) if ours or settings.CSRF_COOKIE_NAME in request.COOKIES else ""
    return JsonResponse({"origin": ours, "known": who.is_known, "person": _person_key(who), "csrf": token})


@require_POST
def set_theme(request: HttpRequest) -> HttpResponseBase:
    """Remember light, dark or the system's choice; the page is then served in it, so that nothing flashes."""
    theme = request.POST.get("theme", "")
    if theme not in THEMES:
        return HttpResponse(status=400)
    response: HttpResponse
    if HtmxDetails(request):
        response = render(request, "beach/panel/theme_set.html", {"theme": theme})
        response["HX-Trigger"] = f'{{"theme": "{theme}"}}'
    else:
        response = redirect(_way_back(request))
    if theme == "auto":
        response.delete_cookie(THEME_COOKIE, samesite="Lax")
    else:
        response.set_cookie(
            THEME_COOKIE, theme, max_age=_YEAR, httponly=True, samesite="Lax", secure=request.is_secure()
        )
    return response


@dataclass(frozen=True)
class PageView:
    """What the first page load needs. ``seq`` is where the socket goes on from; ``staff`` is who answers in place of
    the agent, "" where nobody does."""

    seq: int
    html: str
    busy: bool
    empty: bool
    staff: str


def open_page(session: Session, *, before: int = 0, at: int = 0) -> PageView:
    """``before``, ``at``: numbers of blocks that have left the window, of which it is to have more; 0 for none."""

    def draw() -> PageView:
        live_sessions.check(session)
        # A page has all of it: what it hears of next is what is new.
        with live_sessions.present(session, PANEL.name, since=session.last_seq) as shown:
            more = earlier.more(shown, before=before, at=at)
            html = thread_of(shown).html(shown.state.surfaces, more)
            staff = thread_of(shown).working.taken
            return PageView(shown.sent, html, shown.busy, empty=shown.state.seq == 0, staff=staff)

    return earlier.with_rebuilt(session, draw)


def _page(request: HttpRequest, who: access.Principal, session: Session | None, actor: Actor) -> HttpResponse:
    numbers = {name: _number(request.GET.get(name, "")) for name in ("before", "at")}
    page = open_page(session, **numbers) if session is not None else None
    if session is not None:
        with audit.beside_a_page():
            audit.shown_in(session, who, CHAT.name)
    theme = request.COOKIES.get(THEME_COOKIE, "auto")
    decides_as = ["owner"] if session is None else rights.kinds_of(who, session)
    groups = sidebar(who, current=session.public_id if session else "")
    context: dict[str, Any] = {
        "actor": actor,
        "label": actor.provider().label,
        "session": session,
        "socket": prefixes.address(SOCKETS),
        "may_write": session is None or access.owns(who, session),
        "decides_as": decides_as,
        "now": round(time.time() * 1000),
        # Every piece of it was escaped or sanitised where it was made (envelopes/markup/html.py).
        "thread": mark_safe(page.html) if page else "",  # noqa: S308
        "empty": page.empty if page else True,
        "seq": page.seq if page else 0,
        "busy": bool(page and page.busy),
        "to": to_whom((page.staff if page else "") or actor.display_name),
        "groups": groups,
        "asks": any(entry.current and entry.waiting for group in groups for entry in group.entries),
        "person": who.name,
        "person_key": _person_key(who),
        "login": login_url(_address_of(session)),
        "sign_in": login_url(escape_uri_path(request.path)),
        "limit": conf.BEACH_MESSAGE_CHARACTERS,
        "frame_limit": conf.BEACH_FRAME_BYTES,
        "keep": _keeping(),
        "file_limit": conf.BEACH_ARTIFACT_BYTES,
        "file_most": MAX_FILES,
        "strings": strings(actor.display_name),
        # Whoever may not decide is told of nothing that waits.
        "notices": conf.BEACH_NOTICES if decides_as else "off",
        "theme": theme if theme in THEMES else "auto",
        "themes": THEMES,
        "modules": [kind.module for kind in part_types if kind.module],
    }
    return render(request, "beach/panel/page.html", context)


def _keeping() -> str:
    """Where files are kept in the conversation "-"; "" where no transport does that."""
    try:
        return reverse("envelopes:api:keep", args=["-"])
    except NoReverseMatch:
        return ""


def _number(given: str) -> int:
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 16 else 0


def _address_of(session: Session | None) -> str:
    """The page of a conversation, or of one that is not begun yet, for whoever comes back to it."""
    if session is None:
        return f"{reverse('envelopes:index')}?new"
    return reverse("envelopes:session", args=[session.public_id])


def _person_key(who: access.Principal) -> str:
    """By this the page keeps apart what different people write in one browser."""
    return who.key if who.user is not None else ""


def asked_from(request: HttpRequest) -> str:
    """The public id of the conversation that htmx asks from; empty for another page."""
    htmx = HtmxDetails(request)
    try:
        path = htmx.current_url_abs_path if htmx else None
        return str(resolved(path or "").kwargs.get("public_id", ""))
    except (Resolver404, ValueError):
        # A header is whatever somebody sends, not always a URL.
        return ""


def _timezone(name: str) -> str:
    return name if len(name) <= 64 and known_zone(name) else settings.TIME_ZONE


def _way_back(request: HttpRequest) -> str:
    """The page that the form stood on, if it is one of ours."""
    back = request.headers.get("Referer", "")
    if url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure()):
        path = urlsplit(back).path
        # Asked again: a path of this site may begin with two slashes, and then names another site by itself.
        if path.startswith("/") and url_has_allowed_host_and_scheme(path, None):
            return path
    return reverse("envelopes:index")
