"""What staff press or write on the page of a conversation. Everything goes through ``intake.staff``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest
from django.utils.translation import gettext as _

from envelopes.access import Principal
from envelopes.errors import BeachError, Conflict, Forbidden
from envelopes.intake import staff
from envelopes.models import Session

STATUS: dict[type[BeachError], int] = {Forbidden: 403, Conflict: 409}


@dataclass(frozen=True)
class Refused:
    """Nothing was done. ``text`` is what was written, for the one who wrote it; ``act``, where it belongs."""

    act: str
    words: str
    text: str
    status: int


Act = Callable[[Session, Principal, HttpRequest], str]
"""Does it, and returns what is said of it; "" where the page shows it."""


def _claim(session: Session, who: Principal, request: HttpRequest) -> str:
    named = request.POST.get("instead", "")
    staff.claim(
        session,
        who,
        instead_of=int(named) if named.isascii() and named.isdecimal() and len(named) < 19 else None,
    )
    return _("You have claimed this conversation.")


def _release(session: Session, who: Principal, request: HttpRequest) -> str:
    staff.release(session, who)
    return _("Nobody has claimed this conversation now.")


def _note(session: Session, who: Principal, request: HttpRequest) -> str:
    staff.add_note(session, who, _key(request), request.POST.get("text", ""))
    return ""


def _take(session: Session, who: Principal, request: HttpRequest) -> str:
    running: staff.Running = "stop" if request.POST.get("running") == "stop" else "finish"
    staff.take_over(session, who, _key(request), running=running)
    return ""


def _say(session: Session, who: Principal, request: HttpRequest) -> str:
    staff.say(session, who, _key(request), request.POST.get("text", ""))
    return ""


def _back(session: Session, who: Principal, request: HttpRequest) -> str:
    staff.hand_back(session, who, _key(request))
    return ""


ACTS: dict[str, Act] = {
    "claim": _claim,
    "release": _release,
    "note": _note,
    "take": _take,
    "say": _say,
    "back": _back,
}


GOES_ON = {
    "claim": "claim",
    "release": "claim",
    "note": "note",
    "take": "say",
    "say": "say",
    "back": "take",
}
"""The element of the page at which whoever has done that goes on: what they pressed stands there no more."""


def done(session: Session, who: Principal, request: HttpRequest) -> str | Refused:
    """What came of what the page has sent."""
    name = request.POST.get("act", "")
    act = ACTS.get(name)
    if act is None:
        return Refused(name, _("There is no such action."), "", 400)
    try:
        return act(session, who, request)
    except BeachError as error:
        status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 400)
        return Refused(name, error.message, request.POST.get("text", ""), status)


def _key(request: HttpRequest) -> str:
    """By this what is sent twice is done once: the page made it up."""
    return request.POST.get("key", "")
