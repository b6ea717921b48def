"""The search in a conversation, and links to what is in it."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_htmx.middleware import HtmxDetails

from envelopes import access
from envelopes.errors import NotFound
from envelopes.markup.context import PageContext
from envelopes.models import Session
from envelopes.registries.actors import actors
from envelopes.session_state import live_sessions
from envelopes.transports.panel.pages import asked_from
from envelopes.transports.panel.places import Place, place_of
from envelopes.transports.panel.search import Results, search
from envelopes.transports.panel.transport import PANEL


@require_safe
@never_cache
def find(request: HttpRequest, public_id: str) -> HttpResponse:
    """What ``?q`` finds in a conversation: for htmx the list alone, else a page with the form above it.

    With ``?go`` the first line of the list takes the focus.
    """
    session = _session(request, public_id)
    words = request.GET.get("q", "").replace("\0", " ").strip()
    context = {
        "session": session,
        "words": words,
        "go": "go" in request.GET,
        **_lines(session, search(session, words)),
    }
    alone = bool(HtmxDetails(request))
    return render(request, "beach/panel/found.html" if alone else "beach/panel/find.html", context)


def find_here(request: HttpRequest) -> HttpResponse:
    """The same in the conversation that the page shows which asks by htmx: one that has begun on that page."""
    return find(request, asked_from(request))


@require_safe
@never_cache
def place(request: HttpRequest, public_id: str, target: str) -> HttpResponseBase:
    """To where ``target`` stands (see ``place_of``), on a page that has it; to the end where it is nowhere."""
    session = _session(request, public_id)
    try:
        found = _place(session, target)
    except NotFound:
        return redirect("envelopes:session", public_id=public_id)
    at = f"?at={found.number}" if found.number is not None else ""
    return redirect(f"{reverse('envelopes:session', args=[public_id])}{at}#{found.anchor}")


def _place(session: Session, target: str) -> Place:
    live_sessions.check(session)
    with live_sessions.present(session, PANEL.name) as shown:
        return place_of(shown, session, target)


def _session(request: HttpRequest, public_id: str) -> Session:
    try:
        return access.get_session(access.principal_of(request), public_id)
    except NotFound as error:
        raise Http404(error.message) from error


def _lines(session: Session, results: Results) -> dict[str, object]:
    page = PageContext(
        session.public_id,
        {actor.name: actor.display_name for actor in actors},
        session.locale,
        session.timezone,
    )
    lines = [
        {
            "seq": each.seq,
            "who": "" if each.mine else page.name(each.actor),
            "day": page.short_day(each.at.isoformat()),
            "clock": page.clock(each.at.isoformat()),
            "said": each.said,
        }
        for each in results.found
    ]
    cut = " ".join(results.wanted) if results.cut else ""
    return {"lines": lines, "more": results.more, "cut": cut}
